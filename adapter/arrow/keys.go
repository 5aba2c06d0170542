package bloomarrow

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/lanebloom/bloom"
)

// Keys returns an array as a column of keys, including null rows. The column refers to the memory of the
// array, so do not release the array while the column is in use.
//
// Keys returns [ErrType] for dictionaries and run-end encoded arrays, because their rows are not stored as
// keys in memory. [Mask], [Positions] and [Add] accept these arrays. If an array has more than 2^20 rows, and
// its type is null or has a fixed width of 0 bytes, the error is [ErrArray].
func Keys(a arrow.Array) (bloom.Keys, error) {
	s, err := rowsOf(a)
	if err != nil {
		return bloom.Keys{}, err
	}
	return s.keys()
}

// keys is Keys.
func (s span) keys() (bloom.Keys, error) {
	keys, err := s.values()
	if err != nil {
		return bloom.Keys{}, err
	}
	bitmap, offset, err := s.nulls()
	if bitmap == nil || err != nil {
		return keys, err
	}
	return column(keys.WithValidity(bitmap, offset))
}

// column makes a malformed column a malformed array.
func column(keys bloom.Keys, err error) (bloom.Keys, error) {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrArray, err)
	}
	return keys, err
}

// values returns the rows as a column without null rows: it is the table of types.
func (s span) values() (bloom.Keys, error) {
	switch t := s.dtype.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return strings(s, bloom.Offsets[int32])
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return strings(s, bloom.Offsets[int64])
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return s.views()
	case *arrow.FixedSizeBinaryType:
		return s.fixedSize(t.ByteWidth)

	case *arrow.Int32Type, *arrow.Uint32Type, *arrow.Float32Type, *arrow.Date32Type:
		return integers(s, bloom.Integers[uint32])
	case *arrow.Int64Type, *arrow.Uint64Type, *arrow.Float64Type, *arrow.Time64Type, *arrow.DurationType:
		return integers(s, bloom.Integers[uint64])
	case *arrow.Float16Type:
		return integers(s, bloom.Integers[uint16])
	case *arrow.Time32Type:
		if t.Unit == arrow.Second {
			return converted(s, bloom.Integers[int32], func(seconds int32) (int32, bool) {
				return 1000 * seconds, seconds == 1000*seconds/1000
			})
		}
		return integers(s, bloom.Integers[uint32])
	case *arrow.TimestampType:
		if t.Unit == arrow.Second {
			return converted(s, bloom.Integers[int64], func(seconds int64) (int64, bool) {
				return 1000 * seconds, seconds == 1000*seconds/1000
			})
		}
		return integers(s, bloom.Integers[uint64])

	case *arrow.Int8Type:
		return widened[int8](s)
	case *arrow.Uint8Type:
		return widened[uint8](s)
	case *arrow.Int16Type:
		return widened[int16](s)
	case *arrow.Uint16Type:
		return widened[uint16](s)
	case *arrow.Date64Type:
		const day = 24 * 60 * 60 * 1000
		return converted(s, bloom.Integers[int32], func(milliseconds int64) (int32, bool) {
			days := int32(milliseconds / day)
			return days, milliseconds == day*int64(days)
		})

	case *arrow.Decimal32Type:
		return decimals(s, t, func(b []byte, v decimal.Decimal32) { binary.BigEndian.PutUint32(b, uint32(v)) })
	case *arrow.Decimal64Type:
		return decimals(s, t, func(b []byte, v decimal.Decimal64) { binary.BigEndian.PutUint64(b, uint64(v)) })
	case *arrow.Decimal128Type:
		return decimals(s, t, func(b []byte, v decimal128.Num) {
			binary.BigEndian.PutUint64(b, uint64(v.HighBits()))
			binary.BigEndian.PutUint64(b[8:], v.LowBits())
		})
	case *arrow.Decimal256Type:
		return decimals(s, t, func(b []byte, v decimal256.Num) {
			for i, word := range v.Array() {
				binary.BigEndian.PutUint64(b[8*(3-i):], word)
			}
		})

	case *arrow.BooleanType:
		return s.booleans()
	case *arrow.NullType:
		keys, err := s.empty()
		if err == nil {
			keys, err = keys.WithValidity(make([]byte, (s.n+7)/8), 0)
		}
		return keys, err
	case *arrow.DictionaryType, *arrow.RunEndEncodedType:
		return bloom.Keys{}, fmt.Errorf("%w: the rows of %v do not lie in memory as keys", ErrType, t)
	}
	return bloom.Keys{}, fmt.Errorf("%w: %v", ErrType, s.dtype)
}

