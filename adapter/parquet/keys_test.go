package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// The types of the tables below.
var (
	int8s      = Type{Physical: Int32, Logical: Int, Bits: 8}
	int32s     = Type{Physical: Int32}
	int64s     = Type{Physical: Int64}
	uint16s    = Type{Physical: Int32, Logical: Uint, Bits: 16}
	uint32s    = Type{Physical: Int32, Logical: Uint, Bits: 32}
	uint64s    = Type{Physical: Int64, Logical: Uint, Bits: 64}
	float16s   = Type{Physical: FixedLenByteArray, Width: 2, Logical: Float16}
	floats     = Type{Physical: Float}
	doubles    = Type{Physical: Double}
	texts      = Type{Physical: ByteArray, Logical: String}
	fixed3     = Type{Physical: FixedLenByteArray, Width: 3}
	uuids      = Type{Physical: FixedLenByteArray, Width: 16, Logical: UUID}
	dates      = Type{Physical: Int32, Logical: Date}
	times32    = Type{Physical: Int32, Logical: Time, Unit: Millis, UTC: true}
	times64    = Type{Physical: Int64, Logical: Time, Unit: Nanos}
	instants   = Type{Physical: Int64, Logical: Timestamp, Unit: Millis, UTC: true}
	locals     = Type{Physical: Int64, Logical: Timestamp, Unit: Micros}
	nanos      = Type{Physical: Int64, Logical: Timestamp, Unit: Nanos, UTC: true}
	decimals32 = Type{Physical: Int32, Logical: Decimal, Precision: 7, Scale: 2}
	decimals64 = Type{Physical: Int64, Logical: Decimal, Precision: 18, Scale: 0}
	decimalsX  = Type{Physical: FixedLenByteArray, Width: 9, Logical: Decimal, Precision: 20, Scale: 5}
	decimalsY  = Type{Physical: ByteArray, Logical: Decimal, Precision: 20, Scale: 5}
	int96s     = Type{Physical: Int96}
	intervals  = Type{Physical: FixedLenByteArray, Width: 12, Logical: Interval}
)

