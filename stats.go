package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Stats describes an encoded filter.
type Stats struct {
	Bits    uint64 // length of the bit array
	SetBits uint64 // how many of its bits are set
	Probes  int    // bits tested for a key; 0 if the filter answers without testing bits

	// Keys is the estimated number of different keys in the filter, with an error of some
	// 5 %. It is 0 if KeysUnknown is set.
	Keys float64

	// KeysUnknown is set if the bits do not tell the number of keys: all bits are set that keys
	// can set, or the filter answers yes to every key.
	KeysUnknown bool

	// FalsePositiveRate is the share, 0 to 1, of 2^20 random hashes to which the filter
	// answers yes. For a rate of 1 % its relative error is 1 %. A filter of more than 32
	// probes is tested with fewer hashes, so that they make at most 2^25 probes in all. Keys
	// whose hashes are not random can have a higher rate, which MayContainBatch of absent keys tells.
	FalsePositiveRate float64
}

// Stats counts the set bits, estimates from them the number of keys, and measures the
// false-positive rate of random hashes. It reads the whole filter and tests up to 2^20 hashes, with at
// most 2^25 probes in all. That takes some milliseconds.
func (v *view) Stats() Stats {
	_, shape := v.encoded()
	s := Stats{
		Bits:              shape.bits,
		SetBits:           v.setBits(),
		Probes:            shape.probes,
		FalsePositiveRate: v.falsePositiveRate(),
	}
	switch {
	case shape.bits == 0:
		s.Probes = 0
	case shape.probes == 0:
		s.KeysUnknown = true
	default:
		s.Keys, s.KeysUnknown = keysOf(s.SetBits, shape, formats[v.format].encoding)
	}
	return s
}

// setBits returns how many bits are set of those that probes reach. What follows these in their last byte or word is not
// the filter's, but can be set in bytes of another writer.
func (v *view) setBits() uint64 {
	array, shape := v.encoded()
	n, reached, swap := onesCount(array), shape.bits, v.pair.walk().swap()
	if v.storesFewer() {
		reached = (*crossed64)(&v.bitArray).stored()
	}
	for bit := reached; bit < 8*uint64(len(array)); bit++ {
		n -= uint64(array[(bit^swap)/8] >> (bit % 8) & 1)
	}
	return n
}

// BitRange returns where the bits lie in an encoded filter: they are the slice [from:to] of its
// bytes. The format's header is before them, and its trailer after them.
func (f *Filter) BitRange() (from, to int) { return f.bitRange() }

func (v *view) bitRange() (from, to int) {
	bits, _ := v.encoded()
	from = cap(v.data) - cap(bits) // their capacities end at the same byte
	return from, from + len(bits)
}

// encoded returns the bits in the encoding, and their shape.
func (v *view) encoded() ([]byte, shape) {
	bits, s, _ := formats[v.format].parse(v.data) // no error: it was opened
	return bits, s
}

// keysOf returns the number of keys that are expected to set as many bits as are set. It is
// unknown if every bit is set that a key can set.
func keysOf(set uint64, s shape, e encoding) (keys float64, unknown bool) {
	m := float64(s.bits)
	if float64(set) >= e.expectedSet(s, math.Inf(1)) {
		return 0, true
	}
	low, high := 0.0, m*math.Log(m)
	for range 64 + bits.Len64(s.bits) { // until n is exact, however much smaller than high it is
		n := (low + high) / 2
		if e.expectedSet(s, n) < float64(set) {
			low = n
		} else {
			high = n
		}
	}
	return high, false
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

// samples returns the number of random hashes with which Stats tests a filter of k probes, a
// multiple of windowKeys. Their probes have a bound, because the header of a file may claim
// thousands of probes.
func samples(k int) int {
	const mostSamples, mostProbes = 1 << 20, 1 << 25
	return min(mostSamples, mostProbes/k) / windowKeys * windowKeys
}

// falsePositiveRate returns the share of random hashes that pass. The hashes are the same in
// every call.
func (v *view) falsePositiveRate() float64 {
	if v.pair == 0 {
		return 0
	}
	random := rand.NewPCG(0, 0)
	w := takeWindow()
	h := w.hashes(hashKinds[v.pair.hash()].words, windowKeys)
	hits := make([]uint64, h.len()/64)
	yes := 0
	samples := samples(max(v.k, 1))
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
		v.probeHashes(&h, hits, false)
		for _, word := range hits {
			yes += bits.OnesCount64(word)
		}
	}
	w.giveBack()
	return float64(yes) / float64(samples)
}

// Explain returns the steps from key to the bits that the filter tests. It follows the format
// letter by letter, as [Reference] does. To test keys, call MayContain.
func (f *Filter) Explain(key []byte) Explanation {
	of := formats[f.format].explain(f.data, key)
	e := Explanation{Rule: of.Rule, Positions: of.Positions}
	for _, step := range of.Numbers {
		e.Numbers = append(e.Numbers, Step(step))
	}
	return e
}
