package window

import (
	"context"
	"errors"
	"time"
)

// Rotate forgets the oldest generation and begins a new one. If several goroutines call Rotate, the
// rotations run one at a time.
func (w *Window) Rotate() {
	w.order.Lock()
	defer w.order.Unlock()
	w.rotate(1, time.Now())
}

// rotate forgets the oldest n generations and begins a new one. The newest so far becomes the second, and those before it are as
// old as after n rotations: a key that was added a moment ago counts one rotation, as it would without a delay.
func (w *Window) rotate(n int, began time.Time) {
	s := w.state.Load()
	if s == nil {
		return
	}
	next := w.takeSpare(s.plan)
	if next == nil { // before the lock: large memory takes time
		next = mustMake(s.plan)
	}
	var forgotten []*generation
	w.change(func(s *state) *state {
		newest, size := s.generations[0], len(s.generations)
		generations := []*generation{{began: began, sets: []*set{next}}, newest}
		for len(generations) <= min(n, size-1) {
			generations = append(generations, &generation{began: newest.began})
		}
		kept := max(size-len(generations), 0)
		forgotten = s.generations[1+kept:]
		return newState(s.options, s.plan, append(generations, s.generations[1:][:kept]...), next)
	})
	w.reuse(s.plan, forgotten)
}

// Run rotates each time the newest generation is one interval old, until ctx is done. It then returns the
// cause of the cancellation. For 24 hours with hourly rotation, use 25 generations. If the window was read
// from a file, Run continues with the saved age of its generations.
//
// If Run wakes up late, for example because the process was stopped, it makes up for all missed rotations
// at once. The generation that was the newest before these rotations may have the keys of several
// intervals. Because its last keys may be new, it becomes the second newest generation, as after a single
// rotation. If Run was called before a window was saved, Open, Load and ReadFrom also count the intervals
// that have passed since its newest generation began, and forget generations that have become too old.
//
// A monotonic clock measures the age of a generation. The time of day is used only to compute how long no
// process ran. On most systems, the monotonic clock and timers stop while the machine sleeps, so keys are
// then kept longer.
func (w *Window) Run(ctx context.Context, every time.Duration) error {
	if every <= 0 {
		return errors.New("window: the interval is not positive")
	}
	w.every.Store(int64(every))
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		timer.Reset(w.catchUp(every))
	}
}

// catchUp rotates as often as intervals have passed since the newest generation began. It returns how long it is until the
// next one has passed.
func (w *Window) catchUp(every time.Duration) time.Duration {
	w.order.Lock()
	defer w.order.Unlock()
	s := w.state.Load()
	if s == nil {
		return every
	}
	began := s.generations[0].began
	if n := time.Since(began) / every; n > 0 {
		began = began.Add(n * every)
		w.rotate(int(min(n, mostGenerations)), began)
	}
	return every - time.Since(began)
}
