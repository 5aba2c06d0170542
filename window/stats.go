package window

import "math"

// Stats describes a window for metrics.
type Stats struct {
	Generations []Generation // the newest first

	// Keys is the sum over all generations. A key that several of them have counts in each.
	Keys float64

	// FalsePositiveRate is the expected share, 0 to 1, of absent keys to which a query over all generations answers yes.
	FalsePositiveRate float64

	Bytes int64 // of the filters
	Over  bool  // a generation has more keys than [Options] MaxBytes has room for: the rate does not hold
}

// Stats returns numbers that follow from the set bits. Each call counts those of the newest generation, which takes some 0.05 ms
// for each MB. It counts those of another generation in the first call after a Rotate or a Load has changed it, and keeps the numbers.
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