// strings returns rows that lie between offsets. An array without rows may have no buffers.
func strings[E int32 | int64](s span, of func(data []byte, offsets []E) (bloom.Keys, error)) (bloom.Keys, error) {
	if s.n == 0 {
		return bloom.Keys{}, nil
	}
	data := s.bytes(2)
	s.n++
	offsets, err := elements[E](s)
	if err != nil {
		return bloom.Keys{}, err
	}
	return column(of(data, offsets))
}

// views returns rows of views. It needs the bitmap of nulls already, because the view of a null row may be anything.
func (s span) views() (bloom.Keys, error) {
	headers, err := s.fixed(arrow.ViewHeaderSizeBytes)
	if err != nil {
		return bloom.Keys{}, err
	}
	bitmap, offset, err := s.nulls()
	if err != nil {
		return bloom.Keys{}, err
	}
	buffers := make([][]byte, max(0, len(s.data.Buffers())-2))
	for i := range buffers {
		buffers[i] = s.bytes(2 + i)
	}
	return column(bloom.Views(headers, buffers, bitmap, offset))
}

// fixedSize returns rows of a width that may be 0.
func (s span) fixedSize(width int) (bloom.Keys, error) {
	if width == 0 {
		return s.empty()
	}
	data, err := s.fixed(width)
	if err != nil {
		return bloom.Keys{}, err
	}
	return column(bloom.FixedWidth(data, width))
}

// empty returns rows whose keys have no bytes.
func (s span) empty() (bloom.Keys, error) {
	if s.n > mostFreeRows {
		return bloom.Keys{}, fmt.Errorf("%w: %d rows of type %v, which have no bytes", ErrArray, s.n, s.dtype)
	}
	return bloom.Offsets(nil, make([]int32, s.n+1))
}

// integers returns rows whose bytes are their keys.
func integers[E arrow.FixedWidthType](s span, of func([]E) bloom.Keys) (bloom.Keys, error) {
	values, err := elements[E](s)
	if err != nil {
		return bloom.Keys{}, err
	}
	return of(values), nil
}

// widened returns rows whose key is the int32 of their value.
func widened[E int8 | uint8 | int16 | uint16](s span) (bloom.Keys, error) {
	return integers(s, func(values []E) bloom.Keys {
		keys := make([]int32, len(values))
		for i, v := range values {
			keys[i] = int32(v)
		}
		return bloom.Integers(keys)
	})
}

// converted returns rows that have another integer as key. convert says whether a value has one.
func converted[E, K arrow.FixedWidthType](s span, of func([]K) bloom.Keys, convert func(E) (K, bool)) (bloom.Keys, error) {
	values, err := elements[E](s)
	if err != nil {
		return bloom.Keys{}, err
	}
	keys := make([]K, len(values))
	for i, v := range values {
		key, ok := convert(v)
		if !ok {
			if err := s.withoutKey(i, v); err != nil {
				return bloom.Keys{}, err
			}
		}
		keys[i] = key
	}
	return of(keys), nil
}

// withoutKey returns the error of a row whose value has no key. A null row may have any value.
func (s span) withoutKey(row int, value any) error {
	bitmap, offset, err := s.nulls()
	if err != nil || bitmap != nil && !bitutil.BitIsSet(bitmap, offset+row) {
		return err
	}
	return fmt.Errorf("%w: %v in row %d, of type %v", ErrValue, value, row, s.dtype)
}

// decimals returns rows of decimals. put writes all bytes of one in big-endian order.
func decimals[E arrow.FixedWidthType](s span, t arrow.DecimalType, put func(b []byte, v E)) (bloom.Keys, error) {
	whole := t.BitWidth() / 8
	width := decimalWidth(int(t.GetPrecision()))
	if t.GetPrecision() < 1 || width > whole {
		return bloom.Keys{}, fmt.Errorf("%w: %v has no such precision", ErrType, t)
	}
	values, err := elements[E](s)
	if err != nil {
		return bloom.Keys{}, err
	}
	var bytes [32]byte
	keys := make([]byte, 0, width*s.n)
	for i, v := range values {
		put(bytes[:], v)
		key := bytes[whole-width : whole]
		sign := byte(int8(key[0]) >> 7)
		if slices.ContainsFunc(bytes[:whole-width], func(b byte) bool { return b != sign }) {
			if err := s.withoutKey(i, v); err != nil {
				return bloom.Keys{}, err
			}
		}
		keys = append(keys, key...)
	}
	return column(bloom.FixedWidth(keys, width))
}

// booleans returns rows of bits.
func (s span) booleans() (bloom.Keys, error) {
	if err := s.checkBits(); err != nil {
		return bloom.Keys{}, err
	}
	bits, keys := s.bytes(1), make([]byte, s.n)
	for i := range keys {
		if bitutil.BitIsSet(bits, s.offset+i) {
			keys[i] = 1
		}
	}
	return bloom.FixedWidth(keys, 1)
}
