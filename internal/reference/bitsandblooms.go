package reference

import "encoding/binary"

// BitsAndBlooms is Test of github.com/bits-and-blooms/bloom. For bytes that are not a filter, the answer is yes.
func BitsAndBlooms(filter, key []byte) bool {
	if len(filter) < 24 {
		return true
	}
	m, k, length := binary.BigEndian.Uint64(filter), binary.BigEndian.Uint64(filter[8:]), binary.BigEndian.Uint64(filter[16:])
	words := filter[24:]
	if m == 0 || k > 4096 || length/64+min(length%64, 1) > uint64(len(words))/8 { // 4,096 is this library's limit
		return true
	}
	h := Murmur3x2(key)
	for i := range k {
		if b := Location(h, i) % m; b >= length || binary.BigEndian.Uint64(words[b/64*8:])>>(b%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Location is location of bits-and-blooms.
func Location(h [4]uint64, i uint64) uint64 { return h[i%2] + i*h[2+(i+i%2)%4/2] }

// ExplainBitsAndBlooms explains BitsAndBlooms. It has no bits that are not stored.
func ExplainBitsAndBlooms(filter, key []byte) Explanation {
	h := Murmur3x2(key)
	e := Explanation{
		Numbers: []Step{
			{"hash", "first word of murmur3_x64_128 of the key", h[0], 64},
			{"hash2", "its second word", h[1], 64},
			{"step", "first word of murmur3_x64_128 of the key and a byte 1", h[2], 64},
			{"step2", "its second word", h[3], 64},
		},
		Rule: "((hash, or hash2 if i is odd) + i·(step, or step2 if i mod 4 is 1 or 2)) mod 2^64 mod the number of bits, XOR 56 because words are big-endian",
	}
	if len(filter) < 24 {
		return e
	}
	m, k, length := binary.BigEndian.Uint64(filter), binary.BigEndian.Uint64(filter[8:]), binary.BigEndian.Uint64(filter[16:])
	for i := range k {
		if b := Location(h, i) % m; b < length {
			e.Positions = append(e.Positions, b^56)
		}
	}
	return e
}
