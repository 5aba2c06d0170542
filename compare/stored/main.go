// Command stored compares what Loki, Tempo, Weaviate and SpiceDB do with stored filters of bits-and-blooms with what they
// can do with this library (in compare/):
//
//	go run ./stored
//
// Every filter is made by bits-and-blooms, and every answer of both is compared. docs/bits-and-blooms.md has the figures.
package main

import (
	"testing"

	"github.com/lanebloom/bloom/compare/internal/race"
)

func main() {
	c := &comparison{rounds: 61, keys: 1}
	err := c.run()
	race.Exit(c.Figures, err)
}

// comparison has the figures of the programs.
type comparison struct {
	race.Figures
	rounds int
	keys   float64 // of a filter: a test takes a small share of their number
}

func (c *comparison) run() error {
	for _, program := range []func() error{c.loki, c.tempo, c.weaviate, c.spice} {
		if err := program(); err != nil {
			return err
		}
	}
	return nil
}

// size returns how many of n keys a filter gets.
func (c *comparison) size(n int) int { return max(1, int(c.keys*float64(n))) }

// compare times a program before and after, with this number of operations a round. If warm, the caches have
// the data that a round reads. Otherwise they have the data of another round.
func (c *comparison) compare(what string, operations int, warm bool, before, after func(round int) int) error {
	way := func(name string, run func(round int) int) *race.Way {
		return &race.Way{
			Name:  what + ", " + name,
			Run:   func(round int) (int, error) { return run(round), nil },
			Ready: func(round int) error { run((round + oneIf(!warm)) % (c.rounds + 1)); return nil },
		}
	}
	first, second := way("before", before), way("after", after)
	if err := (race.Race{Rounds: c.rounds, Operations: operations}).Run(first, second); err != nil {
		return err
	}
	allocations := func(run func(round int) int) float64 {
		return race.Three(testing.AllocsPerRun(10, func() { run(0) }) / float64(operations))
	}
	old, now := first.Figure("Programs/what="+what+"/way=before"), second.Beside("Programs/what="+what+"/way=after", first)
	old.Allocs, now.Allocs = allocations(before), allocations(after)
	c.Add(old, now)
	return nil
}

// oneIf returns 1 for a yes.
func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
