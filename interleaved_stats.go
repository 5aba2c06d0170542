package bloom

import (
	"encoding/binary"
	"math/rand/v2"
	"unsafe"
)

// interleavedSamples is the number of random keys with which Stats asks all filters.
const interleavedSamples = 1 << 14

// Stats is [Filter.Stats] of every filter, by one pass over all bits. One that has far fewer bits set than the others wastes its
// part of the memory; one that has far more answers yes too often. The false-positive rates come from 2^14 random keys, the
// same for all filters: at 1 %, the relative error is 8 %. Filters of more than 2,048 probes are asked for fewer.
func (x *Interleaved) Stats() []Stats {
	words := (x.filters + 63) / 64
	set, yes := tally{words: words}, tally{words: words}
	row := make([]uint64, words)
	swap := x.empty.pair.walk().swap()
	for p := range int(x.depth) {
		if uint64(p)^swap >= x.bits {
			continue // the slice fills the last word of 64 bits
		}
		slice := unsafe.Pointer(&x.slices[p*x.stride])
		for i := range row {
			row[i] = load64(slice, 8*i)
		}
		set.add(row)
	}
	if words == 0 {
		return nil
	}
	random, samples := rand.NewPCG(0, 0), min(interleavedSamples, samples(max(x.empty.k, 1)))
	for range samples {
		var key [16]byte
		binary.LittleEndian.PutUint64(key[:], random.Uint64())
		binary.LittleEndian.PutUint64(key[8:], random.Uint64())
		x.and(x.empty.format.Hash(key[:]), row)
		yes.add(row)
	}
	stats := make([]Stats, x.filters)
	for i := range stats {
		s := shape{x.bits, x.empty.k}
		stats[i] = Stats{Bits: x.bits, SetBits: set.of(i), Probes: s.probes, FalsePositiveRate: float64(yes.of(i)) / float64(samples)}
		stats[i].Keys, stats[i].KeysUnknown = keysOf(stats[i].SetBits, s, formats[x.empty.format].encoding)
	}
	return stats
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
