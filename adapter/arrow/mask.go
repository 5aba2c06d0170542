package bloomarrow

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// Tester is a filter. A [bloom.Filter], a [bloom.Set] and a [bloom.AtomicSet] are Testers. If a Tester has a
// method KeyKind, like [bloom.Filter.KeyKind], columns must have keys of that kind.
type Tester interface {
	MayContainBatch(keys bloom.Keys, hits []uint64) int
}

// Mask returns a boolean for each row of an array. The boolean is true if the row may be in the filter. It is
// false if the row is null or certainly not in the filter. The memory of the mask comes from mem; release the
// mask after use.
//
// Mask tests each value of a dictionary once, and each run of a run-end encoded array once. The error is
// [ErrType], [ErrArray] or [ErrValue]. If the filter has keys of a different kind than the array ([KeyKind]),
// the error is [bloom.ErrKind].
func Mask(mem memory.Allocator, filter Tester, a arrow.Array) (*array.Boolean, error) {
	return mask(mem, &query{filter: filter}, a)
}

// MaskChunked returns the [Mask] of each chunk. If successive chunks share a dictionary, MaskChunked tests
// the dictionary once.
func MaskChunked(mem memory.Allocator, filter Tester, c *arrow.Chunked) (*arrow.Chunked, error) {
	q := &query{filter: filter}
	masks := make([]arrow.Array, 0, len(c.Chunks()))
	defer func() {
		for _, m := range masks {
			m.Release()
		}
	}()
	for _, chunk := range c.Chunks() {
		m, err := mask(mem, q, chunk)
		if err != nil {
			return nil, err
		}
		masks = append(masks, m)
	}
	return arrow.NewChunked(arrow.FixedWidthTypes.Boolean, masks), nil
}

func mask(mem memory.Allocator, q *query, a arrow.Array) (*array.Boolean, error) {
	s, err := q.start(a)
	if err != nil {
		return nil, err
	}
	buffer := memory.NewResizableBuffer(mem)
	defer buffer.Release()
	hits, err := q.test(s, func(words int) []uint64 {
		buffer.Resize(8 * words)
		return arrow.GetData[uint64](buffer.Bytes())
	})
	if err != nil {
		return nil, err
	}
	littleEndian(hits)
	data := array.NewData(arrow.FixedWidthTypes.Boolean, s.n, []*memory.Buffer{nil, buffer}, nil, 0, 0)
	defer data.Release()
	return array.NewBooleanData(data), nil
}

// Positions returns the numbers of the rows that may be in the filter, in ascending order, for compute.Take.
// The memory of the returned array comes from mem; release the array after use. The error is [ErrType],
// [ErrArray], [ErrValue] or [bloom.ErrKind], as in [Mask].
func Positions(mem memory.Allocator, filter Tester, a arrow.Array) (*array.Uint32, error) {
	q := query{filter: filter}
	hits, total, err := q.rows(a, false, newWords)
	if err != nil {
		return nil, err
	}
	return positions(mem, hits, total), nil
}

// rows returns the rows that are hits, or those that are not, and their number.
func (q *query) rows(a arrow.Array, invert bool, room func(words int) []uint64) (hits []uint64, total int, err error) {
	s, err := q.start(a)
	if err != nil {
		return nil, 0, err
	}
	hits, err = q.test(s, room)
	for i, word := range hits {
		if invert {
			hits[i] = ^word & (^uint64(0) >> (64 - min(64, s.n-64*i)))
		}
		total += bits.OnesCount64(hits[i])
	}
	return hits, total, err
}

