package bloomparquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lanebloom/bloom"
)

var (
	// ErrType says that keys and columns have types that do not go together, or that a
	// column has a type of which there are no filters or no keys.
	ErrType = errors.New("parquet: wrong type of a column")
	// ErrKey says that a value cannot be in a column of the type.
	ErrKey = errors.New("parquet: no value of the column")
)

// KeyError tells which key was wrong. It is an [ErrKey].
type KeyError struct {
	Index int // of the key, from 0
	Text  string
	Type  Type
	Why   string

	outside bool
}

func newKeyError(i int, text string, t Type, why refusal) *KeyError {
	return &KeyError{i, text, t, why.String(), why.outside()}
}

func (e *KeyError) Error() string {
	text := e.Text
	if most := 60; len(text) > most {
		text = text[:most] + "…"
	}
	if !utf8.ValidString(text) {
		return fmt.Sprintf("%v: key %d, %x, for %v: %s", ErrKey, e.Index, text, e.Type, e.Why)
	}
	return fmt.Sprintf("%v: key %d, %q, for %v: %s", ErrKey, e.Index, text, e.Type, e.Why)
}

func (e *KeyError) Unwrap() error { return ErrKey }

// Outside reports whether the key is a value of the kind, but none that a column of the type can have: a number outside of its range, or
// with more digits than it stores, or a time between two of its units. A text of another kind is an error of whoever wrote it.
func (e *KeyError) Outside() bool { return e.outside }

// Keys are values of a column, hashed once. They are tested against any number of columns
// of the same kin: the logical types STRING, ENUM, JSON, BSON and none have the same keys, and so
// have integers of all widths in one physical type. They do not refer to the memory that
// they were made from. Their methods may be called from many goroutines.
type Keys struct {
	typ    Type       // its kin
	hashed bloom.Keys // of the values' PLAIN bytes
	ranks  []uint64   // of the values, if their type has an order
	prefix string     // that all values have, and their ranks do not; of bytes only
	// unsure is the keys that are equal to values of other bytes: both zeros of floats, and
	// NaN. Filters do not exclude them.
	unsure bitmap
	// empty is the empty keys. Bounds do not exclude them: see span.
	empty bitmap
	// sorted returns the ranks of the other keys in order. They are sorted when they are needed first.
	sorted func() []uint64
}

// bitmap has a bit for each key. It is nil if none is set.
type bitmap []uint64

