package window

import "math/rand/v2"

// When a set has its keys, its generation gets another. Nobody counts the keys: all goroutines would wait for the counter.
// Instead, one of some hundred additions of a new key looks at a sample of the bits. A set with half of its keys has a spare one
// made, by a goroutine of its own, and a set with all of them gets it in front.
//
// From then on, a key that another set of the newest generation has is not added once more. So keys that come again and again do
// not fill one set after the other.

// mayLook is called after a key was added that the newest set did not have.
func (w *Window) mayLook(s *state) {
	if rand.Uint32()&s.newest.plan.rarely == 0 {
		w.look(s, false)
	}
}

// mayLookAfter is mayLook for a column of n keys.
func (w *Window) mayLookAfter(s *state, n int) {
	if n > int(rand.Uint32()&s.newest.plan.rarely) {
		w.look(s, true)
	}
}

// look gives the newest generation another set if the newest set of s has its keys. One that is in a hurry makes it, if it must,
// before it goes on: it adds many keys at once.
func (w *Window) look(s *state, hurry bool) {
	newest, fill := s.newest, s.newest.fill(few)
	switch {
	case fill < newest.plan.half:
	case s.generations[0].over && !s.hasRoom():
		w.balance(s)
	case newest.isFull(fill):
		if !s.hasRoom() || w.spare.Load() != nil || w.makeSpare(s, hurry || newest.load() > overfull) {
			w.grow(s)
		}
	case w.spare.Load() == nil && s.hasRoom():
		w.makeSpare(s, hurry)
	}
}

// overfull is the load of a set at which an addition waits for the spare, or makes it: the goroutine that was to make it has had no CPU.
const overfull = 1.05

// makeSpare makes a spare set, unless there is one. It returns true if there is one now, and false if there will be.
func (w *Window) makeSpare(s *state, hurry bool) bool {
	work := func() {
		w.making.Lock()
		defer w.making.Unlock()
		if w.spare.Load() == nil {
			w.spare.CompareAndSwap(nil, mustMake(s.plan))
		}
	}
	if hurry || s.plan.bytes() <= small {
		work()
		return true
	}
	if w.waited.CompareAndSwap(false, true) {
		go func() {
			defer w.waited.Store(false)
			work()
		}()
	}
	return false
}

// mustMake returns a set of a plan that has made one before.
func mustMake(p *plan) *set {
	s, err := p.newSet()
	if err != nil {
		panic(err)
	}
	return s
}

// takeSpare returns the spare set, or nil if there is none of the plan.
func (w *Window) takeSpare(p *plan) *set {
	if s := w.spare.Swap(nil); s != nil && s.plan == p {
		return s
	}
	return nil
}

// grow puts the spare set before those of the newest generation. If MaxBytes has no room for it, the least full set gets what
// comes.
func (w *Window) grow(s *state) {
	if !w.mu.TryLock() {
		return // the state changes now
	}
	defer w.mu.Unlock()
	if w.state.Load() != s {
		return
	}
	g := s.generations[0]
	if !s.hasRoom() {
		w.state.Store(s.with(&generation{began: g.began, sets: g.sets, over: true}, s.newest))
	} else if next := w.takeSpare(s.plan); next != nil {
		w.state.Store(s.with(&generation{began: g.began, sets: append([]*set{next}, g.sets...), over: g.over}, next))
	}
}

// balance has keys added to another set of the newest generation if that is less full: it compares one with the newest.
func (w *Window) balance(s *state) {
	sets := s.generations[0].sets
	other := sets[rand.IntN(len(sets))]
	if other.plan == nil || other.load() >= s.newest.load() || !w.mu.TryLock() {
		return
	}
	defer w.mu.Unlock()
	if w.state.Load() == s {
		w.state.Store(s.with(s.generations[0], other))
	}
}

// reuse clears a forgotten set for the next one that begins, unless WriteTo may still have to write it.
func (w *Window) reuse(p *plan, forgotten []*generation) {
	if w.spare.Load() != nil || w.writing.Load() > 0 {
		return
	}
	for _, g := range forgotten {
		for _, s := range g.sets {
			if s.plan == p {
				s.Clear()
				w.spare.CompareAndSwap(nil, s)
				return
			}
		}
	}
}
