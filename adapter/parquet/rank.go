package bloomparquet

import (
	"math"
	"math/bits"
	"strings"
)

// A rank is a 64-bit number that stands for a value when the value is compared with the bounds of a row group.
// A greater value, in the order of its type, never has a smaller rank. Different values may have the same rank.
// So ranks may keep a row group that has none of the keys, but never exclude a row group that has one.

// Some writers write wrong bounds. This package does not use such bounds, whoever wrote the file. The field
// created_by proves little, because the users of both Go libraries may set it, and because other programs copy
// row groups with their bounds. The filters of such files are still used. These are the known faults, with
// files and lines of arrow-go v18.8.0 (in its folder parquet) and parquet-go v0.32.0:
//
//   - Inside a repeated field, arrow-go counts null and empty lists as null values of a batch
//     (file/column_writer_types.gen.go:225, and in the same way for each type). If this number equals the
//     number of values in the batch, arrow-go leaves the batch out (metadata/statistics_types.gen.go:245). So
//     this package uses no bounds of such columns. arrow-go also records wrong numbers of nulls and values
//     for them, which this package does not use either.
//   - arrow-go leaves out the empty values of dictionary arrays (statistics_types.gen.go:2124), and the values
//     of other arrays that are nil slices (1957, 1970). So no minimum excludes the empty key.
//   - arrow-go leaves NaN out of the bounds of floats (statistics_types.gen.go:1048). parquet-go writes a
//     maximum below other values if NaN is in a dictionary. So this package uses no bounds of floats.
//   - parquet-go compares decimals in FIXED_LEN_BYTE_ARRAY as unsigned bytes
//     (type_fixed_len_byte_array.go:32). If the signs of the bounds differ, the minimum is above the maximum,
//     and this package does not use the bounds. If the signs are equal, the order is correct.
//
// This package does not read bounds of pages. arrow-go writes wrong ones for dictionary arrays: it attributes
// all values of a batch to its first page (pqarrow/encode_dict_compute.go:131).

const signBit = 1 << 63

func rankSigned(x int64) uint64 { return uint64(x) ^ signBit }

// rankDecimal is the rank of a big-endian integer of any width. Those beyond 64 bits have the rank of the
// nearest that is not.
func rankDecimal[B []byte | string](b B) uint64 {
	negative := len(b) > 0 && b[0] >= 0x80
	x := int64(0)
	if negative {
		x = -1
	}
	for i := range len(b) {
		if x != x<<8>>8 {
			if negative {
				return rankSigned(math.MinInt64)
			}
			return rankSigned(math.MaxInt64)
		}
		x = x<<8 | int64(b[i])
	}
	return rankSigned(x)
}

// rankBytesOf is the rank of the bytes after a prefix that they have. If fewer than eight bytes are left, pad
// fills them up.
func rankBytesOf[B []byte | string](b B, pad byte) uint64 {
	rank := uint64(0)
	for i := range 8 {
		c := pad
		if i < len(b) {
			c = b[i]
		}
		rank = rank<<8 | uint64(c)
	}
	return rank
}

// rank is the rank of a value of one width.
func (t *Type) rank(order order, value []byte) uint64 {
	switch order {
	case twosComplement:
		return rankDecimal(value)
	case unsignedOrder:
		return uint64(t.word(value))
	}
	return rankSigned(t.word(value))
}

// span is the ranks that the values of a row group may have.
type span struct{ from, to uint64 }

var everything = span{0, math.MaxUint64}

// span returns the ranks between the bounds of a row group, for keys with a common prefix. It
// returns everything if the bounds are of no use: not known, of another size, or the
// wrong way round.
func (t *Type) span(chunk *Chunk, prefix string) span {
	order := t.order()
	switch order {
	case noOrder:
		return everything
	case bytesOrder:
		return bytesSpan(string(chunk.Min), string(chunk.Max), prefix)
	}
	from, ok1 := t.rankBound(order, chunk.Min, everything.from)
	to, ok2 := t.rankBound(order, chunk.Max, everything.to)
	if !ok1 || !ok2 || from > to {
		return everything
	}
	return span{from, to}
}

// rankBound returns the rank of a bound of values of one width, or another one if the bound is
// not known. It returns false for what is no value.
func (t *Type) rankBound(order order, bound []byte, unknown uint64) (rank uint64, ok bool) {
	switch len(bound) {
	case 0:
		return unknown, true
	case t.width():
		return t.rank(order, bound), true
	}
	return 0, false
}

// bytesSpan is span for bytes. Some writers cut long bounds off. A maximum that was cut off
// should have become greater, but is not relied on for that: what begins with it is not above it.
func bytesSpan(low, high, prefix string) span {
	s, nothing := everything, span{1, 0}
	if low != "" && high != "" && low > high && !strings.HasPrefix(low, high) {
		return s
	}
	switch {
	case low == "":
	case strings.HasPrefix(low, prefix):
		s.from = rankBytesOf(low[len(prefix):], 0)
	case low > prefix: // and above all that begins with it
		return nothing
	}
	switch {
	case high == "":
	case strings.HasPrefix(high, prefix):
		s.to = rankBytesOf(high[len(prefix):], 0xff)
	case high < prefix && !strings.HasPrefix(prefix, high):
		return nothing
	}
	return s
}

// holds reports whether a rank is within the span. A rank below from wraps around to a large
// number.
func (s span) holds(rank uint64) bool { return s.from <= s.to && rank-s.from <= s.to-s.from }

// holdsAll returns a bit for each of up to 64 ranks: holds, without a branch for each.
func (s span) holdsAll(ranks []uint64) (word uint64) {
	if s.from > s.to {
		return 0
	}
	for j, rank := range ranks {
		_, outside := bits.Sub64(s.to-s.from, rank-s.from, 0)
		word |= (1 ^ outside) << j
	}
	return word
}
