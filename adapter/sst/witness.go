package bloomsst

import (
	"fmt"
	"slices"

	"github.com/lanebloom/bloom"
)

// witness looks keys of a table up in its filters.
type witness struct {
	t        *Table
	proof    *proof
	order    order
	readings []reading       // those that no key contradicts
	rates    map[int]float64 // of the filters that were tested
	last     []byte          // what was looked up last
	against  []byte          // a key that speaks against a reading
	entries  int             // keys that came, and
	seen     []bloom.Hash    // of the keys that were looked up, if there may be a hidden Split
	distinct int             // how many of them differ from the one before, in the form in which they are in the filter
}

// reading is a way to read a filter: how many bytes shorter its keys are than the stored ones, and the kind
// of their hashes.
type reading struct {
	cut    int
	tails  tails
	chance float64 // that a filter of other keys would have the keys that were looked up
	last   []byte  // what was looked up last
}

// hears counts a key that the filter has, if it is not the one before.
func (r *reading) hears(form []byte, rate float64) {
	if r.last == nil || string(form) != string(r.last) {
		r.last, r.chance = append([]byte{}, form...), r.chance*rate
	}
}

func (t *Table) newWitness(p *proof, o order) *witness {
	w := &witness{t: t, proof: p, order: o, rates: map[int]float64{}}
	for _, kind := range p.tails.kinds() {
		w.readings = append(w.readings, reading{cut: o.timestamp, tails: kind, chance: 1})
		if o.trust == foreign && t.compare == nil {
			w.readings = append(w.readings, reading{cut: timestampSize, tails: kind, chance: 1})
		}
	}
	return w
}

// hear looks up a key of a data block. If no reading of the filter has it, the filter is denied.
func (w *witness) hear(block handle, key storedKey) {
	t := w.t
	if key.isSplit() && t.split == nil {
		w.proof.denied = fmt.Errorf("%w: the database splits its keys, for example %q after %d bytes", ErrPrefix, key.key, key.prefix)
		return
	}
	w.entries++
	var alive []reading
	for _, r := range w.readings {
		form, filter, has := w.ask(block, key.key, r)
		if !has {
			w.against = key.key
			continue
		}
		if filter != nothing {
			r.hears(form, w.rate(filter))
		}
		if alive = append(alive, r); len(alive) == 1 && filter != nothing {
			w.count(form, filter)
		}
	}
	if len(alive) == 0 {
		w.proof.denied = t.denial(key.key)
		return
	}
	w.readings = alive
}

// The filters that were tested, if they are not one with a number.
const (
	nothing = -1 // none
	all     = -2
)

// ask looks a key up. It returns what is in the filter of the key, and the number of that.
func (w *witness) ask(block handle, stored []byte, r reading) (form []byte, filter int, has bool) {
	t := w.t
	if len(stored) < r.cut {
		return nil, nothing, false
	}
	user := stored[:len(stored)-r.cut]
	form, ok := t.inFilter(user)
	if !ok {
		return nil, nothing, true
	}
	if filter = w.filterOf(block, user); filter == nothing || filter >= t.filters.len() {
		return form, nothing, true
	}
	var err error
	if filter == all {
		has, err = t.askAll(r.tails, form)
	} else {
		has, err = t.ask(r.tails, filter, form)
	}
	if err != nil {
		if w.proof.unread == nil {
			w.proof.unread = err
		}
		return form, nothing, true
	}
	return form, filter, has
}

// filterOf returns the number of the filter that has a key of a data block.
func (w *witness) filterOf(block handle, user []byte) int {
	if b, ok := w.t.filters.(*blocks); ok {
		return int(min(block.offset>>b.shift, uint64(b.len())))
	}
	if !w.proof.ordered {
		return all
	}
	i, err := w.t.filters.find(w.t, user, w.order.compare)
	if err != nil {
		return nothing
	}
	return i
}

// count counts a key that a filter has, if it is not the one before.
func (w *witness) count(form []byte, filter int) {
	if w.distinct > 0 && string(form) == string(w.last) {
		return
	}
	w.last = append(w.last[:0], form...)
	w.distinct++
	if w.t.mayHideSplit() {
		w.seen = append(w.seen, w.t.format.Hash(form))
	}
	w.proof.keys++
	w.proof.chance *= w.rate(filter)
}

// rate returns the false-positive rate of a filter, and 1 if it is not known.
func (w *witness) rate(filter int) float64 {
	rate, known := w.rates[filter]
	if known {
		return rate
	}
	from, to := filter, filter+1
	if filter == all {
		from, to = 0, w.t.filters.len()
	}
	for i := from; i < to; i++ {
		if p, err := w.t.filters.part(w.t, i); err != nil {
			rate = 1
		} else {
			rate += rateOf(p)
		}
	}
	w.rates[filter] = min(rate, 1)
	return w.rates[filter]
}

// end keeps the hashes that no key speaks against, and denies a filter that has too few keys.
func (w *witness) end() {
	var kinds []tails
	for _, r := range w.readings {
		if !slices.Contains(kinds, r.tails) {
			kinds = append(kinds, r.tails)
		}
	}
	w.proof.tails = bothOf(kinds)
	switch first := w.readings[0]; {
	case w.proof.denied != nil:
	case w.against != nil && first.cut != w.order.timestamp && first.chance > doubtful: // keys without a timestamp are a guess
		w.proof.denied = w.t.denial(w.against)
	default:
		w.proof.denied = w.t.hiddenSplit(w.entries, w.distinct, w.seen)
	}
}

// denial returns the error of a filter that denies a key of its table.
func (t *Table) denial(key []byte) error {
	const most = 64
	text := key[:min(len(key), most)]
	switch _, several := t.filters.(*partitions); {
	case t.hasSplit() || t.properties.prefixesOnly:
		return fmt.Errorf("%w: it gives a no for the table's own key %q, so it contains the prefixes that a different Split returns", ErrPrefix, text)
	case several && t.compare != nil:
		return fmt.Errorf("%w: the option Comparator leads to a filter that gives a no for the table's own key %q", ErrComparator, text)
	}
	return fmt.Errorf("%w: the filter gives a no for the table's own key %q, so the filter does not match its policy name %s", ErrPolicy, text, t.policy)
}
