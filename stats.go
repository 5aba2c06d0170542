package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/lanebloom/bloom/internal/detect"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/rates"
)

// Stats describes an encoded filter.
type Stats struct {
	Bits    uint64 // length of the bit array
	SetBits uint64 // number of bits that are set
	Probes  int    // number of bits tested for a key; 0 if the filter answers without testing bits

	// Keys is an estimate of the number of different keys in the filter, derived from SetBits. The error of
	// the estimate is about 5 %. Keys is 0 if KeysUnknown is true.
	Keys float64

	// KeysUnknown is true if the number of keys cannot be derived from the bits. This is the case if all bits
	// that keys can set are already set, or if the filter reports every key as a hit without testing bits.
	KeysUnknown bool

	// FalsePositiveRate is the expected false-positive rate, from 0 to 1, for keys with random hashes. In the
	// formats [RocksDB] and [Parquet], it is computed from the number of set bits in each line or block. In
	// the other formats, a formula computes it from the estimated number of keys, except for large LevelDB
	// filters (see below).
	//
	// If a filter has 10,000 keys or more and a rate of 0.1 % or more, FalsePositiveRate is within 5 % of the
	// rate that [Filter.MeasureRate] measures. For a filter of 100 keys, the difference can be 40 %. No
	// formula is accurate for a [LevelDB] filter of 6,000 keys or more, so Stats tests such a filter with 2^17
	// random hashes. The relative error is then 3 % at a rate of 1 %, and 9 % at a rate of 0.1 %. If the
	// hashes of your keys are not random, the rate can be higher. To measure it, call MayContainBatch with
	// keys that are not in the filter.
	FalsePositiveRate float64
}

// Stats counts the set bits and derives the number of keys and the false-positive rate from them. It reads
// the whole filter once, which takes about 0.3 ms for 5 MB.
func (v *view) Stats() Stats {
	if detect.Races {
		v = v.still()
	}
	array, shape := v.encoded()
	s := Stats{Bits: shape.Bits, Probes: shape.Probes}
	switch {
	case shape.Bits == 0:
		return Stats{}
	case shape.Probes == 0:
		s.SetBits, s.KeysUnknown, s.FalsePositiveRate = v.setBits(), true, 1
		return s
	case v.scheme == schemeRocksDB:
		s.SetBits, s.FalsePositiveRate = rates.OfLines(array, shape.Probes)
	case v.scheme == schemeParquet:
		s.SetBits, s.FalsePositiveRate = rates.OfBlocks(array)
	default:
		s.SetBits = v.setBits()
	}
	s.Keys, s.KeysUnknown = v.format.keysOf(s.SetBits, shape)
	switch {
	case v.scheme == schemeRocksDB || v.scheme == schemeParquet:
	case v.format != LevelDB || s.Keys < rates.ThirdProbeKeys:
		s.FalsePositiveRate = v.expectedRate(&s)
	default: // FalsePositiveRate takes up to 0.1 s for these, and its formula is up to 2 times too low
		s.FalsePositiveRate = v.passing(min(1<<17, samples(shape.Probes)))
	}
	return s
}

// expectedRate returns the rate of random hashes of a filter of the shape of v, as its set bits and keys are.
func (v *view) expectedRate(s *Stats) float64 {
	switch {
	case s.KeysUnknown:
		return 1 // all bits are set that keys can set
	case s.SetBits == 0:
		return 0
	}
	n, m := max(s.Keys, 1), float64(s.Bits)
	if v.scheme != schemePebble {
		return v.format.rate(n, m, s.Probes)
	}
	collisions := rates.Collisions(n, v.format.HashBits())
	return collisions + (1-collisions)*rates.PebbleLines(n, m, 512<<(*probes.Pebble)(&v.Array).Doublings(), s.Probes)
}