// parsed are texts and the PLAIN bytes of their values, in hex. A text without bytes is wrong.
var parsed = []struct {
	typ       Type
	text, hex string
}{
	{int8s, "-128", "80ffffff"}, {int8s, "128", ""}, {int8s, "", ""}, {int8s, "1.5", ""}, {int8s, " 1", ""},
	{int32s, "2147483647", "ffffff7f"}, {int32s, "2147483648", ""}, {int32s, "0x10", ""},
	{int64s, "-2", "feffffffffffffff"}, {int64s, "9223372036854775808", ""},
	{uint16s, "65535", "ffff0000"}, {uint16s, "65536", ""}, {uint16s, "-1", ""},
	{uint32s, "4294967295", "ffffffff"}, {uint64s, "18446744073709551615", "ffffffffffffffff"},
	{float16s, "1", "003c"}, {float16s, "-2", "00c0"}, {float16s, "65504", "ff7b"}, {float16s, "65536", ""}, {float16s, "65520", ""},
	{float16s, "5.9604644775390625e-08", "0100"}, {float16s, "6.097555160522461e-05", "ff03"}, {float16s, "6.103515625e-05", "0004"},
	{float16s, "2.98e-08", ""}, {float16s, "-0", "0080"}, {float16s, "inf", "007c"}, {float16s, "0x1p1", ""}, {float16s, "1_0", ""}, {float16s, "0.1", ""}, {float16s, "1.0009765625", "013c"},
	{floats, "0.1", "cdcccc3d"}, {floats, "-inf", "000080ff"}, {floats, "1e39", ""}, {floats, "one", ""}, {floats, "-0", "00000080"},
	{doubles, "0.1", "9a9999999999b93f"}, {doubles, "1e309", ""},
	{texts, "", ""}, {texts, "a b", "612062"}, {Type{Physical: ByteArray}, "\x00\xff", "00ff"},
	{fixed3, "abc", "616263"}, {fixed3, "ab", ""}, {fixed3, "abcd", ""},
	{uuids, "01234567-89ab-cdef-0123-456789ABCDEF", "0123456789abcdef0123456789abcdef"},
	{uuids, "0123456789abcdef0123456789abcde", ""}, {uuids, "01234567-89ab-cdef-0123-456789abcdeg", ""},
	{uuids, "{1234567-89ab-cdef-0123-456789abcdef}", ""}, {uuids, "012345678-9ab-cdef-0123-456789abcdef", ""},
	{dates, "1970-01-02", "01000000"}, {dates, "1969-12-31", "ffffffff"}, {dates, "1970-02-30", ""}, {dates, "1970-1-2", ""},
	{times32, "00:00:01.5", "dc050000"}, {times32, "00:00:01.0005", ""}, {times32, "24:00:00", ""}, {times32, "12:00", ""},
	{times64, "00:00:00.000000001", "0100000000000000"}, {times64, "00:00:01.5Z", ""},
	{times64, "00:00:00.0000000011", ""}, {times64, "00:00:00,1234567890", ""}, {times64, "12:00:00.50000000000000001", ""}, {times32, "00:00:01.500000000", "dc050000"},
	{instants, "1970-01-01T00:00:01Z", "e803000000000000"}, {instants, "1970-01-01 00:00:01", "e803000000000000"},
	{instants, "1970-01-01T01:00:01.001+01:00", "e903000000000000"}, {instants, "1969-12-31 23:59:59.999", "ffffffffffffffff"},
	{instants, "1970-01-01 01:00:01+01:00", "e803000000000000"}, {instants, "1970-01-01 00:00:01.5+00", "dc05000000000000"},
	{instants, "1970-01-01T01:00:01+0100", "e803000000000000"}, {instants, "1970-01-01 00:00:01.5 UTC", "dc05000000000000"}, {instants, "1970-01-01 00:00:01 CET", ""},
	{instants, "1970-01-01T00:00:00.0001Z", ""}, {instants, "1970-01-01", ""}, {instants, "1000", ""},
	{locals, "1970-01-01T00:00:01.000001", "41420f0000000000"}, {locals, "1970-01-01T00:00:01Z", ""}, {locals, "1970-01-01 00:00:01 UTC", ""},
	{nanos, "1970-01-01T00:00:00.1234567891", ""}, {nanos, "1970-01-01T00:00:00.1234567891+01:00", ""}, {nanos, "1970-01-01 00:00:00,0000000000Z", ""}, {locals, "1970-01-01T00:00:01.00000000000001", ""},
	{nanos, "1970-01-01T00:00:00.123456789", "15cd5b0700000000"}, {nanos, "1970-01-01T00:00:00.000000001", "0100000000000000"}, {nanos, "2300-01-01T00:00:00", ""}, {nanos, "1600-01-01T00:00:00", ""},
	{decimals32, "12.5", "e2040000"}, {decimals32, "-12.50", "1efbffff"}, {decimals32, "12.500", "e2040000"}, {decimals32, ".5", "32000000"},
	{decimals32, "12.505", ""}, {decimals32, "100000", ""}, {decimals32, "99999.99", "7f969800"}, {decimals32, "1e3", ""}, {decimals32, ".", ""},
	{decimals32, "--1", ""}, {decimals32, "+1", "64000000"}, {decimals32, "1.2.3", ""}, {decimals32, "-0.00", "00000000"}, {decimals32, "007", "bc020000"},
	{decimals64, "999999999999999999", "ffff63a7b3b6e00d"}, {decimals64, "1000000000000000000", ""},
	{decimalsX, "1", "0000000000000186a0"}, {decimalsX, "-0.00001", "ffffffffffffffffff"},
	{decimalsX, "999999999999999.99999", "056bc75e2d630fffff"}, {decimalsX, "1000000000000000", ""},
}

// TestExamples wants the example in an error to be a text that the type takes.
func TestExamples(t *testing.T) {
	example := regexp.MustCompile(`such as (\S+)$`)
	found := 0
	types := []Type{int8s, uint64s, floats, uuids, dates, times32, times64, instants, locals, nanos, decimals32, decimals64, decimalsX,
		{Physical: Int32, Logical: Decimal, Precision: 1, Scale: 1}, {Physical: Int32, Logical: Decimal, Precision: 3, Scale: 2}}
	for _, typ := range types {
		_, err := ParseKeys(typ, [][]byte{[]byte("?")})
		var key *KeyError
		if !errors.As(err, &key) {
			t.Fatalf("%v: %v", typ, err)
		}
		if match := example.FindStringSubmatch(key.Why); match != nil {
			found++
			if _, err := ParseKeys(typ, [][]byte{[]byte(match[1])}); err != nil {
				t.Errorf("%v: the example of %q is refused: %v", typ, key.Why, err)
			}
		}
	}
	if found < 12 {
		t.Errorf("%d examples", found)
	}
}

