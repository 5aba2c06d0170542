// Package window answers whether a key was seen lately: in the last 24 hours, say. No filter forgets a key, so a
// [Window] has several sets, its generations. Keys are added to the newest, all are asked, and [Window.Rotate] forgets the
// oldest.
//
//	seen, err := window.New(window.Options{Generations: 25, Keys: 2_000_000, Rate: 0.01}) // 24 hours by the hour
//	if err != nil {
//		return err
//	}
//	go seen.Run(ctx, time.Hour)
//	maybe := seen.TestAndAddString(url) // whether it may have been there in the last 24 hours
//
// When the call that adds a key has returned, the key is found until Generations-1 rotations have begun since that call began. So
// with G generations, it is kept for G-1 intervals at least and for G at most: 24 hours by the hour are 25 generations. TestAndAdd
// adds the key to the newest generation even if an older one has it, so the time of the key begins anew. MayContain adds nothing.
//
// Any number of goroutines may add, ask, rotate, save and load at once. Queries and WriteTo wait for nobody. Rotations and loads
// go one after the other. If one of them ends during an addition, the addition adds its keys once more, and takes its turn among
// them for that.
package window

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lanebloom/bloom"
)

// Options say what a Window is for.
type Options struct {
	Format      bloom.Format // of the filters; the zero Format is [bloom.Default]
	Generations int          // 2 to 1,024
	Keys        int          // of a generation; more keys raise the rate
	Rate        float64      // of false positives, 0 to 1, of a query over all generations when each has its keys
}

// mostGenerations bounds the time of a query.
const mostGenerations = 1024

// Window is a set of keys that forgets them by generations. New makes one, and ReadFrom reads one. The zero Window holds
// no key, and its methods that add keys panic.
type Window struct {
	unstored

	state atomic.Pointer[state]
	mu    sync.RWMutex // held to change state, and for reading by those that want it to stay
}

// state is the generations at one time. It does not change, but for the bits of its sets.
type state struct {
	options     Options
	policy      bloom.Policy // of the sets
	generations []*generation
	newest      *bloom.AtomicSet // of generations[0]
	group       *bloom.Group     // of all filters; number 0 is that of newest
}

// generation is the keys between two rotations.
type generation struct {
	set    *bloom.AtomicSet
	others []*bloom.Filter // what Load has found of other shapes

	// resting holds the statistics from the first time that somebody asked for them after the generation was the newest.
	resting atomic.Pointer[Generation]
}

// Goroutines add to the newest set, and Rotate replaces it without waiting for them. So a goroutine that is about to add may find
// itself with a set that is the newest no more, even one that is forgotten before it has added to it. It must not return then.
// After each addition it looks whether the state is still the one that it began with: if so, its set was the newest when all bits
// of the key were set, and only later rotations make the key older. If not, it adds the key again, while no Rotate can run
// (settle).
//
// Older sets are asked as they are, not as copies: what goroutines still add to them is found.

// New returns an empty window. The rate of a query is that of all generations together, so each gets its part of Rate.
//
// The error is [bloom.ErrFormat] if the format is unknown, [bloom.ErrCapacity] if the number of generations or of keys
// is out of range, and [bloom.ErrRate] if the format cannot hold the rate divided by the generations.
func New(o Options) (*Window, error) {
	policy, err := o.policy()
	if err != nil {
		return nil, err
	}
	generations := make([]*generation, o.Generations)
	for i := range generations {
		if generations[i], err = newGeneration(policy, o.Keys); err != nil {
			return nil, fmt.Errorf("window: %w", err)
		}
	}
	w := new(Window)
	w.state.Store(newState(o, policy, generations))
	return w, nil
}

