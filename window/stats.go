package window

// Stats describes a window for metrics.
type Stats struct {
	Generations []Generation // the newest first

	// Keys is the sum over all generations. A key that several of them have counts in each.
	Keys float64

	// FalsePositiveRate is the expected share, 0 to 1, of absent keys to which a query over all generations answers yes.
	FalsePositiveRate float64
}

// Generation describes one generation. [bloom.Stats] says how exact the numbers are.
type Generation struct {
	Bits    uint64  // of the filter, or of several after a Load
	SetBits uint64  // how many of these are set
	Fill    float64 // SetBits / Bits
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
	none := 1.0 // the chance that no generation has an absent key
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
		none *= 1 - numbers.FalsePositiveRate
	}
	stats.FalsePositiveRate = 1 - none
	return stats
}

func (g *generation) stats() *Generation {
	sum, none := new(Generation), 1.0
	each := append(g.others[:len(g.others):len(g.others)], g.set.Filter())
	for _, f := range each {
		s := f.Stats()
		sum.Bits += s.Bits
		sum.SetBits += s.SetBits
		sum.Keys += s.Keys
		sum.KeysUnknown = sum.KeysUnknown || s.KeysUnknown
		none *= 1 - s.FalsePositiveRate
	}
	sum.Fill = float64(sum.SetBits) / float64(sum.Bits)
	sum.FalsePositiveRate = 1 - none
	return sum
}
