// Package bloomarrow tests Apache Arrow columns with the filters of this library, and builds filters from
// columns.
//
// [Mask] reports for each row of an array whether the row may be in a filter. [Positions] returns the numbers
// of the rows that may be in the filter, and [FilterRecordBatch] returns these rows of a record batch. [Add]
// adds the values of arrays to a builder or a set. [Keys] returns an array as a column of keys, for the other
// functions of package bloom.
//
// # Keys
//
// The key of a value is its bytes in Parquet's PLAIN encoding, without the length. So one filter works for
// Arrow arrays, for Parquet columns, and for keys in Go. If Parquet stores an Arrow type as a different type,
// the key is the key of that type:
//
//	Arrow type                                        key
//	(large) string, (large) binary, their views       the bytes
//	fixed_size_binary, uuid                           the bytes
//	int32, uint32, float32, date32, time32[ms]        4 bytes, little-endian
//	int8, uint8, int16, uint16                        the key of the int32
//	date64                                            the key of the int32, in days
//	time32[s]                                         the key of the int32, in milliseconds
//	int64, uint64, float64, time64, duration          8 bytes, little-endian
//	timestamp[ms], timestamp[us], timestamp[ns]       8 bytes, little-endian
//	timestamp[s]                                      the key of the int64, in milliseconds
//	float16                                           2 bytes, little-endian
//	decimal32, decimal64, decimal128, decimal256      two's complement, big-endian, in the fewest
//	                                                  bytes that hold the precision
//	bool                                              a byte, 0 or 1; Parquet has no filters for it
//	null                                              no row has a key
//	dictionary, run-end encoded, extension            the keys of the values or of the storage type
//
// If the Parquet type of the keys cannot represent a value, the error is [ErrValue]. This happens for a
// date64 that is not a whole day, a time or timestamp in seconds that overflows in milliseconds, and a
// decimal with more digits than its precision allows. Null rows may have such values, but a dictionary may
// not.
//
// Equal numbers of different types have different keys, so test an int64 column with a filter of int64 keys.
// A filter can record the kind of its keys ([bloom.Builder.SetKeyKind], [KeyKind]). Testing a column of a
// different kind then returns the error [bloom.ErrKind]. Zero and minus zero are different keys. Lists,
// structs, maps, unions and intervals have no keys, and cause the error [ErrType].
//
// The package copies values only if their bytes in Arrow differ from their keys. This applies to integers of
// 8 and 16 bits, date64, time32[s], timestamp[s], decimals and bool.
//
// # Arrays
//
// An array may be a slice of a larger array, and may have nulls. A null is never in a filter, and adds no
// key. All functions check the offsets, views, indices, run ends and buffer lengths that they use. They
// return [ErrArray] for a malformed array and for an array of more than 2^32 rows. The contents of an array
// must not change during a call.
package bloomarrow

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Functions wrap these errors with details. Test for them with [errors.Is].
var (
	// ErrType means that values of the Arrow type have no keys.
	ErrType = errors.New("bloomarrow: type without keys")
	// ErrArray means that the buffers of an array do not match its type and length.
	ErrArray = errors.New("bloomarrow: malformed array")
	// ErrValue means that the Parquet type of the keys cannot represent a value.
	ErrValue = errors.New("bloomarrow: value without a key")
)

// mostRows is the largest number of rows of an array: positions have 32 bits. A few bytes can
// say that there are far more rows, in the type null and in runs.
const mostRows = math.MaxUint32 + 1

// span is some rows of an array. It keeps a type beside the data, because an extension array shares its data with an array of the
// storage type.
type span struct {
	dtype     arrow.DataType
	data      arrow.ArrayData
	offset, n int // neither is negative, and their sum is less than MaxInt
}

// rowsOf returns all rows of an array.
func rowsOf(a arrow.Array) (span, error) { return spanOf(a.DataType(), a.Data()) }

// spanOf returns all rows of the data of an array.
func spanOf(dtype arrow.DataType, data arrow.ArrayData) (span, error) {
	if d, ok := data.(*array.Data); data == nil || ok && d == nil {
		return span{}, fmt.Errorf("%w: no data of type %v", ErrArray, dtype)
	}
	offset, n := data.Offset(), data.Len()
	if offset < 0 || n < 0 || uint64(n) > mostRows || n >= math.MaxInt-offset {
		return span{}, fmt.Errorf("%w: %d rows at offset %d", ErrArray, n, offset)
	}
	for {
		extension, ok := dtype.(arrow.ExtensionType)
		if !ok {
			return span{dtype, data, offset, n}, nil
		}
		dtype = extension.StorageType()
	}
}

// childOf returns all rows of a child of an array, which must have the type that the type of
// the array tells.
func childOf(dtype arrow.DataType, data arrow.ArrayData) (span, error) {
	s, err := spanOf(dtype, data)
	if err == nil && !arrow.TypeEqual(dtype, data.DataType()) {
		err = fmt.Errorf("%w: values of type %v instead of type %v", ErrArray, data.DataType(), dtype)
	}
	return s, err
}

// mostFreeRows is how many rows of less than a bit of memory each may become keys, or values of other rows.
const mostFreeRows = 1 << 20

// accounted returns an error if an array has many rows that take next to no memory.
func (s span) accounted() error {
	if size := sizeOf(s.data); s.n > mostFreeRows && s.n/8 > size {
		return fmt.Errorf("%w: %d values of type %v in %d bytes", ErrArray, s.n, s.dtype, size)
	}
	return nil
}

// sizeOf returns how many bytes the buffers of an array and of its children have. A dictionary
// does not count: any number of rows can share it.
func sizeOf(data arrow.ArrayData) int {
	n := 0
	for _, buffer := range data.Buffers() {
		if buffer != nil {
			n += buffer.Len()
		}
	}
	for _, child := range data.Children() {
		if d, ok := child.(*array.Data); child != nil && (!ok || d != nil) {
			n += sizeOf(child)
		}
	}
	return n
}

// bytes returns a buffer of the array, or nil if it has none.
func (s span) bytes(buffer int) []byte {
	if buffers := s.data.Buffers(); buffer < len(buffers) && buffers[buffer] != nil {
		return buffers[buffer].Bytes()
	}
	return nil
}

// fixed returns the bytes of rows of a fixed width.
func (s span) fixed(width int) ([]byte, error) {
	if s.n == 0 { // there may be no buffer
		return nil, nil
	}
	data := s.bytes(1)
	if len(data)/width < s.offset+s.n {
		return nil, fmt.Errorf("%w: %d bytes are too few for %d rows of %d bytes", ErrArray, len(data), s.offset+s.n, width)
	}
	return data[s.offset*width : (s.offset+s.n)*width], nil
}

// elements returns the values of rows of a fixed width.
func elements[E arrow.FixedWidthType](s span) ([]E, error) {
	data, err := s.fixed(int(unsafe.Sizeof(*new(E))))
	return arrow.GetData[E](data), err
}

// nulls returns the bitmap whose bits, from offset on, are set for rows that are not null. It
// is nil if there is none. The type null has none, too.
func (s span) nulls() (bitmap []byte, offset int, err error) {
	bitmap = s.bytes(0)
	if len(bitmap) == 0 || s.n == 0 {
		return nil, 0, nil
	}
	if rows := s.offset + s.n; len(bitmap) < rows/8 || len(bitmap) == rows/8 && rows%8 != 0 {
		return nil, 0, fmt.Errorf("%w: a bitmap of %d bytes is too short for %d rows", ErrArray, len(bitmap), rows)
	}
	return bitmap, s.offset, nil
}
