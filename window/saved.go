package window

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lanebloom/bloom"
)

// saved is what a file has.
type saved struct {
	*header
	plan        *plan // of its options
	generations []*generation
	missed      int // the oldest generations, which have become too old since it was written
}

// window reads the file of a window. Filters of the shape of p, or of the file's own plan if p is nil, are sets of that plan.
func (in *source) window(p *plan) (*saved, error) {
	now := time.Now()
	h, v, err := in.header(now)
	if err != nil {
		if err != io.EOF {
			err = fmt.Errorf("window: %w", err)
		}
		return &saved{header: new(header)}, err
	}
	f := &saved{header: h}
	if f.plan, err = h.options.plan(); err != nil {
		return f, fmt.Errorf("%w: %w", bloom.ErrEncoding, err)
	}
	own := p == nil
	if own {
		p = f.plan
	}
	for i, e := range h.entries {
		g := &generation{began: e.began, over: e.over}
		switch {
		case v == 1 && e.sets > 0:
			g.sets, err = in.oldSets(h.options.Format, e.sets, p)
		case v == 1:
			err = fmt.Errorf("%w: the generation has no filter", bloom.ErrEncoding)
		case e.sets > 0:
			g.sets, err = in.sets(h.options.Format, e, p)
		}
		if err != nil {
			return f, fmt.Errorf("window: generation %d: %w", i, err)
		}
		f.generations = append(f.generations, g)
	}
	if own {
		err = f.believed()
	}
	f.catchUp(now)
	return f, err
}

// catchUp makes the generations as old as they are now: by the interval of Run, as many rotations as have passed since the newest
// one began.
func (f *saved) catchUp(now time.Time) {
	first := f.generations[0].began
	if f.every <= 0 || first.IsZero() || now.Sub(first) < f.every {
		return
	}
	passed := now.Sub(first) / f.every
	size := len(f.generations)
	f.missed = int(min(passed, time.Duration(size)))
	generations := make([]*generation, f.missed)
	for i := range generations {
		generations[i] = &generation{began: first.Add((passed - time.Duration(i)) * f.every)}
	}
	f.generations = append(generations, f.generations[:size-f.missed]...)
}

// state makes the state of a window of these options. The newest generation gets a set for new keys if it has none of the plan.
func (f *saved) state(o Options, p *plan) (*state, error) {
	generations := slices.Clone(f.generations[:min(len(f.generations), o.Generations)])
	for len(generations) < o.Generations {
		generations = append(generations, new(generation))
	}
	first := generations[0]
	for _, s := range first.sets {
		if s.plan == p {
			return newState(o, p, generations, s), nil
		}
	}
	s, err := p.newSet()
	if err != nil {
		return nil, err
	}
	generations[0] = &generation{began: first.began, sets: append([]*set{s}, first.sets...), over: first.over}
	return newState(o, p, generations, s), nil
}

// believed returns an error if a set of the plan is more than four times as large as the filters that the file has, or
// smaller than a quarter of them. Another version of this library may take a few more bits for each key, or fewer.
func (f *saved) believed() error {
	want, some := f.plan.shape.bits, false
	for _, g := range f.generations {
		for _, s := range g.sets {
			has := s.shape.bits
			some = some || has/4 <= want+64 && want/4 <= has
		}
	}
	if !some {
		return fmt.Errorf("window: %w: no filter has about %d bits, the size for %d keys", bloom.ErrEncoding, want, f.options.Keys)
	}
	return nil
}
