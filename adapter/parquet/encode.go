package bloomparquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"
)

// The functions of this file append the PLAIN bytes of a value, or say why a column of the type cannot have it.

func appendSigned[I int8 | int16 | int32 | int64 | int](dst []byte, t *Type, v I) ([]byte, refusal) {
	return t.appendInteger(dst, int64(v))
}

func appendUnsigned[I uint8 | uint16 | uint32 | uint64 | uint](dst []byte, t *Type, v I) ([]byte, refusal) {
	x := uint64(v)
	switch unsigned := t.isUnsigned(); {
	case unsigned && x>>1>>(t.bits()-1) != 0:
		return dst, refusal{tooWide, fmt.Sprintf("%d bits", t.bits())}
	case unsigned:
		return t.appendWord(dst, x), refusal{}
	case x > math.MaxInt64:
		return appendBig(dst, t, new(big.Int).SetUint64(x))
	}
	return t.appendInteger(dst, int64(x))
}

// appendInteger appends a number as the column stores it.
func (t *Type) appendInteger(dst []byte, x int64) ([]byte, refusal) {
	switch {
	case t.isUnsigned() && x < 0:
		return dst, refusal{negative, ""}
	case t.isUnsigned():
		return appendUnsigned(dst, t, uint64(x))
	case t.Logical == Decimal:
		return appendBig(dst, t, big.NewInt(x))
	case t.Physical != Int32 && t.Physical != Int64:
		return dst, mistake("the column has no integers")
	}
	if bits := t.bits(); bits < 64 && (x < -1<<(bits-1) || x >= 1<<(bits-1)) {
		return dst, refusal{tooWide, fmt.Sprintf("%d bits", bits)}
	}
	return t.appendWord(dst, uint64(x)), refusal{}
}

// appendBig appends an integer: the unscaled value if the column is of decimals.
func appendBig(dst []byte, t *Type, x *big.Int) ([]byte, refusal) {
	switch {
	case x == nil:
		return dst, mistake("it is nil")
	case t.Logical != Decimal && x.IsInt64():
		return t.appendInteger(dst, x.Int64())
	case t.isUnsigned() && x.IsUint64():
		return appendUnsigned(dst, t, x.Uint64())
	case t.Logical != Decimal:
		return dst, refusal{tooWide, "64 bits"}
	case t.Physical == ByteArray:
		return dst, mistake("a decimal in BYTE_ARRAY may have several encodings, so pass its bytes")
	case t.isWide():
		return dst, mistake(fmt.Sprintf("a decimal of more than %d bytes cannot be passed as a number, so pass its bytes", widestNumber))
	case hasMoreDigits(x, t.Precision):
		return dst, refusal{tooManyDigits, fmt.Sprintf("%d digits", t.Precision)}
	case t.Physical == FixedLenByteArray:
		return appendTwosComplement(dst, x, t.Width)
	}
	if width := t.width(); !x.IsInt64() || width == 4 && x.Int64() != int64(int32(x.Int64())) {
		return dst, refusal{tooWide, fmt.Sprintf("%d bits", 8*width)}
	}
	return t.appendWord(dst, uint64(x.Int64())), refusal{}
}

