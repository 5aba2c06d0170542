package window

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lanebloom/bloom"
)

// WriteTo writes the window as a file. Goroutines may add, query and rotate during the call. The file has
// every key that a query would find when WriteTo begins, and the times at which the generations began.
// WriteTo needs memory only for a small buffer. To replace an older file atomically, write a new file, sync
// it and rename it. If the window was returned by Open, use Save instead.
func (w *Window) WriteTo(to io.Writer) (int64, error) {
	w.writing.Add(1) // before it reads the state: a rotation that comes later sees it
	defer w.writing.Add(-1)
	s := w.state.Load()
	if s == nil {
		return 0, errors.New("window: WriteTo was called on the zero Window")
	}
	out := newSink(to)
	out.write(s.header(time.Duration(w.every.Load())).bytes(time.Now()))
	out.flush()
	for _, g := range s.generations {
		if len(g.sets) > 0 && out.err == nil {
			out.generation(g, s.options.Format)
		}
	}
	return out.n, out.err
}

// ReadFrom reads the next window file from r into w, with the options of the file. It verifies the
// checksums, and reads no byte after the end of that file. It allocates memory for the bytes that r
// returns, not for the sizes that headers claim. Because headers may be wrong, ReadFrom also refuses a
// file if Rotate would create filters that are more than four times as large as all filters in the file,
// or less than about a quarter as large. No other goroutine may use w during the call. To read a file
// into a window in use, or with different options, use Load.
//
// ReadFrom keeps the times at which the generations began. If Run rotated the saved window, ReadFrom
// also counts the intervals that have passed since the newest generation began, and forgets
// generations that have become too old.
//
// The error is [io.EOF] if r is at its end. It is [bloom.ErrEncoding] if the file is truncated or damaged,
// and also [io.ErrUnexpectedEOF] if r ends inside the file. It is [bloom.ErrFormat] if this library does
// not know the format. If there is an error, w does not change.
func (w *Window) ReadFrom(r io.Reader) (int64, error) {
	in := newSource(r, -1)
	f, err := in.window(nil)
	if err != nil {
		return in.n, err
	}
	s, err := f.state(f.options, f.plan)
	if err != nil {
		return in.n, err
	}
	w.state.Store(s)
	w.every.Store(int64(f.every))
	w.spare.Store(nil)
	return in.n, nil
}

// Loaded reports what Load or Open kept from a file or a folder.
type Loaded struct {
	Saved     Options   // options of the saved window
	Began     time.Time // when the newest generation began
	Kept      int       // number of generations that the window kept
	Forgotten int       // number of generations that are too old, or that this window has no room for
	Reshaped  int       // number of filters of a different size; the window queries them until it forgets their generation
	Size      int64     // number of bytes read
}

// Load reads the next window file from r and adds its keys to w. Goroutines may use w during the call. The
// options of w do not change.
//
// Keys keep their age: Load adds the keys of each generation of the file to the generation of w that was
// the newest when the file's generation began. So if both windows have the same interval and the same
// number of generations, w forgets a key no later than the window that wrote the file. If the two windows
// rotate at different times, w may forget a key up to one interval earlier than the other window. For this
// reason, replicas that load each other's files need one more generation. If w has only its newest
// generation, as after [New], Load also gives the generations of w the start times from the file.
//
// The options of the file may differ from the options of w:
//
//   - If the number of keys or the rate differs, the filters of the file have a different size. The
//     window keeps and queries them until it forgets their generation. Until then, the rates and the
//     memory of both kinds of filters add up.
//   - If the number of generations differs, Load forgets the generations of the file that are too old
//     for w.
//
// Load merges a filter of the file into a filter of the same size that has room for the keys of both. So
// loading the same file again changes nothing. If MaxBytes is reached, Load merges the filter into the
// least full filter of the same size, and [Stats].Over becomes true. If the generation has no filter of
// this size, Load adds the filter even if there is no room for it in MaxBytes.
//
// Load returns the same errors as ReadFrom. It also returns [bloom.ErrShape] if the file has a different
// format, because the hashes then differ. If there is an error, the window does not change.
func (w *Window) Load(r io.Reader) (Loaded, error) {
	p := w.mustHave().plan
	in := newSource(r, -1)
	f, err := in.window(p)
	loaded := Loaded{Saved: f.options, Size: in.n}
	if err != nil {
		return loaded, err
	}
	w.order.Lock()
	defer w.order.Unlock()
	s := w.state.Load()
	if f.options.Format != s.options.Format {
		return loaded, fmt.Errorf("window: %w: the file has the format %v, but the window has the format %v", bloom.ErrShape, f.options.Format, s.options.Format)
	}
	m := newMerge(s, f)
	m.place()
	m.add()
	w.change(m.changed)
	loaded.Began = f.generations[0].began
	loaded.Forgotten = f.missed + m.forgotten
	loaded.Kept = len(f.entries) - min(loaded.Forgotten, len(f.entries))
	loaded.Reshaped = m.reshaped
	return loaded, nil
}

