package bloomsst

import (
	"errors"
	"math"
	"math/bits"
	"sync"

	"github.com/lanebloom/bloom"
)

// Stats describes the filters of a table, or one filter.
type Stats struct {
	Filters int    // the number of filters that were read
	Ribbons int    // the number of Ribbon filters among them; a full Ribbon filter has half of its bits set
	Unread  int    // the number of filters of an unknown format
	Empty   int    // the number of 2 KiB stretches without a filter (LevelDB), because no data block begins there
	Bytes   uint64 // the size of the filters in the file, including the blocks that locate them
	Bits    uint64 // the number of bits in all filters
	SetBits uint64
	Probes  int // the number of probes of the first Bloom filter

	// Keys is the number of distinct keys in the filters, estimated from the set bits. If the number cannot
	// be estimated, Keys is 0 and KeysUnknown is true.
	Keys        float64
	KeysUnknown bool

	// FalsePositiveRate is the expected false-positive rate, between 0 and 1. It is computed from the set
	// bits of Bloom filters and from the sizes of Ribbon filters. If there are several filters, the rate is
	// the mean of their rates, weighted by the number of keys in each filter.
	FalsePositiveRate float64

	// BestRate is the rate that filters of the same size and format would have for the same keys with the
	// optimal number of probes. If the filters have more than 64 combinations of size and number of keys, the
	// best rates of some filters are estimates.
	BestRate float64
}

// BitsPerKey returns the number of bits per key, or 0 if the number of keys is 0 or not known.
func (s Stats) BitsPerKey() float64 {
	if s.KeysUnknown || s.Keys == 0 {
		return 0
	}
	return float64(s.Bits) / s.Keys
}

// Fill returns the fraction of bits that are set, between 0 and 1.
func (s Stats) Fill() float64 { return float64(s.SetBits) / float64(max(s.Bits, 1)) }

// Stats counts the set bits of all filters. If a filter of RocksDB has partitions, Stats reads one partition
// after the other. If some filters cannot be read, Stats returns the first error, and the statistics of the
// other filters.
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
		all.add(p)
	}
	s = all.stats()
	s.Bytes = t.size
	if b, ok := t.shown().(*blocks); ok {
		s.Empty = b.len() - t.Parts()
	}
	return s, err
}

// Stats counts the set bits of the filter. In the result, Bytes is the size of this filter only.
func (p Part) Stats() Stats {
	var one sum
	one.add(p)
	s := one.stats()
	if p.Filter != nil {
		s.Bytes = uint64(len(p.Filter.Bytes()))
	}
	return s
}

// sum adds up filters.
type sum struct {
	Stats
	rates, best weighted
	rated       map[shape]float64 // the best rates of the shapes that came first
}

func (s *sum) add(p Part) {
	if p.Ribbon != nil {
		s.addRibbon(p.Ribbon.stats())
		return
	}
	of := p.Filter.Stats()
	if s.Filters == s.Ribbons {
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
	s.best.add(s.bestRate(shape{p.Filter.Format(), of.Bits, int(math.Round(weight))}), weight)
}

func (s *sum) addRibbon(of Stats) {
	s.Filters++
	s.Ribbons++
	s.Bytes += of.Bytes
	s.Bits += of.Bits
	s.SetBits += of.SetBits
	s.Keys += of.Keys
	s.KeysUnknown = s.KeysUnknown || of.KeysUnknown
	s.rates.add(of.FalsePositiveRate, of.Keys)
	s.best.add(of.BestRate, of.Keys)
}

func (s *sum) stats() Stats {
	if s.KeysUnknown {
		s.Keys = 0
	}
	s.FalsePositiveRate, s.BestRate = s.rates.mean(), s.best.mean()
	return s.Stats
}

// bestRate returns the rate of a filter of a shape with the best number of probes. That of a hundred bytes costs a millisecond, so
// a table has few shapes that are rated. The rate of another is estimated from the nearest of them.
func (s *sum) bestRate(of shape) float64 {
	best, known := s.rated[of]
	switch {
	case known:
		return best
	case len(s.rated) == mostShapes:
		return of.estimate(s.rated)
	case s.rated == nil:
		s.rated = map[shape]float64{}
	}
	best = of.bestRate()
	s.rated[of] = best
	return best
}

// mostShapes is how many shapes of a table are rated.
const mostShapes = 64

// estimate returns a best rate from those of other shapes: it differs from the rate of independent bits as that of the
// nearest shape does.
func (of shape) estimate(rated map[shape]float64) float64 {
	nearest, least := shape{}, math.Inf(1)
	for r := range rated {
		if d := of.distance(r); d < least || d == least && r.less(nearest) {
			nearest, least = r, d
		}
	}
	independent := nearest.independent()
	if independent == 0 {
		return of.independent()
	}
	return min(1, of.independent()*rated[nearest]/independent)
}

// distance compares the bits per key of two shapes, and their sizes.
func (of shape) distance(r shape) float64 {
	ratio := func(a, b float64) float64 { return math.Abs(math.Log(a / b)) }
	keys, others := float64(max(of.keys, 1)), float64(max(r.keys, 1))
	return 8*ratio(float64(of.bits)/keys, float64(r.bits)/others) + ratio(keys, others)
}

func (of shape) less(r shape) bool { return of.bits < r.bits || of.bits == r.bits && of.keys < r.keys }

// independent returns the best rate of filters whose probes are independent of one another.
func (of shape) independent() float64 {
	if of.keys == 0 {
		return 0
	}
	perKey, best := float64(of.bits)/float64(of.keys), 1.0
	least := math.Floor(perKey * math.Ln2)
	for _, probes := range []float64{least, least + 1} {
		probes = min(max(probes, 1), mostProbes)
		best = min(best, math.Pow(-math.Expm1(-probes/perKey), probes))
	}
	return best
}

// bestRate returns the rate with the best number of probes. Most filters of LevelDB's tables are alike, so rates are
// remembered.
func (of shape) bestRate() float64 {
	bestRates.Lock()
	best, known := bestRates.of[of]
	bestRates.Unlock()
	if known {
		return best
	}
	best = 1
	for probes := 1; probes <= mostProbes; probes++ {
		best = min(best, of.format.FalsePositiveRate(of.keys, of.bits, probes))
	}
	bestRates.Lock()
	defer bestRates.Unlock()
	if len(bestRates.of) == mostRates {
		clear(bestRates.of)
	}
	bestRates.of[of] = best
	bestRates.rated++
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
	of    map[shape]float64
	rated int // how often a rate was computed
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

// stats describes the filter. A slot without a key has no bits, and one with a key has half of its bits on average: so the set bits
// tell the number of keys.
func (r *Ribbon) stats() Stats {
	s := Stats{Filters: 1, Ribbons: 1, Bytes: uint64(len(r.data) + ribbonTrailer)}
	s.Bits = ribbonBits * (r.columns*r.blocks - r.fewer)
	for _, b := range r.data[:s.Bits/8] {
		s.SetBits += uint64(bits.OnesCount8(b))
	}
	s.Keys, s.KeysUnknown = 2*s.Fill()*float64(ribbonBits*r.blocks), s.Bits == 0
	s.FalsePositiveRate = r.FalsePositiveRate()
	s.BestRate = s.FalsePositiveRate
	return s
}