// setBits returns how many bits are set of those that probes reach. What follows these in their last byte or word is not
// the filter's, but can be set in bytes of another writer.
func (v *view) setBits() uint64 {
	array, shape := v.encoded()
	n, reached, swap := onesCount(array), shape.Bits, v.scheme.swap()
	if v.storesFewer() {
		reached = (*probes.BitsAndBlooms)(&v.Array).Stored()
	}
	for bit := reached; bit < 8*uint64(len(array)); bit++ {
		n -= uint64(array[(bit^swap)/8] >> (bit % 8) & 1)
	}
	return n
}

// BitRange returns the range of the bits in the encoded filter. The bits are in f.Bytes()[from:to]. The range
// does not include the header or the trailer of the format.
func (f *Filter) BitRange() (from, to int) { return f.bitRange() }

// keysOf returns the number of keys that are expected to set as many bits as are set. It is
// unknown if every bit is set that a key can set.
func (f Format) keysOf(set uint64, s shape) (keys float64, unknown bool) {
	expected := func(keys float64) float64 { return formats[f].set(keys, float64(s.Bits), s.Probes) }
	most := expected(math.Inf(1))
	switch {
	case float64(set) >= most:
		return 0, true
	case set == 0:
		return 0, false
	}
	// n keys leave clear some e^(-c·n) of the bits. c is the same for all n, but for LevelDB, where it falls a little.
	clear := math.Log1p(-float64(set) / most)
	keys = -clear * most / float64(s.Probes)
	for range 64 {
		before := keys
		keys *= clear / math.Log1p(-expected(keys)/most)
		if math.Abs(keys-before) <= 1e-12*keys {
			break
		}
	}
	return keys, false
}

func onesCount(data []byte) (n uint64) {
	for ; len(data) >= 8; data = data[8:] {
		n += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(data)))
	}
	for _, b := range data {
		n += uint64(bits.OnesCount8(b))
	}
	return n
}

// samples returns the number of random hashes with which MeasureRate tests a filter of k probes, a
// multiple of windowKeys. Their probes have a bound, because the header of a file may claim
// thousands of probes.
func samples(k int) int {
	const most, mostProbes = 1 << 20, 1 << 25
	return min(most, mostProbes/max(k, 1)) / windowKeys * windowKeys
}

// MeasureRate tests the filter with 2^20 random hashes and returns the fraction of hits, from 0 to 1. Every
// call uses the same hashes. At a rate of 1 %, the relative error is 1 %. A call takes a few milliseconds.
// [Filter.Stats] is faster but less exact. If the filter has more than 32 probes, MeasureRate uses fewer
// hashes, so that it makes at most 2^25 probes in total. If the hashes of your keys are not random, the rate
// can be higher. To measure it, call MayContainBatch with keys that are not in the filter.
func (v *view) MeasureRate() float64 {
	if detect.Races {
		v = v.still()
	}
	return v.passing(samples(v.K))
}

// passing returns the share of hits among random hashes. Their number is a multiple of windowKeys.
func (v *view) passing(samples int) float64 {
	if v.scheme == 0 {
		return 0
	}
	random := rand.NewPCG(0, 0)
	w := takeWindow()
	h := w.hashes(schemes[v.scheme].words, windowKeys)
	hits := make([]uint64, h.len()/64)
	yes := 0
	for range samples / h.len() {
		for i := range h.h32 {
			h.h32[i] = uint32(random.Uint64())
		}
		for i := range h.h1 {
			h.h1[i] = random.Uint64()
			if h.h2 != nil {
				h.h2[i] = random.Uint64()
			}
			if h.h3 != nil {
				h.h3[i], h.h4[i] = random.Uint64(), random.Uint64()
			}
		}
		v.test(&h, hits, false)
		for _, word := range hits {
			yes += bits.OnesCount64(word)
		}
	}
	w.giveBack()
	return float64(yes) / float64(samples)
}

// Explain describes how the filter finds the bits that it tests for key. Like [Reference], Explain follows
// the definition of the format step by step. To test keys, call MayContain instead.
func (f *Filter) Explain(key []byte) Explanation {
	of := formats[f.format].explain(f.still().data, key)
	e := Explanation{Rule: of.Rule, Positions: of.Positions}
	for _, step := range of.Numbers {
		e.Numbers = append(e.Numbers, Step(step))
	}
	return e
}
