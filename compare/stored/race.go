package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// way is one of several ways to do the same.
type way struct {
	name  string
	ready func()              // before a round, untimed; if it is nil, the way is run once for another round
	run   func(round int) int // all ways return the same number
	warm  bool                // that run is for the same round
	floor float64             // how many times as fast as the first it is to be; 0 if nobody said

	ns []float64 // an operation, by round
}

// race times the ways, which do so many operations a round. They take turns in a new order each round. The caches have
// what a way has asked before, for other keys; the first round is not counted.
func race(rounds, operations int, ways []*way) error {
	for round := range rounds + 1 {
		answers := make([]int, len(ways))
		for _, i := range rand.Perm(len(ways)) {
			w := ways[i]
			runtime.GC() // what another way has left is not this one's to collect
			switch {
			case w.ready != nil:
				w.ready()
			case w.warm:
				w.run(round)
			default:
				w.run((round + 1) % (rounds + 1))
			}
			start := time.Now()
			answers[i] = w.run(round)
			if took := time.Since(start); round > 0 {
				w.ns = append(w.ns, float64(took.Nanoseconds())/float64(operations))
			}
		}
		for i, answer := range answers {
			if answer != answers[0] {
				return fmt.Errorf("%s answers %d, and %s %d", ways[i].name, answer, ways[0].name, answers[0])
			}
		}
	}
	return nil
}

// gain returns how many times as fast as another way w is: the median of the rounds' ratios, and the ratio of the least
// times.
func (w *way) gain(other *way) (middle, least float64) {
	ratios := make([]float64, len(w.ns))
	for i := range ratios {
		ratios[i] = other.ns[i] / w.ns[i]
	}
	return median(ratios), slices.Min(other.ns) / slices.Min(w.ns)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
