package window

import "math"

// Stats describes a window, for example for metrics.
type Stats struct {
	Generations []Generation // the newest first

	// Keys is the sum of the keys of all generations. A key in several generations counts once in each.
	Keys float64

	// FalsePositiveRate is the expected false-positive rate (0 to 1) of a query of all generations.
	FalsePositiveRate float64

	Bytes int64 // size of all filters in bytes
	Over  bool  // whether a generation has more keys than MaxBytes allows, so that the rate in [Options] does not hold
}

// Stats computes statistics from the bits of the filters. Each call counts the bits of the newest
// generation, which takes about 0.05 ms per MB. It counts the bits of an older generation only in the first
// call after a Rotate or a Load has changed that generation, and keeps the result.
func (w *Window) Stats() Stats {
	s := w.state.Load()
	if s == nil {
		return Stats{}
	}
	stats := Stats{Generations: make([]Generation, len(s.generations))}
	none := 0.0 // the logarithm of the chance that no generation has an absent key
	for i, g := range s.generations {
		numbers := g.resting.Load()
		if numbers == nil {
			numbers = g.stats()
			if i > 0 {
				g.resting.Store(numbers)
			}
		}
		stats.Generations[i] = *numbers
		stats.Keys += numbers.Keys
		stats.Bytes += numbers.Bytes
		stats.Over = stats.Over || g.over
		none += math.Log1p(-numbers.FalsePositiveRate)
	}
	stats.FalsePositiveRate = 0 - math.Expm1(none) // not -0
	return stats
}