func TestParseKeys(t *testing.T) {
	for _, test := range parsed {
		k, err := ParseKeys(test.typ, [][]byte{[]byte(test.text)})
		if test.hex == "" && test.text != "" {
			var key *KeyError
			if !errors.As(err, &key) || key.Index != 0 || key.Text != test.text {
				t.Errorf("%v, %q: error %v", test.typ, test.text, err)
			}
			continue
		}
		if test.hex == "" && test.typ.Physical != ByteArray {
			if !errors.As(err, new(*KeyError)) {
				t.Errorf("%v, no text: error %v", test.typ, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v, %q: %v", test.typ, test.text, err)
			continue
		}
		checkHash(t, k, 0, test.hex, test.text)
	}
}

// checkHash wants the hash of a key to be that of bytes.
func checkHash(t *testing.T, k *Keys, i int, want string, what any) {
	t.Helper()
	plain, err := hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	// A filter as large as this holds no other key.
	filter := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 1 << 20}.NewFilter(bloom.Bytes([][]byte{plain}))
	if hits := []uint64{0}; filter.MayContainBatch(k.Hashed().Slice(i, i+1), hits) != 1 {
		t.Errorf("%v: %v is not the bytes %s", k.typ, what, want)
	}
}

// TestValues makes keys of Go's values.
func TestValues(t *testing.T) {
	minute := time.FixedZone("", 60)
	check(t, int32s, []int8{-1}, "ffffffff")
	check(t, int32s, []uint8{200}, "c8000000")
	check(t, int32s, []int32{1, -1}, "01000000", "ffffffff")
	check(t, int32s, []int64{1, math.MaxInt32}, "01000000", "ffffff7f")
	check(t, int64s, []int16{-2}, "feffffffffffffff")
	check(t, int64s, []int{5}, "0500000000000000")
	check(t, int64s, []uint64{5}, "0500000000000000")
	check(t, int64s, []uint{5}, "0500000000000000")
	check(t, int64s, []*big.Int{big.NewInt(-5)}, "fbffffffffffffff")
	check(t, uint32s, []uint32{math.MaxUint32}, "ffffffff")
	check(t, uint32s, []int64{math.MaxUint32}, "ffffffff")
	check(t, uint64s, []uint64{math.MaxUint64}, "ffffffffffffffff")
	check(t, uint64s, []*big.Int{new(big.Int).SetUint64(math.MaxUint64)}, "ffffffffffffffff")
	check(t, uint16s, []uint16{math.MaxUint16}, "ffff0000")
	check(t, instants, []int64{1000}, "e803000000000000")
	check(t, floats, []float32{0.1}, "cdcccc3d")
	check(t, floats, []float64{0.5, math.NaN()}, "0000003f", "0000c07f")
	check(t, doubles, []float64{0.1}, "9a9999999999b93f")
	check(t, doubles, []float32{0.5}, "000000000000e03f")
	check(t, float16s, []float32{1}, "003c")
	check(t, texts, []string{"a", "", "bc"}, "61", "", "6263")
	check(t, texts, [][]byte{[]byte("a"), nil}, "61", "")
	check(t, int32s, [][]byte{{1, 2, 3, 4}}, "01020304")
	check(t, int96s, [][]byte{[]byte("abcdefghijkl")}, "6162636465666768696a6b6c")
	check(t, intervals, [][]byte{[]byte("abcdefghijkl")}, "6162636465666768696a6b6c")
	check(t, uuids, [][16]byte{{15: 9}}, "00000000000000000000000000000009")
	check(t, decimals32, []int64{1250}, "e2040000")
	check(t, decimalsX, []int{-1}, "ffffffffffffffffff")
	check(t, decimalsX, []uint64{math.MaxUint64}, "00ffffffffffffffff")
	check(t, decimalsX, []*big.Int{new(big.Int).Exp(big.NewInt(10), big.NewInt(19), nil)}, "008ac7230489e80000")
	check(t, decimalsY, [][]byte{{1}, {0, 1}}, "01", "0001")
	check(t, dates, []time.Time{time.Date(1970, 1, 2, 0, 0, 0, 0, minute)}, "01000000")
	check(t, instants, []time.Time{time.Date(1970, 1, 1, 0, 1, 1, 0, minute)}, "e803000000000000")
	check(t, locals, []time.Time{time.Date(1970, 1, 1, 0, 0, 1, 1000, minute)}, "41420f0000000000")
	check(t, times32, []time.Duration{1500 * time.Millisecond}, "dc050000")

	refuse(t, int8s, []int{1, 128}, 1, "8 bits")
	refuse(t, int32s, []int64{math.MinInt32 - 1}, 0, "32 bits")
	refuse(t, int64s, []uint64{math.MaxInt64 + 1}, 0, "64 bits")
	refuse(t, int64s, []*big.Int{new(big.Int).Lsh(big.NewInt(1), 70)}, 0, "64 bits")
	refuse(t, int64s, []*big.Int{nil}, 0, "nil")
	refuse(t, int64s, []float64{1}, 0, "no floats")
	refuse(t, int64s, []string{"1"}, 0, "no strings")
	refuse(t, int64s, []time.Time{{}}, 0, "no times")
	refuse(t, int64s, []time.Duration{1}, 0, "no times")
	refuse(t, int64s, [][16]byte{{}}, 0, "16 bytes")
	refuse(t, int64s, [][]byte{make([]byte, 8), make([]byte, 4)}, 1, "4 bytes")
	refuse(t, uint32s, []int{-1}, 0, "negative")
	refuse(t, uint16s, []uint32{1 << 16}, 0, "16 bits")
	refuse(t, texts, []int{1}, 0, "no integers")
	refuse(t, floats, []float64{0.1}, 0, "32 bits")
	refuse(t, floats, []float64{1e300}, 0, "32 bits")
	refuse(t, float16s, []float64{0.1}, 0, "16 bits")
	refuse(t, fixed3, [][16]byte{{}}, 0, "16 bytes")
	refuse(t, fixed3, []string{"abc"}, 0, "no strings")
	refuse(t, dates, []time.Time{time.Date(1970, 1, 2, 0, 0, 0, 1, time.UTC)}, 0, "time of day")
	refuse(t, nanos, []time.Time{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}, 0, "range")
	refuse(t, instants, []time.Time{time.Unix(0, 1)}, 0, "MILLIS")
	check(t, nanos, []time.Time{time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64)}, "ffffffffffffff7f", "0000000000000080")
	check(t, instants, []time.Time{time.UnixMilli(math.MaxInt64), time.UnixMilli(math.MinInt64)}, "ffffffffffffff7f", "0000000000000080")
	for _, outside := range []time.Time{time.Unix(0, math.MaxInt64).Add(1), time.Unix(0, math.MinInt64).Add(-1)} {
		refuse(t, nanos, []time.Time{outside}, 0, "range")
	}
	refuse(t, times32, []time.Duration{-1}, 0, "time of day")
	refuse(t, times32, []time.Duration{time.Microsecond}, 0, "MILLIS")
	refuse(t, decimals32, []int64{10000000}, 0, "7 digits")
	refuse(t, decimals64, []*big.Int{new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)}, 0, "18 digits")
	refuse(t, decimalsY, []int64{1}, 0, "encodings")
}

