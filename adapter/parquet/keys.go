package bloomparquet

import (
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/lanebloom/bloom"
)

// Keys are the values of a column, hashed in advance. You can test them against any number of columns of
// related types. For example, BYTE_ARRAY columns have the same keys whether their logical type is STRING,
// ENUM, JSON, BSON or none. A number has the same key in all signed integer types of one physical type, and
// likewise in all unsigned ones.
//
// Keys do not keep references to the values. They are safe for concurrent use.
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

// Hashed returns the hashes of the keys, in order. Use them to query filters that are not in Parquet files.
func (k *Keys) Hashed() bloom.Keys { return k.hashed }

// Value is the set of types that [KeysOf] accepts.
type Value interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint |
		float32 | float64 | string | []byte | [16]byte | *big.Int | time.Time | time.Duration
}

// KeysOf returns keys for the given values of a column of type t. The Go type of the values determines
// their meaning:
//
//   - An integer or a *big.Int is the number that the column stores. For a decimal, this is the unscaled
//     value; for a date, the number of days since 1970; for a timestamp, the number of units since 1970;
//     and for a time of day, the number of units since midnight. A decimal in BYTE_ARRAY, or of more than
//     256 bytes, must be a []byte instead.
//   - A float32 or float64 is a value of a FLOAT, DOUBLE or FLOAT16 column. The column must be able to
//     store the value exactly. For example, the float64 0.1 is not a value of a FLOAT column.
//   - A string is a BYTE_ARRAY. A [16]byte is a UUID or any other FIXED_LEN_BYTE_ARRAY of 16 bytes.
//   - A []byte is a value of any type in PLAIN encoding, without a length prefix.
//   - A [time.Time] is a date or a timestamp, and a [time.Duration] is a time of day. Timestamps and times
//     of day must be multiples of the column's unit. A time.Time for a date must be at midnight. For dates
//     and for timestamps in local time, KeysOf uses the wall clock date and time in the location of the
//     time.Time.
//
// If the column cannot contain one of the values, the error is a [*KeyError]. The error is [ErrType] if
// the format does not allow the type, or if the type is BOOLEAN, which has no filters.
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

// ParseKeys returns keys for values that are written as text:
//
//   - Integers, decimals and floats are decimal numbers. An integer may have zeros after the point, as in
//     5.0. A float may also be NaN, Inf or -Inf.
//   - Strings, and bytes without a logical type, are used as they are.
//   - Dates have the form 2006-01-02. Times of day have the form 15:04:05.999999999, with at most nine
//     digits after the point.
//   - Timestamps have the form 2006-01-02T15:04:05.999999999, or the same with a space instead of the T.
//     They may end with an offset, such as Z, +01:00, +0100 or " UTC". A timestamp without an offset is in
//     UTC. In a column of local times, timestamps must not have an offset.
//   - UUIDs have the form 01234567-89ab-cdef-0123-456789abcdef. They may also be written without dashes or
//     in braces.
//
// If a text is not a value of the column, the error is a [*KeyError]. The error is [ErrType] for types
// without filters, and for types that ParseKeys cannot read: INT96, INTERVAL, DECIMAL in BYTE_ARRAY (a
// value may have several encodings), and DECIMAL of more than 256 bytes.
func ParseKeys(t Type, texts [][]byte) (*Keys, error) {
	e, err := parse(t, texts)
	if err != nil {
		return nil, err
	}
	return e.keys()
}

// ParseSome parses values that are written as text, and returns them in PLAIN encoding, without a length
// prefix. You can pass them to [KeysOf]. ParseSome skips values that the column cannot hold, such as
// numbers that are out of range and times that are not multiples of the column's unit. The text of
// values[i] is texts[positions[i]]. If a text is malformed or the type is not supported, ParseSome returns
// the same error as [ParseKeys].
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
		return nil, fmt.Errorf("%w: values of %v cannot be written as text, only as bytes", ErrType, t)
	}
	return e, err
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
		return nil, fmt.Errorf("%w: booleans have no Bloom filters", ErrType)
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

// each appends values by a function of encode.go or text.go.
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

// sortedRanks returns the ranks of all keys but the empty ones, in order.
func (k *Keys) sortedRanks() []uint64 {
	ranks := make([]uint64, 0, len(k.ranks))
	for i, rank := range k.ranks {
		if k.empty.word(i/64)>>(i%64)&1 == 0 {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}
