package bloomparquet

import (
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/lanebloom/bloom"
)

// Keys are values of a column, hashed once. You can test them against any number of columns of related types.
// The logical types STRING, ENUM, JSON, BSON and none have the same keys. Integers of all widths in one
// physical type also have the same keys. Keys do not refer to the memory of the values. They are safe for
// concurrent use.
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

// Hashed returns the hashes of the keys, in order. Use it to query filters that are not in files.
func (k *Keys) Hashed() bloom.Keys { return k.hashed }

// Value is the types that [KeysOf] accepts.
type Value interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint |
		float32 | float64 | string | []byte | [16]byte | *big.Int | time.Time | time.Duration
}

// KeysOf returns the keys for values of a column of type t:
//
//   - Integers, also *big.Int, are the numbers that the column stores: for a decimal the unscaled value, for a
//     date the days and for a timestamp the units since 1970, for a time the units since midnight.
//   - float32 and float64 are FLOAT and DOUBLE. A float64 that is not exactly a float32 is not a FLOAT.
//   - string is BYTE_ARRAY, and [16]byte is a UUID or any other FIXED_LEN_BYTE_ARRAY of 16.
//   - []byte is the PLAIN bytes of a value of any type, without a length.
//   - [time.Time] is a date or a timestamp, and [time.Duration] a time of day. They must be whole numbers of
//     the column's unit, and dates must be midnight. For columns of local times, the clock time in the
//     location of the time.Time counts.
//
// The error is a [KeyError] if the column cannot have one of the values. It is [ErrType] for a wrong type,
// and for booleans, which have no filters.
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
//   - integers, decimals and floats as decimal numbers; "NaN" and "-Inf" are also floats, and 5.0 is the
//     integer 5
//   - strings, and bytes of a type without a meaning, as they are
//   - dates as 2006-01-02, times as 15:04:05.999999999, with no more digits
//   - timestamps as 2006-01-02T15:04:05.999999999 or with a space in the middle, with or without an offset
//     such as Z, +01:00, +0100 or " UTC". A timestamp without an offset is in UTC. Timestamps for columns of
//     local times have no offset
//   - UUIDs as 01234567-89ab-cdef-0123-456789abcdef, also without dashes or in braces
//
// The error is a [KeyError] if the column cannot have a number or a time. It is [ErrType] for types without
// filters, and for types that ParseKeys cannot read: INT96, INTERVAL, DECIMAL in BYTE_ARRAY (a value may have
// several encodings), and DECIMAL of more than 256 bytes.
func ParseKeys(t Type, texts [][]byte) (*Keys, error) {
	e, err := parse(t, texts)
	if err != nil {
		return nil, err
	}
	return e.keys()
}

// ParseSome reads values that are written as text. It returns their PLAIN bytes without a length, which
// [KeysOf] accepts. It leaves out values that the column cannot have, such as numbers outside its range or
// times between its units. It also returns the positions of the texts that it did not leave out. The errors
// are the same as in [ParseKeys].
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