func check[V Value](t *testing.T, typ Type, values []V, want ...string) {
	t.Helper()
	k, err := KeysOf(typ, values)
	if err != nil || k.Len() != len(want) {
		t.Errorf("%v of %v: %v", typ, values, err)
		return
	}
	for i, w := range want {
		checkHash(t, k, i, w, values[i])
	}
}

func refuse[V Value](t *testing.T, typ Type, values []V, index int, why string) {
	t.Helper()
	_, err := KeysOf(typ, values)
	var key *KeyError
	if !errors.As(err, &key) || key.Index != index || !strings.Contains(err.Error(), why) {
		t.Errorf("%v of %v: error %v, want %q", typ, values, err, why)
	}
}

// TestTypes wants an error for types that no value can have, and for those without keys.
func TestTypes(t *testing.T) {
	for _, typ := range []Type{
		{Physical: Boolean},
		{Physical: 8},
		{Physical: Int32, Logical: Other + 1},
		{Physical: Int32, Logical: String},
		{Physical: Int32, Logical: Int, Bits: 64},
		{Physical: Int64, Logical: Uint, Bits: 32},
		{Physical: Float, Logical: Decimal, Precision: 3},
		{Physical: Int32, Logical: Decimal},
		{Physical: Int32, Logical: Decimal, Precision: 2, Scale: 3},
		{Physical: Int64, Logical: Date},
		{Physical: Int32, Logical: Time, Unit: Nanos},
		{Physical: Int64, Logical: Time, Unit: Millis},
		{Physical: Int64, Logical: Timestamp},
		{Physical: Int64, Logical: Timestamp, Unit: 9},
		{Physical: FixedLenByteArray},
		{Physical: FixedLenByteArray, Width: 15, Logical: UUID},
		{Physical: FixedLenByteArray, Width: 4, Logical: Float16},
		{Physical: FixedLenByteArray, Width: 4, Logical: Interval},
	} {
		if _, err := KeysOf(typ, [][]byte{{1}}); !errors.Is(err, ErrType) {
			t.Errorf("%v: keys with error %v", typ, err)
		}
		if _, err := Open(Meta{Type: typ}); !errors.Is(err, ErrType) && typ.Physical != Boolean {
			t.Errorf("%v: a column with error %v", typ, err)
		}
	}
	for _, typ := range []Type{int96s, intervals, decimalsY} {
		if _, err := ParseKeys(typ, [][]byte{[]byte("1")}); !errors.Is(err, ErrType) {
			t.Errorf("%v: text with error %v", typ, err)
		}
	}
}

