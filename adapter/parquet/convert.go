package bloomparquet

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Converter returns a function that converts a value of one type to the equal value of another type. The
// function appends the converted value to dst. Both values are in PLAIN encoding, without a length prefix.
// If the other type has no equal value, ok is false. For example, no 32-bit integer is equal to 2^40.
//
// Use the function to look up the keys of one column in a column of a different type. The converted keys
// match exactly the rows whose values are equal to the original keys.
//
// Converter supports conversions between types of the same [Type.KeyKind], and the following conversions:
//
//   - between integers and decimals
//   - between FLOAT and DOUBLE
//   - between times of day in different units
//   - between timestamps in different units, but not between UTC and local time
//   - between byte strings of variable length and byte strings of fixed length, and between UUIDs and other
//     byte strings of 16 bytes
//
// For all other pairs of types, the error is [ErrType]. It is also ErrType for intervals and for decimals in
// BYTE_ARRAY, because equal values of these types may have different bytes, and for decimals of more than 256
// bytes.
func Converter(to, from Type) (convert func(dst, value []byte) (converted []byte, ok bool), err error) {
	for _, t := range []Type{to, from} {
		if err := t.check(); err != nil {
			return nil, err
		}
		switch {
		case t.kind().ambiguous:
			return nil, fmt.Errorf("%w: equal values of %v may have different bytes", ErrType, t)
		case t.isWide():
			return nil, fmt.Errorf("%w: %v has more than %d bytes", ErrType, t, widestNumber)
		}
	}
	c := converter{to, from}
	switch a, b := to.class(), from.class(); {
	case to == from:
		return c.bytes, nil
	case a == ofIntegers && b == ofIntegers:
		return c.integer, nil
	case to.isExact() && from.isExact():
		return c.number, nil
	case to.kin() == from.kin(), isBytes(a) && isBytes(b) && to.holds(from):
		return c.bytes, nil
	case a == ofFloats && b == ofFloats:
		return c.float, nil
	case a == ofTimes && b == ofTimes, a == ofTimestamps && b == ofTimestamps && to.UTC == from.UTC:
		return c.time, nil
	}
	return nil, fmt.Errorf("%w: the values of %v cannot be converted exactly to %v", ErrType, from, to)
}

// holds reports whether bytes of one type may be a value of another: of types of any length and of one length
// they may, but no text is a UUID.
func (t *Type) holds(other Type) bool {
	if t.Physical == other.Physical {
		return t.Width == other.Width
	}
	return t.Logical != UUID && other.Logical != UUID
}

// converter has the functions that [Converter] returns.
type converter struct{ to, from Type }

func (c converter) bytes(dst, value []byte) ([]byte, bool) {
	if !c.fits(value) {
		return dst, false
	}
	dst, why := appendPlain(dst, &c.to, value)
	return dst, why.ok()
}

// fits reports whether a value has as many bytes as those of the type.
func (c converter) fits(value []byte) bool {
	width := c.from.width()
	return width == 0 || len(value) == width
}

func (c converter) integer(dst, value []byte) ([]byte, bool) {
	if !c.fits(value) {
		return dst, false
	}
	why := refusal{}
	if x := c.from.word(value); c.from.isUnsigned() {
		dst, why = appendUnsigned(dst, &c.to, uint64(x))
	} else {
		dst, why = appendSigned(dst, &c.to, x)
	}
	return dst, why.ok()
}

// number converts integers and decimals. The scale of an integer is 0.
func (c converter) number(dst, value []byte) ([]byte, bool) {
	if !c.fits(value) {
		return dst, false
	}
	x, more := c.from.unscaled(value), c.to.Scale-c.from.Scale
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(more, -more))), nil)
	if more >= 0 {
		x.Mul(x, power)
	} else if _, rest := x.QuoRem(x, power, new(big.Int)); rest.Sign() != 0 {
		return dst, false
	}
	dst, why := appendBig(dst, &c.to, x)
	return dst, why.ok()
}

func (c converter) float(dst, value []byte) ([]byte, bool) {
	if !c.fits(value) {
		return dst, false
	}
	dst, why := appendFloat(dst, &c.to, c.from.kind().float.number(value))
	return dst, why.ok()
}

// time converts a number of one unit to one of another.
func (c converter) time(dst, value []byte) ([]byte, bool) {
	if !c.fits(value) {
		return dst, false
	}
	x, to, from := c.from.word(value), perSecond[c.to.Unit], perSecond[c.from.Unit]
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
	return dst, why.ok()
}