// set sets bit i of n.
func (b *bitmap) set(i, n int) {
	if *b == nil {
		*b = make(bitmap, (n+63)/64)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// word returns word j.
func (b bitmap) word(j int) uint64 {
	if b == nil {
		return 0
	}
	return b[j]
}

// Len returns the number of keys.
func (k *Keys) Len() int { return k.hashed.Len() }

// Hashed returns the hashes of the keys, in order, for filters that are not in files.
func (k *Keys) Hashed() bloom.Keys { return k.hashed }

// Value is what [KeysOf] takes.
type Value interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint |
		float32 | float64 | string | []byte | [16]byte | *big.Int | time.Time | time.Duration
}

// KeysOf returns the keys of values of a column:
//
//   - Integers are the numbers as the column stores them: of a decimal the unscaled value, of a
//     date the days and of a timestamp the units since 1970, of a time the units since midnight.
//     *big.Int is one, too.
//   - float32 and float64 are FLOAT and DOUBLE. A float64 that is no float32 is no FLOAT.
//   - string is BYTE_ARRAY, and [16]byte is a UUID or any other FIXED_LEN_BYTE_ARRAY of 16.
//   - []byte is the PLAIN bytes of a value of any type, without a length.
//   - [time.Time] is a date or a timestamp, and [time.Duration] a time of day. They must be whole
//     numbers of the column's unit, dates must be midnight. Columns of local times take the clock
//     of the time's location.
//
// The error is a [KeyError] if a value does not fit, and else [ErrType]: booleans have no filters.
func KeysOf[V Value](t Type, values []V) (*Keys, error) {
	e, err := newEncoder(t, len(values))
	if err != nil {
		return nil, err
	}
	switch values := any(values).(type) {
	case []int8:
		err = each(e, values, appendSigned)
	case []int16:
		err = each(e, values, appendSigned)
	case []int32:
		err = each(e, values, appendSigned)
	case []int64:
		err = each(e, values, appendSigned)
	case []int:
		err = each(e, values, appendSigned)
	case []uint8:
		err = each(e, values, appendUnsigned)
	case []uint16:
		err = each(e, values, appendUnsigned)
	case []uint32:
		err = each(e, values, appendUnsigned)
	case []uint64:
		err = each(e, values, appendUnsigned)
	case []uint:
		err = each(e, values, appendUnsigned)
	case []float32:
		err = each(e, values, appendFloat)
	case []float64:
		err = each(e, values, appendFloat)
	case []string:
		err = each(e, values, appendString)
	case [][]byte:
		err = each(e, values, appendPlain[[]byte])
	case [][16]byte:
		err = each(e, values, appendPlain16)
	case []*big.Int:
		err = each(e, values, appendBig)
	case []time.Time:
		err = each(e, values, appendTime)
	case []time.Duration:
		err = each(e, values, appendTimeOfDay)
	}
	if err != nil {
		return nil, err
	}
	return e.keys()
}

// ParseKeys returns the keys of values that are written as text:
//
//   - integers, decimals and floats as decimal numbers; "NaN" and "-Inf" are floats, too, and 5.0 is the integer 5
//   - strings, and bytes of a type without a meaning, as they are
//   - dates as 2006-01-02, times as 15:04:05.999999999, with no more digits
//   - timestamps as 2006-01-02T15:04:05.999999999 or with a space in the middle, with or without
//     an offset such as Z, +01:00, +0100 or " UTC". Without an offset it is UTC; columns of local times have none
//   - UUIDs as 01234567-89ab-cdef-0123-456789abcdef, also without dashes or in braces
//
// Numbers and times must be values that the column can have: the error is a [KeyError] if one
// is not. It is [ErrType] for types without filters and for those that have no text here: INT96,
// INTERVAL, a DECIMAL in BYTE_ARRAY, of which one value may have several encodings, and one of more
// than 256 bytes.
func ParseKeys(t Type, texts [][]byte) (*Keys, error) {
	e, err := parse(t, texts)
	if err != nil {
		return nil, err
	}
	return e.keys()
}

// ParseValues returns the PLAIN bytes, without a length, of values that are written as text. These are what
// [KeysOf] takes, and the keys of a filter that is not in a Parquet file. The errors are those of
// [ParseKeys].
func ParseValues(t Type, texts [][]byte) ([][]byte, error) {
	e, err := parse(t, texts)
	if err != nil {
		return nil, err
	}
	return e.values(len(texts)), nil
}

// ParseSome is [ParseValues] for texts of which some may be values that the column cannot have ([KeyError.Outside]). It leaves these out, and returns
// the positions of the others.
func ParseSome(t Type, texts [][]byte) (values [][]byte, positions []int, err error) {
	e, err := newTextEncoder(t, len(texts))
	if err != nil {
		return nil, nil, err
	}
	for i, text := range texts {
		data, why := appendText(e.data, &e.t, text)
		if !why.ok() {
			if !why.outside() {
				return nil, nil, newKeyError(i, string(text), e.t, why)
			}
			continue
		}
		e.data, positions = data, append(positions, i)
		if e.offsets != nil {
			e.offsets = append(e.offsets, int64(len(e.data)))
		}
	}
	return e.values(len(positions)), positions, nil
}

// parse encodes texts.
func parse(t Type, texts [][]byte) (*encoder, error) {
	e, err := newTextEncoder(t, len(texts))
	if err != nil {
		return nil, err
	}
	return e, each(e, texts, appendText)
}

// newTextEncoder is newEncoder for values that are written as text.
func newTextEncoder(t Type, n int) (*encoder, error) {
	e, err := newEncoder(t, n)
	if err == nil && !t.hasText() {
		return nil, fmt.Errorf("%w: %v has no text, only bytes", ErrType, t)
	}
	return e, err
}

// hasText reports whether texts tell the values: each by one encoding.
func (t *Type) hasText() bool {
	k := t.kind()
	return k.class != noClass && !k.ambiguous && !t.isWide()
}

// encoder collects the PLAIN bytes of values, one after the other.
type encoder struct {
	t       Type
	data    []byte
	offsets []int64 // where values begin and end, unless all have one width
}

func newEncoder(t Type, n int) (*encoder, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.Physical == Boolean {
		return nil, fmt.Errorf("%w: booleans have no Bloom filter", ErrType)
	}
	e := &encoder{t: t}
	if width := t.width(); width > 0 {
		// What a footer claims must not decide how much memory is taken: larger keys are appended.
		e.data = make([]byte, 0, min(n, 1<<20)*min(width, 16))
	} else {
		e.offsets = append(make([]int64, 0, n+1), 0)
	}
	return e, nil
}

// each appends values by one of the functions below. These return why a value is wrong, or "".
func each[V any](e *encoder, values []V, add func(dst []byte, t *Type, v V) ([]byte, refusal)) (err error) {
	why := refusal{}
	for i, v := range values {
		if e.data, why = add(e.data, &e.t, v); !why.ok() {
			text := fmt.Sprint(v)
			if b, ok := any(v).([]byte); ok {
				text = string(b)
			}
			return newKeyError(i, text, e.t, why)
		}
		if e.offsets != nil {
			e.offsets = append(e.offsets, int64(len(e.data)))
		}
	}
	return nil
}

// keys hashes the values.
func (e *encoder) keys() (*Keys, error) {
	k := &Keys{typ: e.t.kin()}
	var plain bloom.Keys
	var err error
	if e.offsets != nil {
		plain, err = bloom.Offsets(e.data, e.offsets)
	} else {
		plain, err = bloom.FixedWidth(e.data, e.t.width())
	}
	if err != nil {
		return nil, err
	}
	k.hashed = plain.Hashed(bloom.Parquet)
	e.rank(k)
	k.sorted = sync.OnceValue(k.sortedRanks)
	return k, nil
}

// value returns value i.
func (e *encoder) value(i int) []byte {
	if e.offsets != nil {
		return e.data[e.offsets[i]:e.offsets[i+1]]
	}
	width := e.t.width()
	return e.data[i*width : (i+1)*width]
}

// values returns n values.
func (e *encoder) values(n int) [][]byte {
	values := make([][]byte, n)
	for i := range values {
		values[i] = e.value(i)
	}
	return values
}

// rank sets the ranks of the keys, and which ones are unsure or empty.
func (e *encoder) rank(k *Keys) {
	n, order := k.Len(), e.t.order()
	switch order {
	case noOrder:
		for i := range n {
			if e.t.isUnsure(e.value(i)) {
				k.unsure.set(i, n)
			}
		}
		return
	case bytesOrder:
		k.prefix = string(e.prefix(n))
	}
	k.ranks = make([]uint64, n)
	for i := range k.ranks {
		value := e.value(i)
		if order == bytesOrder {
			if len(value) == 0 {
				k.empty.set(i, n)
			}
			k.ranks[i] = rankBytesOf(value[len(k.prefix):], 0)
		} else {
			k.ranks[i] = e.t.rank(order, value)
		}
	}
}

// isUnsure reports whether a value is a zero or NaN of floats.
func (t Type) isUnsure(value []byte) bool { return t.IsZero(value) || t.IsNaN(value) }

// prefix returns what all of n values begin with.
func (e *encoder) prefix(n int) []byte {
	if n == 0 {
		return nil
	}
	prefix := e.value(0)
	for i := 1; i < n && len(prefix) > 0; i++ {
		prefix = prefix[:commonPrefix(prefix, e.value(i))]
	}
	return prefix
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

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

func (t *Type) isUnsigned() bool { return t.kind().order == unsignedOrder }

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

// appendWord appends the low bytes of a word: as many as the physical type has.
func (t *Type) appendWord(dst []byte, word uint64) []byte {
	if t.width() == 4 {
		return binary.LittleEndian.AppendUint32(dst, uint32(word))
	}
	return binary.LittleEndian.AppendUint64(dst, word)
}

// widestNumber is how many bytes a decimal may have whose bytes are made from a number. The widest
// decimals that other programs compute with have 32, and a footer may claim 2^31 - 1.
const widestNumber = 256

// isWide reports whether the type is of such decimals.
func (t *Type) isWide() bool { return t.Logical == Decimal && t.Width > widestNumber }

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
		return dst, mistake("a decimal of any length may have several encodings: give its bytes")
	case t.isWide():
		return dst, mistake(fmt.Sprintf("a decimal of more than %d bytes is not made from a number: give its bytes", widestNumber))
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

// appendTwosComplement appends a big-endian integer of so many bytes.
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
		return dst, mistake(fmt.Sprintf("it has %d bytes, and the column's values have %d", len(v), width))
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
		v = v.Add(time.Duration(offset) * time.Second) // its clock is that of UTC then
	}
	const day = 24 * 60 * 60
	seconds, nanos := v.Unix(), int64(v.Nanosecond())
	switch {
	case t.Logical == Date && (seconds%day != 0 || nanos != 0):
		return dst, mistake("it has a time of day, and the column has dates")
	case t.Logical == Date:
		return t.appendInteger(dst, seconds/day)
	case t.Logical != Timestamp:
		return dst, mistake("the column has no times with a date")
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
		return dst, mistake("it is no time of day")
	case int64(v)%(1e9/perSecond[t.Unit]) != 0:
		return dst, refusal{betweenUnits, t.Unit.String()}
	}
	return t.appendInteger(dst, int64(v)/(1e9/perSecond[t.Unit]))
}