// FuzzParseKeys wants texts to be keys or typed errors, and a key to be found in its filter.
func FuzzParseKeys(f *testing.F) {
	types := []Type{int8s, int64s, uint16s, uint64s, float16s, floats, doubles, fixed3, uuids, dates, times32, times64, instants, locals, nanos, decimals32, decimals64, decimalsX}
	for _, test := range parsed {
		for i, typ := range types {
			if typ == test.typ {
				f.Add(byte(i), test.text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, i byte, text string) {
		typ := types[int(i)%len(types)]
		k, err := ParseKeys(typ, [][]byte{[]byte(text)})
		if err != nil {
			if !errors.As(err, new(*KeyError)) {
				t.Fatalf("%v, %q: %v", typ, text, err)
			}
			return
		}
		if k.Len() != 1 {
			t.Fatalf("%v, %q: %d keys", typ, text, k.Len())
		}
	})
}

// TestKin tells which columns have the same keys.
func TestKin(t *testing.T) {
	withScale := decimalsX
	withScale.Scale++
	otherPrecision := decimalsX
	otherPrecision.Precision++
	utc := locals
	utc.UTC = true
	for _, test := range []struct {
		a, b Type
		same bool
	}{
		{texts, Type{Physical: ByteArray}, true}, {texts, Type{Physical: ByteArray, Logical: JSON}, true},
		{int8s, int32s, true}, {uint16s, uint32s, true}, {decimalsX, otherPrecision, true},
		{int32s, uint32s, false}, {int32s, int64s, false}, {decimalsX, withScale, false}, {locals, utc, false},
		{nanos, utc, false}, {instants, int64s, false}, {dates, int32s, false}, {times32, int32s, false},
		{fixed3, Type{Physical: FixedLenByteArray, Width: 4}, false}, {texts, fixed3, false}, {texts, decimalsY, false},
		{uuids, Type{Physical: FixedLenByteArray, Width: 16}, false}, {floats, int32s, false},
	} {
		if same := test.a.kin() == test.b.kin(); same != test.same {
			t.Errorf("%v and %v have the same keys: %v, want %v", test.a, test.b, same, test.same)
		}
	}
}

// TestLimits takes decimals of as many digits as parquet-format lets their physical type have, and no
// more.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		typ  Type
		most int
	}{
		{Type{Physical: Int32}, 9}, {Type{Physical: Int64}, 18},
		{Type{Physical: FixedLenByteArray, Width: 1}, 2}, {Type{Physical: FixedLenByteArray, Width: 2}, 4},
		{Type{Physical: FixedLenByteArray, Width: 4}, 9}, {Type{Physical: FixedLenByteArray, Width: 8}, 18},
		{Type{Physical: FixedLenByteArray, Width: 16}, 38}, {Type{Physical: FixedLenByteArray, Width: 32}, 76},
	} {
		typ := test.typ
		typ.Logical = Decimal
		for typ.Precision = range test.most + 1 {
			if err := typ.check(); (err == nil) != (typ.Precision > 0) {
				t.Errorf("%v: %v", typ, err)
			}
		}
		for _, typ.Precision = range []int{test.most, test.most + 1, 1 << 24, math.MaxInt32} {
			if err := typ.check(); (err == nil) != (typ.Precision <= test.most) || err != nil && !errors.Is(err, ErrType) {
				t.Errorf("%v: %v", typ, err)
			}
		}
	}
	ten := big.NewInt(10)
	for width := 1; width < 500; width++ { // floor(log10(2^(8·width−1) − 1))
		limit := new(big.Int).Lsh(big.NewInt(1), uint(8*width-1))
		power := new(big.Int).Exp(ten, big.NewInt(int64(maxDigits(width))), nil)
		if power.Cmp(limit) >= 0 || power.Mul(power, ten).Cmp(limit) < 0 {
			t.Fatalf("%d bytes: %d digits", width, maxDigits(width))
		}
	}
}