// positions returns the numbers of the bits that are set.
func positions(mem memory.Allocator, hits []uint64, total int) *array.Uint32 {
	buffer := memory.NewResizableBuffer(mem)
	defer buffer.Release()
	buffer.Resize(4 * total)
	positions := arrow.GetData[uint32](buffer.Bytes())[:0]
	for i, word := range hits {
		for ; word != 0; word &= word - 1 {
			positions = append(positions, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	data := array.NewData(arrow.PrimitiveTypes.Uint32, total, []*memory.Buffer{nil, buffer}, nil, 0, 0)
	defer data.Release()
	return array.NewUint32Data(data)
}

func newWords(n int) []uint64 { return make([]uint64, n) }

// littleEndian makes words the bytes of a bitmap, in place.
func littleEndian(hits []uint64) {
	if endian.IsBigEndian {
		for i, word := range hits {
			hits[i] = bits.ReverseBytes64(word)
		}
	}
}

// query tests arrays.
type query struct {
	filter Tester
	key    *encodedKey // if it is not nil, the rows are filters

	// The last dictionary that was tested, and its hits. It may be released: only its address counts, which
	// no other dictionary has as long as this one is kept here.
	dictionary arrow.ArrayData
	hits       []uint64
}

// start returns all rows of an array, whose keys must be of the filter's kind.
func (q *query) start(a arrow.Array) (span, error) {
	if err := checkKind(q.filter, a.DataType()); err != nil {
		return span{}, err
	}
	return rowsOf(a)
}

// test returns the hits among the rows, as [Tester] writes them. room gives the memory for them, once the
// buffers of the array are known to have all rows.
func (q *query) test(s span, room func(words int) []uint64) ([]uint64, error) {
	switch t := s.dtype.(type) {
	case *arrow.DictionaryType:
		return q.testDictionary(s, t, room)
	case *arrow.RunEndEncodedType:
		return q.testRuns(s, t, room)
	case *arrow.NullType:
		hits := room(s.words())
		clear(hits)
		return hits, nil
	}
	keys, err := s.keys()
	if err != nil {
		return nil, err
	}
	hits := room(s.words())
	if q.key != nil {
		return hits, q.key.test(s, hits)
	}
	q.filter.MayContainBatch(keys, hits)
	return hits, nil
}

// words returns how many words the bits of the rows take.
func (s span) words() int { return s.n/64 + min(s.n%64, 1) }

// testDictionary tests the values, and then looks up each row.
func (q *query) testDictionary(s span, t *arrow.DictionaryType, room func(words int) []uint64) ([]uint64, error) {
	values, err := dictionaryOf(s, t)
	if err != nil {
		return nil, err
	}
	if q.dictionary != values.data {
		of := query{filter: q.filter, key: q.key}
		found, err := of.test(values, newWords)
		if err != nil {
			return nil, err
		}
		q.dictionary, q.hits = values.data, found
	}
	hits := room(s.words())
	return hits, eachBlock(s, t, values.n, func(block int, indices []int) {
		word := uint64(0)
		for i, value := range indices {
			if value >= 0 {
				word |= q.hits[value/64] >> (value % 64) & 1 << i
			}
		}
		hits[block] = word
	})
}

// testRuns tests the value of each run, and then sets the bits of its rows.
func (q *query) testRuns(s span, t *arrow.RunEndEncodedType, room func(words int) []uint64) ([]uint64, error) {
	values, ends, err := runsOf(s, t)
	if err != nil {
		return nil, err
	}
	found, err := q.test(values, newWords)
	if err != nil {
		return nil, err
	}
	hits := room(s.words())
	clear(hits)
	from := 0
	for i, to := range ends {
		if found[i/64]>>(i%64)&1 != 0 {
			setBits(hits, from, to)
		}
		from = to
	}
	return hits, nil
}

// setBits sets bits from to to-1.
func setBits(hits []uint64, from, to int) {
	for from < to {
		n := min(64-from%64, to-from)
		hits[from/64] |= ^uint64(0) >> (64 - n) << (from % 64)
		from += n
	}
}

// MaskFilters looks up one key in many filters. The rows of the array are encoded filters of the given
// format. MaskFilters returns a boolean for each row. The boolean is true if the filter may contain the key
// with the hash h. As in [bloom.Format.MayContainHash], it is also true if the row is not a filter. For a
// null row, the boolean is false. The memory of the mask comes from mem; release the mask after use.
//
// The rows can have any string or binary type, including large types, views and types of fixed size. They can
// also be stored in a dictionary, or as a run-end encoded array. For other types, the error is [ErrType], and
// for a malformed array, it is [ErrArray]. Like MayContainHash, MaskFilters panics if h comes from a format
// with a different hash function.
func MaskFilters(mem memory.Allocator, format bloom.Format, h bloom.Hash, filters arrow.Array) (*array.Boolean, error) {
	if t := valueType(filters.DataType()); !isBinary(t) {
		return nil, fmt.Errorf("%w: %v has no encoded filters", ErrType, filters.DataType())
	}
	format.MayContainHash(nil, h) // an array without rows panics, too, if the format has a different hash
	return mask(mem, &query{key: &encodedKey{format, h}}, filters)
}

// encodedKey is a key that is looked up in encoded filters.
type encodedKey struct {
	format bloom.Format
	hash   bloom.Hash
}

// test sets the bits of the rows whose filters may have the key. The rows are within their buffers.
func (k *encodedKey) test(s span, hits []uint64) error {
	row, err := s.binary()
	if err != nil {
		return err
	}
	bitmap, offset, err := s.nulls()
	if err != nil {
		return err
	}
	clear(hits)
	for i := range s.n {
		if (bitmap == nil || bitutil.BitIsSet(bitmap, offset+i)) && k.format.MayContainHash(row(i), k.hash) {
			hits[i/64] |= 1 << (i % 64)
		}
	}
	return nil
}

// binary returns what returns the bytes of a row of an array of bytes, which has proved to be well-formed. It copies none.
func (s span) binary() (func(row int) []byte, error) {
	if s.n == 0 {
		return nil, nil
	}
	switch t := s.dtype.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return between[int32](s)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return between[int64](s)
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth == 0 { // there may be no buffer
			return func(int) []byte { return nil }, nil
		}
		data, err := s.fixed(t.ByteWidth)
		return func(row int) []byte { return data[row*t.ByteWidth:][:t.ByteWidth] }, err
	}
	headers, err := s.fixed(arrow.ViewHeaderSizeBytes)
	views := arrow.GetData[arrow.ViewHeader](headers)
	return func(row int) []byte {
		if v := &views[row]; !v.IsInline() {
			return s.bytes(2 + int(v.BufferIndex()))[v.BufferOffset():][:v.Len()]
		}
		return views[row].InlineBytes()
	}, err
}

// between is binary for rows between offsets.
func between[E int32 | int64](s span) (func(row int) []byte, error) {
	data := s.bytes(2)
	s.n++
	offsets, err := elements[E](s)
	return func(row int) []byte { return data[offsets[row]:offsets[row+1]] }, err
}

// isBinary reports whether values of a type that valueType returns are bytes.
func isBinary(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.BINARY, arrow.STRING, arrow.LARGE_BINARY, arrow.LARGE_STRING, arrow.BINARY_VIEW, arrow.STRING_VIEW, arrow.FIXED_SIZE_BINARY,
		arrow.EXTENSION, arrow.NULL: // a UUID is the only extension
		return true
	}
	return false
}
