package bloomparquet

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// converted are types whose values are converted into each other. A value of one is equal to one of another if
// they have the same text, but for zeros at the end of a fraction.
var converted = [][]Type{
	{int8s, int32s, int64s, uint16s, uint32s, uint64s, decimals32, decimals64, decimalsX, {Physical: FixedLenByteArray, Width: 3, Logical: Decimal, Precision: 6, Scale: 6}},
	{instants, nanos, {Physical: Int64, Logical: Timestamp, Unit: Micros, UTC: true}},
	{locals, {Physical: Int64, Logical: Timestamp, Unit: Nanos}},
	{times32, times64, {Physical: Int64, Logical: Time, Unit: Micros, UTC: true}},
	{texts, {Physical: ByteArray}, fixed3},
	{floats}, {doubles}, {float16s}, {uuids}, {dates}, {{Physical: Int96}},
}

// TestConverter converts values between all pairs of types. Values are equal if their texts are.
func TestConverter(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 44))
	for i, family := range converted {
		for _, from := range family {
			values := valuesOf(t, random, from)
			for j, others := range converted {
				for _, to := range others {
					convert, err := Converter(to, from)
					if i != j {
						floating := from == floats && to == doubles || from == doubles && to == floats
						if floating != (err == nil) || err != nil && !errors.Is(err, ErrType) {
							t.Errorf("%v to %v: %v", from, to, err)
						}
						continue
					}
					if err != nil {
						t.Fatalf("%v to %v: %v", from, to, err)
					}
					equal := 0
					for _, value := range values {
						got, ok := convert([]byte("before"), value)
						want, err := parseValues(to, [][]byte{[]byte(shortText(from, value))})
						if to == from {
							want, err = [][]byte{value}, nil // some types have no text
						}
						if ok != (err == nil) || ok && !bytes.Equal(got, append([]byte("before"), want[0]...)) {
							t.Fatalf("%v to %v: %s: %x, %v; want %x, %v", from, to, from.Text(value), got, ok, want, err)
						}
						if ok {
							equal++
						}
						if wrong, ok := convert(nil, append(value, 0)); ok && from.width() > 0 {
							t.Fatalf("%v to %v: %d bytes become %x", from, to, len(value)+1, wrong)
						}
					}
					if equal == 0 {
						t.Errorf("%v to %v: no value is equal", from, to)
					}
				}
			}
		}
	}
}