// TestHostileTypes makes keys for types that a footer may claim. They take no more memory and time than
// the values, and errors are typed.
func TestHostileTypes(t *testing.T) {
	const width = math.MaxInt32
	digits := strings.Repeat("7", 1<<20)
	readDigits := func() time.Duration { // some ten milliseconds
		start := time.Now()
		new(big.Int).SetString(digits[:1<<16], 10)
		return time.Since(start)
	}
	wide := func(precision, scale int) Type {
		return Type{Physical: FixedLenByteArray, Width: width, Logical: Decimal, Precision: precision, Scale: scale}
	}
	for _, typ := range []Type{
		{Physical: FixedLenByteArray, Width: width}, {Physical: FixedLenByteArray, Width: 1 << 28}, {Physical: FixedLenByteArray, Width: width, Logical: Other},
		wide(5, 2), wide(1<<24, 0), wide(1<<24, 1<<24), wide(math.MaxInt32, 0), wide(math.MaxInt32, math.MaxInt32),
		{Physical: FixedLenByteArray, Width: 1 << 26, Logical: Decimal, Precision: 5, Scale: 2},
		{Physical: FixedLenByteArray, Width: 1000, Logical: Decimal, Precision: 2000, Scale: 2000},
		{Physical: FixedLenByteArray, Width: 16, Logical: Decimal, Precision: 1 << 24, Scale: 1 << 23},
		{Physical: Int32, Logical: Decimal, Precision: math.MaxInt32, Scale: 1 << 22}, {Physical: Int64, Logical: Decimal, Precision: 19},
		{Physical: ByteArray, Logical: Decimal, Precision: math.MaxInt32, Scale: math.MaxInt32},
	} {
		for what, make := range map[string]func() error{
			"bytes":   func() error { _, err := KeysOf(typ, [][]byte{[]byte("a"), []byte("b"), []byte("c")}); return err },
			"no keys": func() error { _, err := KeysOf(typ, [][]byte{}); return err },
			"numbers": func() error { _, err := KeysOf(typ, []int64{1, 2, 3}); return err },
			"large numbers": func() error {
				_, err := KeysOf(typ, []*big.Int{new(big.Int).Lsh(big.NewInt(1), 1<<20), big.NewInt(-1)})
				return err
			},
			"text":      func() error { _, err := ParseKeys(typ, [][]byte{[]byte("1"), []byte("2.5"), []byte("-3")}); return err },
			"long text": func() error { _, err := ParseKeys(typ, [][]byte{[]byte(digits)}); return err },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := make()
			runtime.ReadMemStats(&after)
			if err != nil && !errors.Is(err, ErrType) && !errors.As(err, new(*KeyError)) {
				t.Errorf("%v, %s: untyped error %v", typ, what, err)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32<<20 {
				t.Errorf("%v, %s: %d MiB", typ, what, allocated>>20)
			}
			// The quickest of some runs tells, beside any load.
			quickest, unit := time.Duration(math.MaxInt64), readDigits()
			for range 5 {
				start := time.Now()
				_ = make()
				if quickest = min(quickest, time.Since(start)); quickest <= 100*unit {
					break
				}
				unit = max(unit, readDigits())
			}
			if quickest > 100*unit {
				t.Errorf("%v, %s: it takes %v, where 64 KiB of digits are read in %v", typ, what, quickest, unit)
			}
		}
	}
}

// TestHasMoreDigits compares with powers of ten.
func TestHasMoreDigits(t *testing.T) {
	for digits := 1; digits < 100; digits++ {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
		most := new(big.Int).Sub(power, big.NewInt(1))
		for _, test := range []struct {
			x    *big.Int
			want bool
		}{
			{new(big.Int), false}, {most, false}, {power, true}, {new(big.Int).Neg(most), false}, {new(big.Int).Neg(power), true},
			{new(big.Int).Lsh(power, 1), true}, {new(big.Int).Lsh(power, 1000), true}, {new(big.Int).Rsh(power, 1), false},
			{new(big.Int).Lsh(big.NewInt(1), uint(3*digits)), false}, {new(big.Int).Lsh(big.NewInt(1), uint(4*digits)), true},
		} {
			if got := hasMoreDigits(test.x, digits); got != test.want {
				t.Errorf("%v has more than %d digits: %v", test.x, digits, got)
			}
		}
	}
}

// TestHalves reads the text of every float of 16 bits, and wants its bytes again.
func TestHalves(t *testing.T) {
	half := Type{Physical: FixedLenByteArray, Width: 2, Logical: Float16}
	for bits := range 1 << 16 {
		value := binary.LittleEndian.AppendUint16(nil, uint16(bits))
		text := half.Text(value)
		got, err := parseValues(half, [][]byte{[]byte(text)})
		if isNaN := half.isNaN(value); err != nil || (text == "NaN") != isNaN || !isNaN && !bytes.Equal(got[0], value) {
			t.Fatalf("%x is %s, and that is %x, %v", value, text, got, err)
		}
	}
	for bits, want := range map[uint16]string{0x3e00: "1.5", 0x8000: "-0", 0xfc00: "-Inf", 0x7bff: "65504", 0x0001: "5.960464477539063e-08", 0x2e66: "0.0999755859375"} {
		if got := half.Text(binary.LittleEndian.AppendUint16(nil, bits)); got != want {
			t.Errorf("%x is %s, want %s", bits, got, want)
		}
	}
}

// TestText reads the text of random values, and wants their bytes again.
func TestText(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 6))
	types := []Type{
		{Physical: Int64, Logical: Decimal, Precision: 18, Scale: 18}, {Physical: Int32, Logical: Decimal, Precision: 9},
		{Physical: Int32, Logical: Time, Unit: Millis}, {Physical: Int64, Logical: Time, Unit: Nanos, UTC: true},
		{Physical: Int64, Logical: Timestamp, Unit: Millis}, {Physical: Int64, Logical: Timestamp, Unit: Nanos, UTC: true},
		{Physical: Int32, Logical: Int, Bits: 8}, {Physical: Int32, Logical: Uint, Bits: 16},
	}
	for _, order := range orders {
		types = append(types, order.typ)
	}
	for _, typ := range types {
		texts := 0
		if !typ.hasText() {
			continue
		}
		for range 2000 {
			value := randomValue(random, typ, "")
			if random.IntN(2) == 0 && typ.Physical == Int64 { // a number of some size
				value = binary.LittleEndian.AppendUint64(nil, uint64(random.Int64()>>random.IntN(60)))
			}
			text := typ.Text(value)
			if strings.HasPrefix(text, "0x") {
				if text != "0x"+hex.EncodeToString(value) {
					t.Fatalf("%v %x: %s", typ, value, text)
				}
				continue
			}
			texts++
			got, why := appendText(nil, &typ, []byte(text))
			switch {
			case !why.ok() && (typ.Logical == Decimal || typ.bits() < 32): // bytes that are no value of the type
			case !why.ok():
				t.Fatalf("%v %x: %s: %s", typ, value, text, why)
			case !bytes.Equal(got, value) && text != "NaN":
				t.Fatalf("%v %x: %s is another value", typ, value, text)
			}
		}
		if texts < 100 {
			t.Errorf("%v: %d texts", typ, texts)
		}
	}
	for _, test := range []struct {
		typ   Type
		value string
		want  string
	}{
		{Type{Physical: Int32, Logical: Date}, "\xff\xff\xff\xff", "1969-12-31"},
		{Type{Physical: Int64, Logical: Timestamp, Unit: Micros, UTC: true}, "\xff\xff\xff\xff\xff\xff\xff\xff", "1969-12-31T23:59:59.999999Z"},
		{Type{Physical: Int32, Logical: Decimal, Precision: 5, Scale: 2}, "\xfb\xff\xff\xff", "-0.05"},
		{Type{Physical: FixedLenByteArray, Width: 2, Logical: Decimal, Precision: 4, Scale: 1}, "\xff\x85", "-12.3"},
		{Type{Physical: FixedLenByteArray, Width: 2, Logical: Decimal, Precision: 4, Scale: 1}, "\x80\x00", "-3276.8"}, // a bound need be no value
		{Type{Physical: Int32}, "short", "0x73686f7274"},
		{Type{Physical: ByteArray, Logical: Decimal, Precision: 9, Scale: 2}, "\xff\x38", "-2.00"}, {Type{Physical: ByteArray, Logical: Decimal, Precision: 9, Scale: 2}, "1", "0.49"},
		{Type{Physical: ByteArray, Logical: Decimal, Precision: 9, Scale: 2}, "", "0x"},
		{intervals, "twelve bytes", "0x7477656c7665206279746573"}, // three numbers
	} {
		if got := test.typ.Text([]byte(test.value)); got != test.want {
			t.Errorf("%v %x: %s, want %s", test.typ, test.value, got, test.want)
		}
	}
}

