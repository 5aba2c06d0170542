package bloom

import (
	"encoding/binary"
	"math"

	lanebloom "github.com/lanebloom/bloom"
)

// Locations returns k numbers for a key, one for each probe. In a filter of m bits, these numbers modulo m
// are the positions of the key's bits. So you can look up the Locations of a key in filters of any m.
func Locations(data []byte, k uint) []uint64 {
	h := lanebloom.BitsAndBlooms.Hash(data).Words()
	locations := make([]uint64, k)
	for i := range locations {
		locations[i] = location(&h, uint(i))
	}
	return locations
}

// location returns the number of a probe for a key whose hash has four words.
func location(h *[4]uint64, i uint) uint64 { return h[i%2] + uint64(i)*h[2+(i+i%2)%4/2] }

// TestLocations reports whether the bits of all [Locations] of a key are set.
func (f *BloomFilter) TestLocations(locs []uint64) bool {
	bits := f.bits()
	for _, at := range locs {
		at %= uint64(max(f.m, 1))
		if at >= uint64(f.length) || bits[at/8^7]>>(at%8)&1 == 0 {
			return false
		}
	}
	return true
}

// EstimateParameters returns m and k for a filter that has a false-positive rate of about p with n keys.
func EstimateParameters(n uint, p float64) (m, k uint) {
	if n == 0 {
		return 0, 0
	}
	m = toUint(math.Ceil(-1 * float64(n) * math.Log(p) / math.Pow(math.Log(2), 2)))
	return m, toUint(math.Ceil(math.Log(2) * float64(m) / float64(n)))
}

// toUint returns 0 for what is negative or no number, and the largest uint for what is larger: Go converts such
// numbers as the CPU does.
func toUint(x float64) uint {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxUint:
		return math.MaxUint
	}
	return uint(x)
}

// EstimateFalsePositiveRate measures the false-positive rate of a filter of m bits and k probes with n keys.
// The keys are 4-byte big-endian integers, beginning at 0. EstimateFalsePositiveRate tests the next 100,000
// integers.
func EstimateFalsePositiveRate(m, k, n uint) (fpRate float64) {
	const tests, window = 100_000, 1 << 14
	f := New(m, k)
	for i := uint(0); i < uint(uint32(n)); i += window {
		f.AddBatch(integers(uint32(i), int(min(window, uint(uint32(n))-i))))
	}
	return float64(f.TestBatch(integers(uint32(n)+1, tests), make([]uint64, (tests+63)/64))) / tests
}

// integers returns a column of big-endian integers.
func integers(from uint32, n int) Keys {
	data := make([]byte, 0, 4*n)
	for i := range n {
		data = binary.BigEndian.AppendUint32(data, from+uint32(i))
	}
	keys, err := lanebloom.FixedWidth(data, 4)
	if err != nil {
		panic(err) // not possible: they are whole keys
	}
	return keys
}
