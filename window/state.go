package window

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/lanebloom/bloom"
)

// state is the generations at one time. It does not change, but for the bits of its sets.
type state struct {
	options     Options
	plan        *plan         // of the sets that begin from now on
	generations []*generation // the newest first
	newest      *set          // of generations[0]: keys are added to it

	group *bloom.Group // of all filters, in the order of the generations
	own   *bloom.Group // of those of generations[0] if it has several; nil if it has one
}

// generation is the keys between two rotations. It does not change, but for the bits of its sets.
type generation struct {
	began time.Time // zero if a file of version 1 did not know it
	sets  []*set    // the newest first; none if it has no keys, but for the newest generation
	over  bool      // it has more keys than MaxBytes has room for

	// resting holds the statistics from the first time that somebody asked for them after the generation was the newest.
	resting atomic.Pointer[Generation]
}

func newState(o Options, p *plan, generations []*generation, newest *set) *state {
	s := &state{options: o, plan: p, generations: generations, newest: newest}
	var all []*set
	for _, g := range generations {
		all = append(all, g.sets...)
	}
	s.group = groupOf(all)
	if first := generations[0].sets; len(first) > 1 {
		s.own = groupOf(first)
	}
	return s
}

func groupOf(sets []*set) *bloom.Group {
	filters := make([]*bloom.Filter, len(sets))
	for i, s := range sets {
		filters[i] = s.filter
	}
	group, err := bloom.NewGroup(filters)
	if err != nil {
		panic(err) // they have one format
	}
	return group
}

// with returns the state with another newest generation, and the set of it that gets the keys.
func (s *state) with(g *generation, newest *set) *state {
	generations := append([]*generation{g}, s.generations[1:]...)
	return newState(s.options, s.plan, generations, newest)
}

func (g *generation) bytes() (n int64) {
	for _, s := range g.sets {
		n += int64(len(s.bits))
	}
	return n
}

// bytes returns those of all filters. A generation without a set counts as one that has its set: there must be room for it.
func (s *state) bytes() (n int64) {
	for _, g := range s.generations {
		n += max(g.bytes(), s.plan.bytes())
	}
	return n
}

// hasRoom reports whether MaxBytes allows another set of the plan.
func (s *state) hasRoom() bool { return s.bytes()+s.plan.bytes() <= s.options.most(s.plan) }

// Generation describes one generation. The documentation of [bloom.Stats] explains how accurate the numbers are.
type Generation struct {
	Sets    int     // number of filters: 0 without keys, several after a Load or if more keys came than planned
	Bytes   int64   // size of the filters in bytes
	Bits    uint64  // number of bits in the filters
	SetBits uint64  // number of bits that are set
	Fill    float64 // SetBits / Bits; 0 if there is no filter
	Keys    float64 // estimated number of different keys

	// KeysUnknown reports whether a filter is full, so that its number of keys cannot be estimated.
	KeysUnknown bool

	FalsePositiveRate float64 // expected rate of this generation alone, 0 to 1
}

// stats counts the bits of the generation.
func (g *generation) stats() *Generation {
	sum, none := &Generation{Sets: len(g.sets), Bytes: g.bytes()}, 0.0
	for _, one := range g.sets {
		s := one.filter.Stats()
		sum.Bits += s.Bits
		sum.SetBits += s.SetBits
		sum.Keys += s.Keys
		sum.KeysUnknown = sum.KeysUnknown || s.KeysUnknown
		none += math.Log1p(-s.FalsePositiveRate)
	}
	sum.Fill = float64(sum.SetBits) / float64(max(sum.Bits, 1))
	sum.FalsePositiveRate = 0 - math.Expm1(none) // not -0
	return sum
}