// merge is how the filters of a file come to a window. No rotation can be meanwhile, but the newest generation may grow.
type merge struct {
	s         *state
	f         *saved
	now       time.Time
	began     []time.Time // of the window's generations, as they will be
	more      [][]*set    // which the generations get
	moved     []bool      // whether something of a generation changes
	over      []bool      // whether a generation gets more keys than there is room for
	to        []int       // where the generations of the file go; -1 if there is no place
	forgotten int
	reshaped  int
}

func newMerge(s *state, f *saved) *merge {
	n := len(s.generations)
	m := &merge{s: s, f: f, now: time.Now(), began: make([]time.Time, n), more: make([][]*set, n), moved: make([]bool, n), over: make([]bool, n)}
	for i, g := range s.generations {
		m.began[i] = g.began
	}
	return m
}

// isNew reports whether the window has only its newest generation.
func (m *merge) isNew() bool {
	for _, g := range m.s.generations[1:] {
		if len(g.sets) > 0 || !g.began.IsZero() {
			return false
		}
	}
	return true
}

// place finds the generation for each one of the file. A new window goes on with those of the file.
func (m *merge) place() {
	first, isNew := m.f.generations[0].began, m.isNew()
	if isNew && (first.Before(m.began[0]) || m.s.newest.Stats().SetBits == 0) {
		m.began[0] = first
	}
	last := -1
	for i, g := range m.f.generations {
		to := i
		if !isNew {
			to = m.number(g.began, last)
		}
		if to >= len(m.began) {
			to = -1
			m.forgotten++
		} else {
			last = to
			if m.began[to].IsZero() {
				m.began[to] = g.began
			}
		}
		m.to = append(m.to, to)
	}
}

// number returns the number of the generation that was the newest at a time, or the one after the last if that is not known.
func (m *merge) number(began time.Time, last int) int {
	if began.IsZero() {
		return last + 1
	}
	for i, b := range m.began {
		if b.IsZero() && i > last || !b.IsZero() && int64(stamp(b, m.now)) <= int64(stamp(began, m.now)) {
			return i
		}
	}
	return len(m.began)
}

// add adds all filters of the file.
func (m *merge) add() {
	for i, g := range m.f.generations {
		if m.to[i] < 0 {
			continue
		}
		m.over[m.to[i]] = m.over[m.to[i]] || g.over
		for _, one := range g.sets {
			if one.plan != m.s.plan {
				m.reshaped++
			}
			m.addTo(m.to[i], one)
		}
	}
}

// addTo adds a filter to a generation: to a set that has room for both, or as another set, or to the least full one.
func (m *merge) addTo(i int, one *set) {
	other := one.Snapshot()
	limit := max(m.s.plan.rate, m.f.plan.rate)
	var least *set
	leastRate := 2.0
	for _, s := range slices.Concat(m.s.generations[i].sets, m.more[i]) {
		if s.shape != one.shape {
			continue
		}
		both := s.Snapshot()
		before := both.Stats()
		if both.Merge(other) != nil {
			continue // the same shape in another encoding
		}
		after := both.Stats()
		if after.SetBits == before.SetBits {
			return // it has all keys
		}
		if after.FalsePositiveRate <= limit {
			m.moved[i] = true
			_ = s.Merge(other)
			return
		}
		if after.FalsePositiveRate < leastRate {
			least, leastRate = s, after.FalsePositiveRate
		}
	}
	if least != nil && m.bytes()+int64(len(one.bits)) > m.s.options.most(m.s.plan) {
		_ = least.Merge(other)
		m.moved[i], m.over[i] = true, true
		return
	}
	m.moved[i] = true
	m.more[i] = append(m.more[i], one)
}

// bytes returns the bytes of all filters, as they will be.
func (m *merge) bytes() (n int64) {
	for i, g := range m.s.generations {
		has := g.bytes()
		for _, s := range m.more[i] {
			has += int64(len(s.bits))
		}
		n += max(has, m.s.plan.bytes())
	}
	return n
}

// changed returns the state with what the generations get.
func (m *merge) changed(s *state) *state {
	generations := slices.Clone(s.generations)
	for i, g := range generations {
		over := g.over || m.over[i]
		if m.moved[i] || over != g.over || !m.began[i].Equal(g.began) {
			generations[i] = &generation{began: m.began[i], sets: slices.Concat(g.sets, m.more[i]), over: over}
		}
	}
	return newState(s.options, s.plan, generations, s.newest)
}
