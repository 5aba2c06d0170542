package bloomsst

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/lanebloom/bloom"
)

// A name in a file does not prove what the filter has: engines and programs gave other filters, hashes, prefixes and orders the names
// that LevelDB's, RocksDB's and Pebble's have. So a table's own keys are looked up in its filter before a no is believed: those of
// the first data block, of the last one and, if these are not enough, of one in the middle.

// proof is what the keys of a table say about it.
type proof struct {
	keys    int                   // different keys that the filter was asked for, and has
	denied  error                 // why the filter is not asked, or nil
	unread  error                 // what could not be read, or nil
	tails   tails                 // the hash of the filter
	ordered bool                  // compare is the order of the table
	compare func(a, b []byte) int // of user keys
	chance  float64               // that a filter of other keys would have the keys

	filter *bloom.Filter // that alone answers for whole keys, or nil

	// The range of the user keys, if the order is proved; nil if a bound is not known.
	first, last []byte
}

// outside reports whether a key is outside of the range.
func (p *proof) outside(key []byte) bool {
	if p.first != nil && p.compare(key, p.first) < 0 {
		// RocksDB lets a comparator with timestamps have the name of one without: the first key may have one.
		return len(key)+timestampSize != len(p.first) || !bytes.HasPrefix(p.first, key)
	}
	return p.last != nil && p.compare(key, p.last) > 0
}

// doubtful is a chance that is too high: a filter of other keys may have had all keys that were looked up.
const doubtful = 1e-6

// Proved returns the number of the table's own keys that were looked up in the filter. If all of them are
// hits, the error is nil. Otherwise the error names a key that is not a hit, or a read that failed. A filter
// that lacks a key of its table is not queried ([Table.Ignored]). If a data block could not be read, the
// filter is queried nevertheless.
//
// Proved reads the index block and two data blocks, or three if they have few keys or if the filter may have
// prefixes of Pebble's Split. An index in two levels needs one more read for each, and a dictionary of
// compressed blocks one more. The first call of MayContain, MayContainBatch or Range does the same.
func (t *Table) Proved() (keys int, err error) {
	if t.filters == nil {
		return 0, nil
	}
	p := t.proved()
	if p.denied != nil {
		return p.keys, p.denied
	}
	return p.keys, p.unread
}

// proved returns the proof. It is made once, unless a read fails.
func (t *Table) proved() *proof {
	if p := t.proof.Load(); p != nil {
		return p
	}
	t.proving.Lock()
	defer t.proving.Unlock()
	p := t.proof.Load()
	if p == nil {
		if p = t.prove(); p.unread == nil || isOfBytes(p.unread) {
			t.believe(p)
		}
	}
	return p
}

// believe keeps a proof.
func (t *Table) believe(p *proof) {
	if f, isWhole := t.filters.(whole); isWhole && t.split == nil && p.tails == ownTails && p.denied == nil {
		p.filter = f.Filter
	}
	t.proof.Store(p)
}

// prove reads keys, and looks them up.
func (t *Table) prove() *proof {
	o := t.order()
	x, err := t.places()
	if err != nil || x.len() == 0 {
		p := t.newProof(o)
		p.unread, p.ordered = err, o.trust != foreign
		return p
	}
	s := sampler{t: t, index: x}
	s.read(firstPlace)
	s.read(lastPlace)
	p := t.judge(o, x, s.samples())
	if p.denied == nil && (p.chance > doubtful || !p.ordered || t.mayHideSplit() || t.file.inTail(t.file.footer.index)) {
		s.read(middlePlace)
		p = t.judge(o, x, s.samples())
	}
	if p.unread == nil {
		p.unread = s.err
	}
	if first := s.at[firstPlace]; p.ordered && first != nil && len(first.keys) > 0 {
		p.first = o.user(first.keys[0].key)
	}
	if p.ordered && s.at[lastPlace] != nil || p.first != nil && x.len() == 1 {
		p.last = bytes.Clone(x.key(x.len() - 1))
	}
	return p
}

// sampler reads keys of data blocks.
type sampler struct {
	t     *Table
	index *index
	at    [lastPlace + 1]*sample
	err   error // the first of a block that could not be read
}

// sample has keys of a data block.
type sample struct {
	place
	keys []storedKey
}

// read reads a block, unless it was read.
func (s *sampler) read(which int) {
	p, err := s.t.place(s.index, which)
	for _, other := range s.at {
		if other != nil && other.handle == p.handle {
			return
		}
	}
	var keys []storedKey
	if err == nil {
		keys, err = s.t.dataKeys(p.handle)
	}
	if err == nil {
		s.at[which] = &sample{p, keys}
	} else if s.err == nil {
		s.err = err
	}
}

// samples returns what was read, in the order of the table.
func (s *sampler) samples() (read []sample) {
	for _, one := range s.at {
		if one != nil {
			read = append(read, *one)
		}
	}
	return read
}

// newProof returns what is known without keys.
func (t *Table) newProof(o order) *proof {
	p := &proof{compare: o.compare, tails: ownTails, chance: 1}
	if t.mayHaveOtherTails() {
		p.tails = eitherTails
	}
	return p
}

// mostUnordered is the largest number of filters that are all tested for a key if the order is not proved: 500 filters of 1 % have
// 99 of 100 absent keys.
const mostUnordered = 16

// judge decides what keys prove.
func (t *Table) judge(o order, x *index, read []sample) *proof {
	p := t.newProof(o)
	p.ordered = o.holds(x, read) && (t.compare != nil || !areSplit(read))
	if t.filters == nil {
		return p
	}
	if n := t.filters.len(); n > mostUnordered && !p.ordered {
		p.denied = fmt.Errorf("%w: the table has %d filters, and its keys are not in a known order", ErrComparator, n)
		return p
	}
	w := t.newWitness(p, o)
	for _, s := range read {
		for _, key := range s.keys {
			if w.hear(s.handle, key); p.denied != nil {
				break
			}
		}
	}
	w.end()
	if p.denied != nil {
		p.ordered = false // the name of the comparator may promise what it does not keep, too
	}
	return p
}

// areSplit reports whether a Split of Pebble has cut some of the keys: then its Comparer is not the one of the name, and may have another order.
func areSplit(read []sample) bool {
	return slices.ContainsFunc(read, func(s sample) bool {
		return slices.ContainsFunc(s.keys, storedKey.isSplit)
	})
}