// TestSpellings takes values as other programs write them.
func TestSpellings(t *testing.T) {
	uuid := Type{Physical: FixedLenByteArray, Width: 16, Logical: UUID}
	for _, test := range []struct {
		of         Type
		text, same string // "" is an error
	}{
		{Type{Physical: Int32}, "5.0", "5"}, {Type{Physical: Int64}, "-7.000", "-7"}, {Type{Physical: Int32, Logical: Uint, Bits: 8}, "255.0", "255"},
		{Type{Physical: Int32}, "5.", ""}, {Type{Physical: Int32}, ".0", ""}, {Type{Physical: Int32}, "5.5", ""}, {Type{Physical: Int32}, "5.0.0", ""}, {Type{Physical: Int32}, "5,0", ""},
		{uuid, "0123456789abcdef0123456789ABCDEF", "01234567-89ab-cdef-0123-456789abcdef"}, {uuid, "{01234567-89ab-cdef-0123-456789abcdef}", "01234567-89ab-cdef-0123-456789abcdef"},
		{uuid, "{01234567-89ab-cdef-0123-456789abcdef", ""}, {uuid, "0123456789abcdef0123456789abcde", ""}, {uuid, "", ""}, {uuid, "{}", ""},
	} {
		got, err := parseValues(test.of, [][]byte{[]byte(test.text)})
		if test.same == "" {
			if err == nil {
				t.Errorf("%v: %q is %x", test.of, test.text, got)
			}
			continue
		}
		want, err2 := parseValues(test.of, [][]byte{[]byte(test.same)})
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(got[0], want[0]) {
			t.Errorf("%v: %q is %x, want %x, %v", test.of, test.text, got, want, err)
		}
	}
}