// hasMoreDigits reports whether a number has more than some decimal digits. The powers of 8 and 16
// tell it of most numbers: they are below and above those of 10.
func hasMoreDigits(x *big.Int, digits int) bool {
	switch n := x.BitLen(); {
	case n <= 3*digits:
		return false
	case n > 4*digits:
		return true
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return x.CmpAbs(power) >= 0
}

// appendTwosComplement appends a big-endian integer of width bytes.
func appendTwosComplement(dst []byte, x *big.Int, width int) ([]byte, refusal) {
	limit := new(big.Int).Lsh(big.NewInt(1), uint(8*width-1))
	if x.Cmp(limit) >= 0 || x.Cmp(new(big.Int).Neg(limit)) < 0 {
		return dst, refusal{tooWide, fmt.Sprintf("%d bytes", width)}
	}
	if x.Sign() < 0 {
		x = new(big.Int).Add(x, limit.Lsh(limit, 1))
	}
	dst = append(dst, make([]byte, width)...)
	x.FillBytes(dst[len(dst)-width:])
	return dst, refusal{}
}

func appendFloat[F float32 | float64](dst []byte, t *Type, v F) ([]byte, refusal) {
	f := t.kind().float
	if f == nil {
		return dst, mistake("the column has no floats")
	}
	value, exact := f.add(dst, float64(v))
	if !exact {
		return dst, refusal{tooWide, fmt.Sprintf("a float of %d bits", 8*t.width())}
	}
	return value, refusal{}
}

func appendString(dst []byte, t *Type, v string) ([]byte, refusal) {
	if t.Physical != ByteArray {
		return dst, mistake("the column has no strings")
	}
	return append(dst, v...), refusal{}
}

// appendPlain appends the bytes of a value.
func appendPlain[B []byte | string](dst []byte, t *Type, v B) ([]byte, refusal) {
	if width := t.width(); width > 0 && len(v) != width {
		return dst, mistake(fmt.Sprintf("it has %d bytes, but the column's values have %d", len(v), width))
	}
	return append(dst, v...), refusal{}
}

func appendPlain16(dst []byte, t *Type, v [16]byte) ([]byte, refusal) {
	if t.Physical != FixedLenByteArray {
		return dst, mistake("the column has no values of 16 bytes")
	}
	return appendPlain(dst, t, v[:])
}

// appendTime appends a date or a timestamp.
func appendTime(dst []byte, t *Type, v time.Time) ([]byte, refusal) {
	if t.Logical == Date || !t.UTC {
		_, offset := v.Zone()
		v = v.Add(time.Duration(offset) * time.Second) // its clock shows UTC then
	}
	const day = 24 * 60 * 60
	seconds, nanos := v.Unix(), int64(v.Nanosecond())
	switch {
	case t.Logical == Date && (seconds%day != 0 || nanos != 0):
		return dst, mistake("it has a time of day, but the column has dates")
	case t.Logical == Date:
		return t.appendInteger(dst, seconds/day)
	case t.Logical != Timestamp:
		return dst, mistake("the column has no timestamps or dates")
	}
	per := perSecond[t.Unit]
	if nanos%(1e9/per) != 0 {
		return dst, refusal{betweenUnits, t.Unit.String()}
	}
	units := nanos / (1e9 / per)
	if seconds < 0 { // the earliest time of 64 bits is less than a second before a whole one that fits
		seconds, units = seconds+1, units-per
	}
	high, low := bits.Mul64(uint64(max(seconds, -seconds)), uint64(per))
	x := seconds*per + units
	if high != 0 || low > math.MaxInt64 || units > 0 && x < units || units < 0 && x > units {
		return dst, refusal{outOfRange, t.Unit.String()}
	}
	return t.appendInteger(dst, x)
}

func appendTimeOfDay(dst []byte, t *Type, v time.Duration) ([]byte, refusal) {
	switch {
	case t.Logical != Time:
		return dst, mistake("the column has no times of day")
	case v < 0 || v > 24*time.Hour:
		return dst, mistake("it is not a time of day")
	case int64(v)%(1e9/perSecond[t.Unit]) != 0:
		return dst, refusal{betweenUnits, t.Unit.String()}
	}
	return t.appendInteger(dst, int64(v)/(1e9/perSecond[t.Unit]))
}

// appendWord appends the low bytes of a word: as many as the physical type has.
func (t *Type) appendWord(dst []byte, word uint64) []byte {
	if t.width() == 4 {
		return binary.LittleEndian.AppendUint32(dst, uint32(word))
	}
	return binary.LittleEndian.AppendUint64(dst, word)
}

// word returns an integer of 4 or 8 bytes.
func (t *Type) word(value []byte) int64 {
	switch {
	case len(value) == 8:
		return int64(binary.LittleEndian.Uint64(value))
	case t.isUnsigned():
		return int64(binary.LittleEndian.Uint32(value))
	}
	return int64(int32(binary.LittleEndian.Uint32(value)))
}

// unscaled returns an integer, or a decimal without its scale, of any width.
func (t *Type) unscaled(value []byte) *big.Int {
	x := new(big.Int)
	switch {
	case t.Physical == FixedLenByteArray || t.Physical == ByteArray:
		if x.SetBytes(value); value[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
		}
	case t.isUnsigned():
		x.SetUint64(uint64(t.word(value)))
	default:
		x.SetInt64(t.word(value))
	}
	return x
}
