// Package window answers whether a key was seen recently, for example in the last 24 hours. A filter cannot
// forget a key, so a [Window] has several sets, its generations. Keys are added to the newest generation, all
// generations are queried, and [Window.Rotate] forgets the oldest.
//
//	seen, err := window.New(window.Options{Generations: 25, Keys: 2_000_000, Rate: 0.01}) // 24 hours, rotated every hour
//	if err != nil {
//		return err
//	}
//	go seen.Run(ctx, time.Hour)
//	maybe := seen.TestAndAddString(url) // whether it may have been added in the last 24 hours
//
// When the call that adds a key has returned, queries find the key. They find it until Generations-1
// rotations have begun since that call began. So with G generations, a key is kept for at least G-1 intervals
// and at most G: for 24 hours with hourly rotation, use 25 generations. TestAndAdd adds the key to the newest
// generation even if an older one has it, so the time of the key begins anew. MayContain adds nothing.
//
// A generation that gets more keys than planned gets another set, so that the rate holds ([Options]). [Open]
// returns a window that is kept in a folder. After a restart, the window knows how old its generations are.
// docs/window.md of the repository is a guide.
//
// # Concurrency
//
// Any number of goroutines may add, query, rotate, save and load at the same time. Queries, additions and
// WriteTo do not wait. Rotate, Load, Resize and Save run one after the other. If the generations change
// during an addition, the addition adds its keys once more. Only then may it wait, for microseconds.
package window

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Window is a set of keys that forgets old keys, one generation at a time. [New] returns a window in memory,
// [Open] returns a window that is kept in a folder, and [Window.ReadFrom] reads a window from a file. The
// zero Window has no keys, and its methods that add keys panic.
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

// New returns an empty window. The rate in the options applies to a query over all generations, so each
// generation gets a part of it.
//
// The error is [bloom.ErrFormat] if the format is unknown. It is [bloom.ErrCapacity] if the number of
// generations or the number of keys is out of range, or if MaxBytes is less than [Options.Bytes]. It is
// [bloom.ErrRate] if the format cannot hold the rate that a filter needs: Rate divided by twice the number of
// generations.
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

// Options returns the options of the window: the options that New or Open received, or the options that
// ReadFrom read. After a Resize, the number of keys is the number that Resize received.
func (w *Window) Options() Options {
	if s := w.state.Load(); s != nil {
		return s.options
	}
	return Options{}
}

// Began returns when the newest generation began. A monotonic clock measures the differences between returned
// times, and their age.
func (w *Window) Began() time.Time {
	if s := w.state.Load(); s != nil {
		return s.generations[0].began
	}
	return time.Time{}
}

// Resize changes the number of keys of a generation. Sets that begin after the call have the new size,
// including additional sets of a full generation. Existing sets keep their size until they are forgotten. If
// MaxBytes is 0, the limit changes accordingly. A rotation always begins a set. So after a call with more
// keys, the filters may exceed MaxBytes until the existing sets are forgotten. Resize returns the same errors
// as [New].
func (w *Window) Resize(keys int) error {
	w.order.Lock()
	defer w.order.Unlock()
	s := w.state.Load()
	if s == nil {
		return errors.New("window: the zero Window has no size")
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

// MarshalText returns an error, because a Window has no text form. WriteTo saves a window.
func (unstored) MarshalText() ([]byte, error) {
	return nil, errors.New("window: a Window is not stored as text")
}
