// Package window reports whether a key was seen recently, for example in the last 24 hours. A filter cannot
// forget a key, so a [Window] consists of several generations. It adds keys to the newest generation and
// queries all of them. [Window.Rotate] forgets the oldest.
//
//	seen, err := window.New(window.Options{Generations: 25, Keys: 2_000_000, Rate: 0.01}) // 24 hours, rotated every hour
//	if err != nil {
//		return err
//	}
//	go seen.Run(ctx, time.Hour)
//	maybe := seen.TestAndAddString(url) // whether url may have been added in the last 24 hours
//
// After the call that adds a key has returned, queries find the key. They find it at least until
// Generations-1 rotations have begun since that call began. So with G generations, a key is kept for at
// least G-1 intervals and at most G intervals. For 24 hours with hourly rotation, use 25 generations.
// TestAndAdd adds the key to the newest generation even if an older generation has it, so the key is kept
// as long as a new key. MayContain adds nothing.
//
// If a generation gets more keys than planned, the window adds another filter to it, so that the
// false-positive rate holds; see [Options]. [Open] returns a window that is kept in a folder. Such a window
// knows the age of its generations even after a restart. For a guide, see docs/window.md in the repository.
//
// # Concurrency
//
// Any number of goroutines may add, query, rotate, save and load concurrently. Rotate, Load, Resize and
// Save run one at a time. Queries and WriteTo do not wait for other calls. An addition may wait in two
// cases. If the generations change during the addition, the window adds the keys again, and may then wait
// for microseconds. If the newest generation needs another filter, the addition may allocate that filter or
// wait for another goroutine that does so.
package window

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Window is a set of keys that forgets old keys, one generation at a time. [New] returns a window in
// memory, [Open] returns a window that is kept in a folder, and [Window.ReadFrom] reads a window from a
// file. The zero Window has no keys, and its methods that add keys panic.
type Window struct {
	unstored

	state atomic.Pointer[state]
	mu    sync.RWMutex // held to change state, for a short time, and for reading by those that want it to stay
	order sync.Mutex   // held by what goes one after the other: Rotate, Load, Resize and Save; locked before mu
	every atomic.Int64 // the interval of Run in nanoseconds, 0 before the first call

	folder *folder // of Open, until Close; order guards it

	spare  atomic.Pointer[set] // an empty set for the next that begins
	waited atomic.Bool         // a goroutine makes the spare set, or will
	making sync.Mutex          // held to make the spare set

	writing atomic.Int64 // calls of WriteTo: while there are some, no forgotten set is cleared, since they may write it
}

// Goroutines add to the newest set, and Rotate replaces it without waiting for them. So a goroutine that is about to add may find
// itself with a set that is the newest no more, even one that is forgotten before it has added to it. It must not return then.
// After each addition it looks whether the state is still the one that it began with: if so, its set was the newest when all bits
// of the key were set, and only later rotations make the key older. If not, it adds the key again, while no Rotate can run
// (settle).
//
// Older sets are queried as they are, not as copies: what goroutines still add to them is found.
//
// A forgotten set is cleared and used again. A query that began before may miss what was forgotten, or find what is added now:
// both are right. A goroutine that has waited inside an addition for all that time may still set bits of its key in it. The key
// is added again, so that it is there anyway, and may be kept for an interval more.

// New returns an empty window. The rate in the options applies to a query of all generations, so the
// filter of each generation has a lower rate.
//
// The error is [bloom.ErrFormat] if the format is unknown. It is [bloom.ErrCapacity] if the number of
// generations or the number of keys is out of range, or if MaxBytes is less than [Options.Bytes]. It is
// [bloom.ErrRate] if Rate is not between 0 and 1, or if the format does not support the rate that each
// filter needs: about Rate divided by twice the number of generations.
func New(o Options) (*Window, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	first, err := p.newSet()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	generations := make([]*generation, o.Generations)
	for i := range generations {
		generations[i] = new(generation)
	}
	generations[0] = &generation{began: now, sets: []*set{first}}
	w := new(Window)
	w.state.Store(newState(o, p, generations, first))
	return w, nil
}

// Options returns the options that were passed to New or Open, or that ReadFrom read. After a call of
// Resize, Options.Keys is the number that was passed to Resize.
func (w *Window) Options() Options {
	if s := w.state.Load(); s != nil {
		return s.options
	}
	return Options{}
}

// Began returns the time at which the newest generation began. The time has a monotonic clock reading.
func (w *Window) Began() time.Time {
	if s := w.state.Load(); s != nil {
		return s.generations[0].began
	}
	return time.Time{}
}

// Resize changes [Options].Keys, the planned number of keys of a generation. Filters that are created after
// the call have the new size, including additional filters of a full generation. Existing filters keep
// their size until the window forgets them. If MaxBytes is 0, the limit becomes 4 times the new
// [Options.Bytes]. A rotation creates a filter even if there is no room for it in MaxBytes. So if a call
// raises Keys, the filters may exceed MaxBytes until the window has forgotten the old filters. Resize
// returns the same errors as [New].
func (w *Window) Resize(keys int) error {
	w.order.Lock()
	defer w.order.Unlock()
	s := w.state.Load()
	if s == nil {
		return errors.New("window: Resize was called on the zero Window")
	}
	o := s.options
	o.Keys = keys
	p, err := o.plan()
	if err != nil {
		return err
	}
	w.change(func(s *state) *state { return newState(o, p, s.generations, s.newest) })
	w.spare.Store(nil)
	return nil
}

// change replaces the state.
func (w *Window) change(to func(s *state) *state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Store(to(w.state.Load()))
}

// unstored is embedded in Window. Without it, JSON would make an empty object of one, also of a Window that is a field of a value.
type unstored struct{}

// MarshalText returns an error, because a Window has no text form. Use WriteTo to store a window.
func (unstored) MarshalText() ([]byte, error) {
	return nil, errors.New("window: a Window has no text form")
}
