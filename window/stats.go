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

// Generation describes one generation. [bloom.Stats] says how exact the numbers are.
type Generation struct {
	Sets    int     // filters: none without a key, and several if there were more keys than planned, or after a Load
	Bytes   int64   // of these
	Bits    uint64  // of these
	SetBits uint64  // how many of these are set
	Fill    float64 // SetBits / Bits; 0 without a filter
	Keys    float64 // different keys, as the set bits tell it

	// KeysUnknown is set if a filter is full, so that its bits do not tell the number of its keys.
	KeysUnknown bool

	FalsePositiveRate float64 // the expected share, 0 to 1, of absent keys that this generation takes for present
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
