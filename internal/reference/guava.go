package reference

import (
	"encoding/binary"
	"math"
)

// Guava is mightContain of com.google.common.hash.BloomFilter for the bytes that a Funnel puts. For bytes that are not a
// filter, the answer is yes.
func Guava(filter, key []byte) bool {
	if len(filter) < 6 {
		return true
	}
	strategy, k, longs := int8(filter[0]), filter[1], int64(int32(binary.BigEndian.Uint32(filter[2:])))
	words := filter[6:]
	if strategy != 1 || k < 1 || longs < 1 || longs > int64(len(words)/8) {
		return true
	}
	hash1, hash2 := Murmur3(key)
	combined := hash1
	for range k {
		b := int64(combined&math.MaxInt64) % (64 * longs)
		if binary.BigEndian.Uint64(words[b/64*8:])>>(b%64)&1 == 0 {
			return false
		}
		combined += hash2
	}
	return true
}

// ExplainGuava explains Guava.
func ExplainGuava(filter, key []byte) Explanation {
	h1, h2 := Murmur3(key)
	e := Explanation{
		Numbers: []Step{
			{"hash", "first word of murmur3_x64_128 of the key", h1, 64},
			{"delta", "its second word", h2, 64},
		},
		Rule: "(hash + i·delta) mod 2^63 mod the number of bits, XOR 56 because words are big-endian",
	}
	if len(filter) < 6 {
		return e
	}
	longs := uint64(binary.BigEndian.Uint32(filter[2:]))
	for i := range uint64(filter[1]) {
		e.Positions = append(e.Positions, (h1+i*h2)&math.MaxInt64%(64*longs)^56)
	}
	return e
}
