package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Stats describes what an encoded filter holds.
type Stats struct {
	Bits    uint64 // length of the bit array
	SetBits uint64 // how many of its bits are set
	Probes  int    // bits tested for a key; 0 if the filter answers without

	// Keys estimates, to some 5 %, how many different keys are in the filter:
	// infinite if it may hold every key.
	Keys float64

	// FalsePositiveRate is the share, 0 to 1, of 2^20 random hashes to which
	// the filter answers yes. For a rate of 1 % its error is 1 % of that.
	FalsePositiveRate float64
}

// Fill returns the share, 0 to 1, of the bits that are set.
func (s Stats) Fill() float64 { return float64(s.SetBits) / float64(max(s.Bits, 1)) }

// Stats reads the whole filter and tests a million hashes, which takes some
// milliseconds at least.
func (v *view) Stats() Stats {
	array, n, k := v.encoded()
	s := Stats{
		Bits:              n,
		SetBits:           onesCount(array),
		Probes:            k,
		FalsePositiveRate: v.falsePositiveRate(),
	}
	switch {
	case n == 0:
		s.Probes = 0
	case k == 0:
		s.Keys = math.Inf(1)
	case v.isWide():
		s.Keys = keysOf(s.SetBits, n, k, setBits)
	default:
		s.Keys = keysOf(s.SetBits, 8*uint64(v.size), k, setBitsLevelDB)
	}
	return s
}

// encoded returns the bit array in the encoding, the number of its bits, and that
// of probes: 0 if the filter answers without.
func (v *view) encoded() (array []byte, n uint64, k int) {
	if v.isWide() {
		array, n, k, _ = arrayNori(v.format, v.data) // no error when it was opened
		return array, n, k
	}
	if len(v.data) < 2 {
		return nil, 0, 0
	}
	last := len(v.data) - 1
	if k = int(v.data[last]); k > maxProbes {
		k = 0
	}
	return v.data[:last], 8 * uint64(last), k
}

// setBits returns how many of m bits n different keys are expected to set with k
// independent probes each.
func setBits(n, m float64, k int) float64 { return -m * math.Expm1(-float64(k)*n/m) }

// keysOf returns the number of keys that are expected to set as many of m bits as
// are set: infinite if all are.
func keysOf(set, m uint64, k int, setBits func(n, m float64, k int) float64) float64 {
	if set >= m {
		return math.Inf(1)
	}
	low, high := 0.0, float64(m)*math.Log(float64(m))
	for range 64 {
		n := (low + high) / 2
		if setBits(n, float64(m), k) < float64(set) {
			low = n
		} else {
			high = n
		}
	}
	return high
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

// falsePositiveRate tests random hashes, the same at every call.
func (v *view) falsePositiveRate() float64 {
	const samples = 1 << 20
	random := rand.NewPCG(0, 0)
	var narrow [window]uint32
	var h1, h2 [window]uint64
	var starts, steps [window]uint32
	var hits [window / 64]uint64
	h := hashes{narrow: narrow[:]}
	if v.isWide() {
		h = hashes{h1: h1[:], h2: h2[:], starts: starts[:], steps: steps[:]}
	}
	yes := 0
	for range samples / window {
		for i := range window {
			h1[i] = random.Uint64()
			narrow[i] = uint32(h1[i])
			if v.isWide() {
				h2[i] = random.Uint64()
			}
		}
		v.testHashes(v.kernel, &h, hits[:], false)
		for _, word := range hits {
			yes += bits.OnesCount64(word)
		}
	}
	return float64(yes) / samples
}