// TestParseSome leaves out the texts of values that a column cannot have, and wants an error of others.
func TestParseSome(t *testing.T) {
	for _, test := range []struct {
		of      Type
		some    string // the texts with a star are left out
		invalid string
	}{
		{Type{Physical: Int32}, "5 4000000000* -1 -2147483649*", "x"},
		{Type{Physical: Int32, Logical: Uint, Bits: 8}, "255 256* 0 -1* -300*", "-0"},
		{Type{Physical: Int32, Logical: Decimal, Precision: 9, Scale: 2}, "1.50 1.505* 12345678* -1234567.89", "1,5"},
		{Type{Physical: Float}, "1e38 1e39* NaN", "one"},
		{Type{Physical: FixedLenByteArray, Width: 2, Logical: Float16}, "0.5 0.1*", "half"},
		{Type{Physical: Int64, Logical: Timestamp, Unit: Millis}, "2024-05-01T12:00:00.001 2024-05-01T12:00:00.0001* 2024-05-01T12:00:00.0000000001*", "2024-05-01T12"},
		{Type{Physical: Int64, Logical: Timestamp, Unit: Nanos}, "2024-05-01T12:00:00.0001 3024-05-01T12:00:00*", "2024-05-32T12:00:00"},
		{Type{Physical: Int32, Logical: Time, Unit: Millis}, "12:00:00.001 12:00:00.0001*", "25:00:00"},
		{Type{Physical: FixedLenByteArray, Width: 3}, "abc", "ab"},
		{Type{Physical: ByteArray}, "a b ", ""},
	} {
		var texts, want [][]byte
		for i, text := range strings.Split(test.some, " ") {
			left, out := strings.CutSuffix(text, "*")
			texts = append(texts, []byte(left))
			if !out {
				want = append(want, fmt.Appendf(nil, "%d %s", i, left))
			}
		}
		values, positions, err := ParseSome(test.of, texts)
		if err != nil || len(values) != len(positions) {
			t.Errorf("%v: %d values, %d positions, %v", test.of, len(values), len(positions), err)
			continue
		}
		var got [][]byte
		for i, at := range positions {
			got = append(got, fmt.Appendf(nil, "%d %s", at, texts[at]))
			if alone, err := parseValues(test.of, texts[at:at+1]); err != nil || !bytes.Equal(alone[0], values[i]) {
				t.Errorf("%v, %s: %x, want %x, %v", test.of, texts[at], values[i], alone, err)
			}
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%v: %s, want %s", test.of, got, want)
		}
		if test.invalid == "" {
			continue
		}
		key := (*KeyError)(nil)
		if _, _, err := ParseSome(test.of, append(texts, []byte(test.invalid))); !errors.As(err, &key) || key.Index != len(texts) {
			t.Errorf("%v, %q: error %v", test.of, test.invalid, err)
		}
	}
}

// parseValues returns the PLAIN bytes of texts.
func parseValues(t Type, texts [][]byte) ([][]byte, error) {
	e, err := parse(t, texts)
	if err != nil {
		return nil, err
	}
	return e.values(len(texts)), nil
}
