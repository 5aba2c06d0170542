package encoding

import (
	"encoding/binary"
	"math"
)

// bitsAndBlooms is what WriteTo, MarshalBinary and GobEncode of github.com/bits-and-blooms/bloom write. All numbers are
// big-endian:
//
//	m       uint64, the number of bits that the hashes reach, at least 1
//	k       uint64, the number of probes
//	length  uint64, the number of bits that are stored
//	words   ceil(length / 64) uint64; bit b is bit b%64, least significant first, of word b/64
//
// So bit b of a filter is bit b ^ 56 of the bytes after the header.
//
// m and length are equal, except in filters of FromWithM, whose length is a multiple of 64. If length is smaller, the bits from it
// on count as 0. Bytes after the words are ignored.
//
// It has bitsPerKey bits for each key, at least 1, and ceil(ln 2 · bitsPerKey) probes, as New(m, k) with the k of
// EstimateParameters. A filter of no keys has no bits, and an m of 1.
var bitsAndBlooms = row{
	text: "bits-and-blooms", before: HeaderBitsAndBlooms, leastPerKey: 1,
	probes: func(bitsPerKey int) int {
		return int(min(math.Ceil(math.Ln2*float64(bitsPerKey)), MaxProbesBitsAndBlooms))
	},
	bits: func(n, bitsPerKey float64) float64 { return n * bitsPerKey },
	most: 8 * MostBytes,
}

// HeaderBitsAndBlooms is the number of bytes before the words.
const HeaderBitsAndBlooms = 24

// MaxProbesBitsAndBlooms is the most probes that this library takes. The writer has no limit, but the smallest rate of a
// float64 takes 1,075.
const MaxProbesBitsAndBlooms = 4096

func putBitsAndBlooms(encoded []byte, s Shape) {
	resizeBitsAndBlooms(encoded, s.Bits)
	binary.BigEndian.PutUint64(encoded[8:], uint64(s.Probes))
}

func resizeBitsAndBlooms(encoded []byte, bits uint64) {
	binary.BigEndian.PutUint64(encoded, max(bits, 1))
	binary.BigEndian.PutUint64(encoded[16:], bits)
}

// BitsAndBloomsHeader returns what the header says, and false if the bytes are not a filter.
func BitsAndBloomsHeader(data []byte) (m, k, length uint64, ok bool) {
	if len(data) < HeaderBitsAndBlooms {
		return 0, 0, 0, false
	}
	m, k, length = binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:]), binary.BigEndian.Uint64(data[16:])
	words := length/64 + min(length%64, 1)
	return m, k, length, m > 0 && k <= MaxProbesBitsAndBlooms && words <= uint64(len(data)-HeaderBitsAndBlooms)/8
}

// parseBitsAndBlooms returns the words that the probes reach: none if no bit is stored, so that the filter holds no key.
func parseBitsAndBlooms(data []byte, e *Filter) error {
	m, k, length, ok := BitsAndBloomsHeader(data)
	if !ok {
		return refuseBitsAndBlooms(data)
	}
	e.Probes, e.All = int(k), k == 0
	words := uint64(0)
	if length > 0 {
		words = (min(m, length)-1)/64 + 1
		e.Bits, e.StoresFewer = m, length < m
	}
	e.From, e.To = HeaderBitsAndBlooms, HeaderBitsAndBlooms+int(8*words)
	return nil
}

// refuseBitsAndBlooms returns the error for bytes that BitsAndBloomsHeader refuses.
func refuseBitsAndBlooms(data []byte) error {
	m, k, length, _ := BitsAndBloomsHeader(data)
	switch {
	case len(data) < HeaderBitsAndBlooms:
		return malformed("%d bytes are shorter than the header of %v", len(data), BitsAndBlooms)
	case m == 0:
		return malformed("the header of %v says 0 bits", BitsAndBlooms)
	case k > MaxProbesBitsAndBlooms:
		return malformed("%d probes in a header of %v, more than %d", k, BitsAndBlooms, MaxProbesBitsAndBlooms)
	}
	return malformed("the header of %v says that %d bits are stored, but only %d bytes follow", BitsAndBlooms, length, len(data)-HeaderBitsAndBlooms)
}
