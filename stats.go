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
	s := Stats{FalsePositiveRate: v.falsePositiveRate()}
	if len(v.data) < 2 {
		return s
	}
	last := len(v.data) - 1
	s.Bits = 8 * uint64(last)
	s.SetBits = onesCount(v.data[:last])
	if k := int(v.data[last]); k <= maxProbes {
		s.Probes = k
	}
	s.Keys = math.Inf(1)
	if s.Probes > 0 {
		s.Keys = keysLevelDB(s.SetBits, 8*uint64(v.size), s.Probes)
	}
	return s
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
	var hashes [window]uint32
	var hits [window / 64]uint64
	yes := 0
	for range samples / window {
		for i := range hashes {
			hashes[i] = uint32(random.Uint64())
		}
		v.testBatch(v.kernel, hashes[:], hits[:], false)
		for _, word := range hits {
			yes += bits.OnesCount64(word)
		}
	}
	return float64(yes) / samples
}
