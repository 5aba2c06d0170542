package bloom

import (
	"encoding/binary"
	"math/rand/v2"
	"unsafe"

	"github.com/lanebloom/bloom/internal/rates"
)

// Stats is [Filter.Stats] of every filter, by one pass over all bits. One that has far fewer bits set than the others wastes its
// part of the memory; one that has far more answers yes too often.
//
// The false-positive rates of 6,000 keys of [LevelDB] or more come from 2^14 random keys, the same for all filters: at 1 %,
// the relative error is 8 %.
func (x *Interleaved) Stats() []Stats {
	words := (x.filters + 63) / 64
	if words == 0 {
		return nil
	}
	set, spread := tally{words: words}, x.newSpread()
	row := make([]uint64, words)
	swap := x.empty.scheme.swap()
	for p := range int(x.depth) {
		if uint64(p)^swap >= x.bits {
			continue // the slice fills the last word of 64 bits
		}
		slice := unsafe.Pointer(&x.slices[p*x.stride])
		for i := range row {
			row[i] = load64(slice, 8*i)
		}
		set.add(row)
		spread.add(row)
	}
	stats, measured := make([]Stats, x.filters), []float64(nil)
	for i := range stats {
		s := &stats[i]
		*s = Stats{Bits: x.bits, SetBits: set.of(i), Probes: x.empty.k}
		s.Keys, s.KeysUnknown = keysOf(s.SetBits, shape{x.bits, x.empty.k}, formats[x.empty.format].encoding)
		switch {
		case spread != nil:
			s.FalsePositiveRate = spread.rate(i)
		case s.hasFormula(x.empty.format):
			s.FalsePositiveRate = x.empty.expectedRate(s)
		default:
			if measured == nil {
				measured = x.measureRates(row)
			}
			s.FalsePositiveRate = measured[i]
		}
	}
	return stats
}

// measureRates returns for each filter the share of random keys that pass. row is memory for a row.
func (x *Interleaved) measureRates(row []uint64) []float64 {
	const most = 1 << 14
	yes := tally{words: len(row)}
	random, samples := rand.NewPCG(0, 0), min(most, samples(x.empty.k))
	for range samples {
		var key [16]byte
		binary.LittleEndian.PutUint64(key[:], random.Uint64())
		binary.LittleEndian.PutUint64(key[8:], random.Uint64())
		x.and(x.empty.format.Hash(key[:]), row)
		yes.add(row)
	}
	measured := make([]float64, x.filters)
	for i := range measured {
		measured[i] = float64(yes.of(i)) / float64(samples)
	}
	return measured
}

// lineSpread counts for each filter the set bits of each line, or of each word of a block, and sums up the rates of lines or
// blocks.
type lineSpread struct {
	rows     int // of a line or word
	words    int // of a block that has one bit of a key in each, or 1
	chance   func(set uint64) float64
	line     tally
	products []float64 // of the chances of the words so far
	sums     []float64
	seen     int // rows
}

// newSpread returns nil for a walk whose rate does not follow from the spread of set bits.
func (x *Interleaved) newSpread() *lineSpread {
	s := &lineSpread{line: tally{words: (x.filters + 63) / 64}, products: make([]float64, x.filters), sums: make([]float64, x.filters)}
	switch x.empty.scheme {
	case schemeRocksDB:
		of := rates.LineRates(x.empty.k)
		s.rows, s.words, s.chance = 512, 1, func(set uint64) float64 { return of[set] }
	case schemeParquet:
		s.rows, s.words, s.chance = 32, splitProbes, func(set uint64) float64 { return float64(set) / 32 }
	default:
		return nil
	}
	return s
}

// add counts a row.
func (s *lineSpread) add(row []uint64) {
	if s == nil {
		return
	}
	s.line.add(row)
	if s.seen++; s.seen%s.rows != 0 {
		return
	}
	word := s.seen / s.rows % s.words // 0 for the last of a block
	for i := range s.sums {
		chance := s.chance(s.line.of(i))
		if s.words == 1 || word == 1 {
			s.products[i] = chance
		} else {
			s.products[i] *= chance
		}
		if word == 0 {
			s.sums[i] += s.products[i]
		}
	}
	s.line.clear()
}

// rate returns the mean over all lines or blocks.
func (s *lineSpread) rate(filter int) float64 {
	return s.sums[filter] / float64(s.seen/(s.rows*s.words))
}

// tally counts for each column the rows in which its bit is set. planes[i] has bit i of all counts.
type tally struct {
	words  int
	planes [][]uint64
}

// add counts a row. Few rows reach a high plane, so a word takes two planes on average.
func (t *tally) add(row []uint64) {
	for w, carry := range row {
		for i := 0; carry != 0; i++ {
			if i == len(t.planes) {
				t.planes = append(t.planes, make([]uint64, t.words))
			}
			plane := &t.planes[i][w]
			*plane, carry = *plane^carry, *plane&carry
		}
	}
}

// of returns the count of a column.
func (t *tally) of(column int) (n uint64) {
	for i, plane := range t.planes {
		n |= plane[column/64] >> (column % 64) & 1 << i
	}
	return n
}

// clear makes all counts 0.
func (t *tally) clear() {
	for _, plane := range t.planes {
		clear(plane)
	}
}
