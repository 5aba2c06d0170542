package encoding

import (
	"encoding/binary"
	"math"
)

// guava is what BloomFilter.writeTo of Java's com.google.common.hash writes:
//
//	strategy  int8, 1: MURMUR128_MITZ_64
//	k         uint8, the number of probes, at least 1
//	longs     int32, big-endian: the number of words, at least 1
//	words     int64, big-endian; bit b is bit b%64, least significant first, of word b/64
//
// So bit b of a filter is bit b ^ 56 of the bytes after the header. Bytes after the words are ignored: they are what follows
// the filter in a stream.
//
// It has bitsPerKey bits for each key, at least 1, in whole words, and ln 2 · bitsPerKey probes, rounded.
// create chooses the same for the rate that needs these bits per key.
var guava = row{
	text: "guava", before: HeaderGuava, leastPerKey: 1,
	probes: func(bitsPerKey int) int {
		return int(min(max(math.Round(math.Ln2*float64(bitsPerKey)), 1), MaxProbesGuava))
	},
	bits: bitsGuava,
	most: 64 * min(math.MaxInt32, MostBytes/8),
}

const (
	HeaderGuava    = 6
	MaxProbesGuava = math.MaxUint8

	strategyGuava   = 1
	mostPerKeyGuava = 368 // bits of a key, of a filter with the most probes
)

// bitsGuava gives a filter of no keys room for one, as create does.
func bitsGuava(n, bitsPerKey float64) float64 {
	if n == 0 {
		n, bitsPerKey = 1, min(bitsPerKey, mostPerKeyGuava)
	}
	return roundUp(n*bitsPerKey, 64)
}

func putGuava(encoded []byte, s Shape) {
	encoded[0], encoded[1] = strategyGuava, byte(s.Probes)
	resizeGuava(encoded, s.Bits)
}

func resizeGuava(encoded []byte, bits uint64) {
	binary.BigEndian.PutUint32(encoded[2:], uint32(bits/64))
}

// GuavaHeader returns the numbers of probes and of words, or no words if the bytes are not a filter.
func GuavaHeader(data []byte) (k int, longs uint64) {
	if len(data) < HeaderGuava || data[0] != strategyGuava || data[1] == 0 {
		return 0, 0
	}
	longs = uint64(binary.BigEndian.Uint32(data[2:]))
	if longs > math.MaxInt32 || longs > uint64(len(data)-HeaderGuava)/8 {
		return 0, 0
	}
	return int(data[1]), longs
}

func parseGuava(data []byte, e *Filter) error {
	k, longs := GuavaHeader(data)
	if longs == 0 {
		return refuseGuava(data)
	}
	e.From, e.To = HeaderGuava, HeaderGuava+int(8*longs)
	e.Bits, e.Probes = 64*longs, k
	return nil
}

// refuseGuava returns the error for bytes that GuavaHeader refuses.
func refuseGuava(data []byte) error {
	if len(data) < HeaderGuava {
		return malformed("%d bytes are shorter than the header of %v", len(data), Guava)
	}
	strategy, k, longs := int8(data[0]), data[1], int32(binary.BigEndian.Uint32(data[2:]))
	switch {
	case strategy == 0:
		return malformed("the filter is of Guava's strategy 0, MURMUR128_MITZ_32, which has other bits; %v is strategy 1, MURMUR128_MITZ_64", Guava)
	case strategy != strategyGuava:
		return malformed("the header of %v says strategy %d, which is unknown", Guava, strategy)
	case k == 0:
		return malformed("the header of %v says 0 probes", Guava)
	case longs <= 0:
		return malformed("the header of %v says %d words of bits", Guava, longs)
	}
	return malformed("the header of %v says %d words of bits, but only %d bytes follow", Guava, longs, len(data)-HeaderGuava)
}