// shortText returns the text of a value: that of a number without zeros at the end of its fraction.
func shortText(typ Type, value []byte) string {
	text := typ.Text(value)
	if typ.isExact() && strings.Contains(text, ".") {
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// valuesOf returns values of a type. Other types have many of them, too.
func valuesOf(t *testing.T, random *rand.Rand, typ Type) (values [][]byte) {
	for range 2000 {
		var value []byte
		switch n := uint64(random.Int64()) >> random.IntN(64); {
		case typ.Logical == Timestamp, typ.Logical == Time:
			// What texts tell: years from 1678 to 2261, and times of a day.
			of := Type{Physical: Int64, Unit: typ.Unit}
			value = of.appendWord(nil, uint64(random.Int64N(86400)*perSecond[typ.Unit]+int64(n)%perSecond[typ.Unit]/1000*1000))
			value = value[:typ.width()]
		case typ.Physical == ByteArray:
			value = []byte("abcdef"[:random.IntN(6)])
		case typ.class() == ofFloats:
			value, _ = appendFloat(nil, &typ, float64(float32(n))/8)
		case typ.Logical == Decimal && random.IntN(3) > 0:
			var why refusal
			if value, why = appendText(nil, &typ, []byte("-0.000900"[random.IntN(2):3+random.IntN(7)])); !why.ok() {
				continue
			}
		case typ.Physical == FixedLenByteArray:
			value = make([]byte, typ.Width)
			for i := range value {
				value[i] = byte(random.Uint32())
			}
			for i := range random.IntN(typ.Width) { // a small number
				value[i] = byte(int8(value[typ.Width-1]) >> 7)
			}
			if typ == float16s {
				value = []byte{0, 0x3c}
			}
		case typ.Physical == Int96:
			value = make([]byte, 12)
		default:
			value = typ.appendWord(nil, n*(1-2*random.Uint64N(2)))
			switch typ.bits() {
			case 8:
				value, _ = appendSigned(nil, &typ, int8(n))
			case 16:
				value, _ = appendUnsigned(nil, &typ, uint16(n))
			}
		}
		if typ.Logical == Decimal { // of no more digits than the type has
			if _, err := parseValues(typ, [][]byte{[]byte(typ.Text(value))}); err != nil {
				continue
			}
		}
		values = append(values, value)
	}
	if len(values) < 100 {
		t.Fatalf("%v: %d values", typ, len(values))
	}
	return values
}

// TestConverterEdges converts what no text tells, and values that no other type has.
func TestConverterEdges(t *testing.T) {
	word := func(x int64) []byte { return int64s.appendWord(nil, uint64(x)) }
	real32 := func(x float32) []byte { b, _ := appendFloat(nil, &floats, x); return b }
	real64 := func(x float64) []byte { b, _ := appendFloat(nil, &doubles, x); return b }
	fixed16 := Type{Physical: FixedLenByteArray, Width: 16}
	id := []byte("0123456789abcdef")
	for _, test := range []struct {
		to, from    Type
		value, want []byte // nil if there is none
	}{
		{floats, doubles, real64(0.5), real32(0.5)}, {floats, doubles, real64(0.1), nil}, {floats, doubles, real64(1e300), nil},
		{floats, doubles, real64(math.Copysign(0, -1)), real32(float32(math.Copysign(0, -1)))}, {floats, doubles, real64(math.Inf(-1)), real32(float32(math.Inf(-1)))},
		{doubles, floats, real32(0.1), real64(float64(float32(0.1)))}, {doubles, floats, real32(0)[:3], nil},
		{nanos, instants, word(math.MaxInt64 / 1_000_000), word(math.MaxInt64 / 1_000_000 * 1_000_000)}, {nanos, instants, word(math.MaxInt64/1_000_000 + 1), nil},
		{nanos, instants, word(math.MinInt64 / 1_000_000), word(math.MinInt64 / 1_000_000 * 1_000_000)}, {nanos, instants, word(math.MinInt64), nil},
		{instants, nanos, word(-1_000_001), nil}, {instants, nanos, word(-1_000_000), word(-1)}, {instants, nanos, nil, nil},
		{times32, times64, word(math.MaxInt64 / 1_000_000 * 1_000_000), nil},
		{uuids, fixed16, id, id}, {fixed16, uuids, id, id}, {uuids, fixed16, id[:15], nil},
		{uint64s, int64s, word(-1), nil}, {int64s, uint64s, word(-1), nil}, {decimals64, uint64s, word(-1), nil},
		{int64s, decimalsX, make([]byte, 8), nil},
	} {
		convert, err := Converter(test.to, test.from)
		if err != nil {
			t.Fatalf("%v to %v: %v", test.from, test.to, err)
		}
		if got, ok := convert(nil, test.value); ok != (test.want != nil) || ok && !bytes.Equal(got, test.want) {
			t.Errorf("%v to %v: %x becomes %x, %v; want %x", test.from, test.to, test.value, got, ok, test.want)
		}
	}
	if convert, err := Converter(floats, doubles); err != nil {
		t.Error(err)
	} else if nan, ok := convert(nil, real64(math.NaN())); !ok || !floats.isUnsure(nan) {
		t.Errorf("NaN becomes %x, %v", nan, ok)
	}
	wide := Type{Physical: FixedLenByteArray, Width: 1 << 30, Logical: Decimal, Precision: 1 << 30, Scale: 1 << 30}
	for _, pair := range [][2]Type{
		{texts, int64s}, {int64s, texts}, {texts, uuids}, {doubles, int64s}, {decimals32, doubles}, {instants, locals}, {dates, locals}, {dates, int32s},
		{int64s, instants}, {int96s, instants}, {intervals, intervals}, {decimalsY, decimalsY}, {decimalsX, decimalsY}, {wide, int64s}, {int64s, wide}, {float16s, floats},
		{Type{Physical: Int64, Logical: Date}, int64s}, {int64s, Type{Physical: Boolean}}, {uuids, texts}, {uuids, fixed3},
	} {
		if _, err := Converter(pair[0], pair[1]); !errors.Is(err, ErrType) {
			t.Errorf("%v to %v: %v", pair[1], pair[0], err)
		}
	}
	for _, test := range []struct {
		typ    Type
		reason string
	}{{wide, "has more than 256 bytes"}, {decimalsY, "may have different bytes"}, {intervals, "may have different bytes"}} {
		if _, err := Converter(test.typ, test.typ); err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%v: %v", test.typ, err)
		}
	}
}
