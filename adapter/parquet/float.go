package bloomparquet

import (
	"encoding/binary"
	"math"
)

// floatFormat is a format of floating-point numbers.
type floatFormat struct {
	sign, infinity, quiet uint64 // the sign's bit, the bits of infinity, and the bit of a NaN that is quiet
	digits                int    // bits of the numbers whose shortest text is taken
	bits                  func(value []byte) uint64
	number                func(value []byte) float64
	add                   func(dst []byte, x float64) (value []byte, exact bool)
}

var (
	halfFloat = floatFormat{
		1 << 15, 0x7c00, 1 << 9, 64, func(v []byte) uint64 { return uint64(binary.LittleEndian.Uint16(v)) },
		func(v []byte) float64 { return halfValue(binary.LittleEndian.Uint16(v)) },
		func(dst []byte, x float64) ([]byte, bool) {
			half, exact := halfOf(x)
			return binary.LittleEndian.AppendUint16(dst, half), exact
		},
	}
	singleFloat = floatFormat{
		1 << 31, 0x7f800000, 1 << 22, 32, func(v []byte) uint64 { return uint64(binary.LittleEndian.Uint32(v)) },
		func(v []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(v))) },
		func(dst []byte, x float64) ([]byte, bool) {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x))), float64(float32(x)) == x || math.IsNaN(x)
		},
	}
	doubleFloat = floatFormat{
		1 << 63, 0x7ff0 << 48, 1 << 51, 64, binary.LittleEndian.Uint64,
		func(v []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(v)) },
		func(dst []byte, x float64) ([]byte, bool) {
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)), true
		},
	}
)

// halfUnit times a number is the float of 32 bits that has the exponent and the significand of the number's
// float of 16 bits. The biases of the exponents, 127 and 15, differ by 112.
const halfUnit = 0x1p-112

// halfOf returns a float of 16 bits, and whether it is the same number.
func halfOf(x float64) (half uint16, exact bool) {
	sign := uint16(math.Float64bits(x) >> 63 << 15)
	switch {
	case math.IsNaN(x):
		return sign | 0x7e00, true
	case math.IsInf(x, 0):
		return sign | 0x7c00, true
	}
	half = sign | uint16(math.Float32bits(float32(math.Abs(x)*halfUnit))>>13)
	return half, halfValue(half) == x
}

// halfValue returns the number that a float of 16 bits is.
func halfValue(half uint16) float64 {
	magnitude := half & 0x7fff
	x := float64(math.Float32frombits(uint32(magnitude)<<13)) / halfUnit
	switch {
	case magnitude > 0x7c00:
		x = math.NaN()
	case magnitude == 0x7c00:
		x = math.Inf(1)
	}
	if half != magnitude {
		return -x
	}
	return x
}