// policy returns that of a generation.
func (o Options) policy() (bloom.Policy, error) {
	switch {
	case o.Generations < 2 || o.Generations > mostGenerations:
		return bloom.Policy{}, fmt.Errorf("window: %w: %d generations, not 2 to %d", bloom.ErrCapacity, o.Generations, mostGenerations)
	case o.Keys < 1:
		return bloom.Policy{}, fmt.Errorf("window: %w: %d keys", bloom.ErrCapacity, o.Keys)
	case !(o.Rate > 0 && o.Rate < 1): // not a number is neither
		return bloom.Policy{}, fmt.Errorf("window: %w: %v is not between 0 and 1", bloom.ErrRate, o.Rate)
	}
	each := -math.Expm1(math.Log1p(-o.Rate) / float64(o.Generations))
	policy, err := bloom.PolicyFor(o.Format, o.Keys, each)
	if err != nil {
		return policy, fmt.Errorf("window: a rate of %.3g over %d generations is one of %.3g in each: %w", o.Rate, o.Generations, each, err)
	}
	return policy, nil
}

func newGeneration(policy bloom.Policy, keys int) (*generation, error) {
	set, err := policy.NewAtomicSet(keys)
	return &generation{set: set}, err
}

func newState(o Options, policy bloom.Policy, generations []*generation) *state {
	s := &state{options: o, policy: policy, generations: generations, newest: generations[0].set}
	var filters []*bloom.Filter
	for _, g := range generations {
		filters = append(filters, g.set.Filter())
		filters = append(filters, g.others...)
	}
	group, err := bloom.NewGroup(filters)
	if err != nil {
		panic(err) // they have one format
	}
	s.group = group
	return s
}

// Options returns those of New, or of the window that ReadFrom has read.
func (w *Window) Options() Options {
	if s := w.state.Load(); s != nil {
		return s.options
	}
	return Options{}
}

// Rotate forgets the oldest generation and begins a new one. If several goroutines call it, one rotation begins when the other
// has ended.
func (w *Window) Rotate() { w.rotate(1) }

// rotate forgets the oldest n generations and begins a new one. The newest so far becomes the second, and those before it are as
// old as after n rotations: a key that was added a moment ago counts one rotation, as it would without a delay.
func (w *Window) rotate(n int) {
	s := w.state.Load()
	if s == nil {
		return
	}
	begun := make([]*generation, min(n, s.options.Generations-1))
	for i := range begun { // before the lock: large memory takes time
		g, err := newGeneration(s.policy, s.options.Keys)
		if err != nil {
			panic(err) // there are such sets
		}
		begun[i] = g
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.state.Load().generations
	all := slices.Concat(begun[:1], now[:1], begun[1:], now[1:])
	generations := slices.Clone(all[:len(now)]) // those that are forgotten are not behind its end
	w.state.Store(newState(s.options, s.policy, generations))
}

// Run rotates whenever another interval has passed, until the context ends, and returns the context's error. 24 hours by the
// hour are 25 generations.
//
// If it wakes up late, because the process was stopped, say, it makes up for each interval that has passed. The newest
// generation then has the keys of several intervals. It is kept as long as any other from then on, since its last keys may be new. The time for which a
// computer sleeps may not count.
func (w *Window) Run(ctx context.Context, every time.Duration) error {
	if every <= 0 {
		return errors.New("window: the interval is not positive")
	}
	next := time.Now().Add(every)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		var passed int64
		passed, next = due(next, time.Now(), every)
		w.rotate(int(min(passed, mostGenerations)))
		timer.Reset(time.Until(next))
	}
}

// due returns how many of the times next, next+every and so on have come, at least one, and the first that has not.
func due(next, now time.Time, every time.Duration) (passed int64, after time.Time) {
	n := max(now.Sub(next), 0)/every + 1
	return int64(n), next.Add(n * every)
}

// unstored is embedded in Window. Without it, JSON would make an empty object of one, also of a Window that is a field of a value.
type unstored struct{}

// MarshalText returns an error: a Window has no text. WriteTo saves one.
func (unstored) MarshalText() ([]byte, error) {
	return nil, errors.New("window: a Window is not stored as text")
}
