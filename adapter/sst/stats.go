package bloomsst

import (
	"errors"
	"math"
	"sync"

	"github.com/lanebloom/bloom"
)

// Stats describes all filters of a table.
type Stats struct {
	Filters int    // that were read
	Unread  int    // Ribbon filters and others that are no Bloom filters of a known format
	Empty   int    // stretches of LevelDB without a filter, because no data block begins in them
	Bytes   uint64 // that the filters take in the file, with what finds them
	Bits    uint64 // of all filters
	SetBits uint64
	Probes  int // of the first filter

	// Keys is the number of different keys in the filters, estimated from the set bits. It is 0 if KeysUnknown is set:
	// the bits do not tell it.
	Keys        float64
	KeysUnknown bool

	// FalsePositiveRate is the share, 0 to 1, of absent keys that pass, expected from the set bits: the mean of the
	// filters' rates, which each count by its keys.
	FalsePositiveRate float64

	// BestRate is the share that could pass filters of the same size and format with the same keys, if their number
	// of probes were the best one.
	BestRate float64
}

// BitsPerKey returns the number of bits for each key, or 0 if it is not known.
func (s Stats) BitsPerKey() float64 {
	if s.KeysUnknown || s.Keys == 0 {
		return 0
	}
	return float64(s.Bits) / s.Keys
}

// Fill returns the share of the bits that are set, 0 to 1.
func (s Stats) Fill() float64 { return float64(s.SetBits) / float64(max(s.Bits, 1)) }

// Stats counts the set bits of all filters. It reads the partitions of RocksDB's filters, one after the other. The
// error is the first of a filter that could not be read; the numbers are then of the others.
func (t *Table) Stats() (s Stats, err error) {
	var all sum
	for p, partErr := range t.Filters() {
		if errors.Is(partErr, ErrRibbon) || errors.Is(partErr, ErrPolicy) {
			all.Unread++
			continue
		}
		if partErr != nil {
			if err == nil {
				err = partErr
			}
			continue
		}
		all.add(p.Filter)
	}
	s = all.stats()
	s.Bytes = t.size
	if b, ok := t.filters.(*blocks); ok {
		s.Empty = b.len() - t.Parts()
	}
	return s, err
}

// Stats counts the set bits of the filter. Bytes is its size.
func (p Part) Stats() Stats {
	var one sum
	one.add(p.Filter)
	s := one.stats()
	s.Bytes = uint64(len(p.Filter.Bytes()))
	return s
}

// sum adds up filters.
type sum struct {
	Stats
	rates, best weighted
}

func (s *sum) add(f *bloom.Filter) {
	of := f.Stats()
	if s.Filters == 0 {
		s.Probes = of.Probes
	}
	s.Filters++
	s.Bits += of.Bits
	s.SetBits += of.SetBits
	s.Keys += of.Keys
	s.KeysUnknown = s.KeysUnknown || of.KeysUnknown
	weight := of.Keys
	if of.KeysUnknown {
		weight = float64(of.Bits) / 10
	}
	s.rates.add(of.FalsePositiveRate, weight)
	s.best.add(bestRate(f.Format(), of.Bits, weight), weight)
}

func (s *sum) stats() Stats {
	if s.KeysUnknown {
		s.Keys = 0
	}
	s.FalsePositiveRate, s.BestRate = s.rates.mean(), s.best.mean()
	return s.Stats
}

// bestRate returns the rate of a filter of so many bits with the best number of probes. LevelDB has a filter for every 2 KiB of
// data, and most are alike, so it remembers rates.
func bestRate(f bloom.Format, bits uint64, keys float64) float64 {
	s := shape{f, bits, int(math.Round(keys))}
	bestRates.Lock()
	best, known := bestRates.of[s]
	bestRates.Unlock()
	if known {
		return best
	}
	best = 1
	for probes := 1; probes <= mostProbes; probes++ {
		best = min(best, f.FalsePositiveRate(s.keys, bits, probes))
	}
	bestRates.Lock()
	defer bestRates.Unlock()
	if len(bestRates.of) == mostRates {
		clear(bestRates.of)
	}
	bestRates.of[s] = best
	return best
}

// shape is what the best rate of a filter depends on.
type shape struct {
	format bloom.Format
	bits   uint64
	keys   int
}

// mostRates is how many rates are remembered.
const mostRates = 1 << 12

var bestRates = struct {
	sync.Mutex
	of map[shape]float64
}{of: map[shape]float64{}}

// mostProbes is the largest number of probes of a filter of LevelDB or RocksDB.
const mostProbes = 30

// weighted is a weighted mean.
type weighted struct{ sum, weight float64 }

func (w *weighted) add(value, weight float64) {
	w.sum += value * weight
	w.weight += weight
}

func (w *weighted) mean() float64 {
	if w.weight == 0 {
		return 0
	}
	return w.sum / w.weight
}
