package bloomparquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Converter returns a function that appends the value of the type to that is equal to a value of the type from.
// Both are PLAIN bytes without a length. The function reports false if no value of the type is equal, such as
// 2^40 among integers of 32 bits. So the keys of one column are asked for in a column of another type, and no row is
// found that a comparison of the values would not find.
//
// It converts values of the same [Type.KeyKind], and
//
//   - integers and decimals into each other
//   - FLOAT and DOUBLE into each other
//   - timestamps and times of day between units, but no instants into local times
//   - bytes of any length and of one length into each other, and UUIDs into 16 bytes and back.
//
// All other pairs of types are [ErrType]. So are intervals, and decimals in BYTE_ARRAY or of more than 256
// bytes: equal ones may have different bytes.
func Converter(to, from Type) (convert func(dst, value []byte) (converted []byte, ok bool), err error) {
	for _, t := range []Type{to, from} {
		if err := t.check(); err != nil {
			return nil, err
		}
		if t.Logical == Interval || t.Logical == Decimal && (t.Physical == ByteArray || t.Width > widestNumber) {
			return nil, fmt.Errorf("%w: equal values of %v may have different bytes", ErrType, t)
		}
	}
	c := converter{to, from}
	switch {
	case to == from:
		return c.bytes, nil
	case to.isInteger() && from.isInteger():
		return c.integer, nil
	case to.isNumber() && from.isNumber():
		return c.number, nil
	case to.kin() == from.kin(), to.isBytes() && from.isBytes() && to.Physical != from.Physical, to.isFixed() && from.isFixed() && to.Width == from.Width:
		return c.bytes, nil
	case to.isFloat() && from.isFloat():
		return c.float, nil
	case to.Logical == from.Logical && (to.Logical == Time || to.Logical == Timestamp && to.UTC == from.UTC):
		return c.time, nil
	}
	return nil, fmt.Errorf("%w: the values of %v cannot be converted exactly to %v", ErrType, from, to)
}

func (t Type) isInteger() bool {
	return (t.Physical == Int32 || t.Physical == Int64) && (t.Logical == Plain || t.Logical == Int || t.Logical == Uint)
}

func (t Type) isNumber() bool { return t.isInteger() || t.Logical == Decimal }

func (t Type) isFloat() bool {
	return t.Logical == Plain && (t.Physical == Float || t.Physical == Double)
}

// isBytes reports whether the values are strings, or bytes without a meaning.
func (t Type) isBytes() bool {
	t = t.kin()
	return t.Logical == Plain && (t.Physical == ByteArray || t.Physical == FixedLenByteArray)
}

// isFixed reports whether the values are UUIDs, or bytes without a meaning of one length.
func (t Type) isFixed() bool {
	return t.Physical == FixedLenByteArray && (t.Logical == Plain || t.Logical == UUID)
}

// converter has the functions that [Converter] returns.
type converter struct{ to, from Type }

func (c converter) bytes(dst, value []byte) ([]byte, bool) {
	if width := c.from.width(); width > 0 && len(value) != width {
		return dst, false
	}
	dst, why := appendPlain(dst, &c.to, value)
	return dst, why == ""
}

// word returns an integer of 4 or 8 bytes, with its sign.
func (c converter) word(value []byte) (x int64, ok bool) {
	switch width := c.from.width(); {
	case len(value) != width:
		return 0, false
	case width == 8:
		return int64(binary.LittleEndian.Uint64(value)), true
	case c.from.Logical == Uint:
		return int64(binary.LittleEndian.Uint32(value)), true
	}
	return int64(int32(binary.LittleEndian.Uint32(value))), true
}

func (c converter) integer(dst, value []byte) ([]byte, bool) {
	x, ok := c.word(value)
	if !ok {
		return dst, false
	}
	why := ""
	if c.from.Logical == Uint {
		dst, why = appendUnsigned(dst, &c.to, uint64(x))
	} else {
		dst, why = appendSigned(dst, &c.to, x)
	}
	return dst, why == ""
}

// number converts integers and decimals. The scale of an integer is 0.
func (c converter) number(dst, value []byte) ([]byte, bool) {
	x := new(big.Int)
	if c.from.Physical == FixedLenByteArray {
		if len(value) != c.from.Width {
			return dst, false
		}
		if x.SetBytes(value); value[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
		}
	} else {
		word, ok := c.word(value)
		if !ok {
			return dst, false
		}
		if x.SetInt64(word); c.from.Logical == Uint {
			x.SetUint64(uint64(word))
		}
	}
	more := c.to.Scale - c.from.Scale
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(more, -more))), nil)
	if more >= 0 {
		x.Mul(x, power)
	} else if _, rest := x.QuoRem(x, power, new(big.Int)); rest.Sign() != 0 {
		return dst, false
	}
	dst, why := appendBig(dst, &c.to, x)
	return dst, why == ""
}

func (c converter) float(dst, value []byte) ([]byte, bool) {
	if len(value) != c.from.width() {
		return dst, false
	}
	var x float64
	if c.from.Physical == Float {
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(value)))
	} else {
		x = math.Float64frombits(binary.LittleEndian.Uint64(value))
	}
	dst, why := appendFloat(dst, &c.to, x)
	return dst, why == ""
}

// time converts a number of one unit to one of another.
func (c converter) time(dst, value []byte) ([]byte, bool) {
	x, ok := c.word(value)
	if !ok {
		return dst, false
	}
	to, from := perSecond[c.to.Unit], perSecond[c.from.Unit]
	if to < from {
		if x%(from/to) != 0 {
			return dst, false
		}
		x /= from / to
	} else {
		high, low := bits.Mul64(uint64(max(x, -x)), uint64(to/from))
		if high != 0 || low > math.MaxInt64 {
			return dst, false
		}
		x *= to / from
	}
	dst, why := c.to.appendInteger(dst, x)
	return dst, why == ""
}
