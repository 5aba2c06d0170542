package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"
)

// Set is a filter of fixed capacity that is added to, tested as it grows, and
// merged with others of its shape. Past its capacity it takes more keys and
// its false-positive rate rises.
//
// Any number of goroutines may query a Set while none adds to it or merges
// into it.
type Set struct{ view }

// OpenSet returns a set with the contents of an encoded filter, of which it
// takes a copy. The error is [ErrEncoding] if the bytes, though a filter, have
// no bits to set: LevelDB's fewer than two bytes, and those with a number of
// probes that the format reserves; the other formats' filters of no keys.
func OpenSet(f Format, data []byte) (*Set, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	_, n, k := v.encoded()
	if n == 0 {
		return nil, fmt.Errorf("%w: a set of %d bytes has no bits", ErrEncoding, len(data))
	}
	if k == 0 {
		return nil, fmt.Errorf("%w: a filter that answers without a probe is no set", ErrEncoding)
	}
	v, err = openView(f, append(extend(nil, len(data))[:0], data...))
	return &Set{v}, err
}

// Add adds a key.
func (s *Set) Add(key []byte) { s.addHash(s.format.Hash(key)) }

// AddString adds a key.
func (s *Set) AddString(key string) {
	s.addHash(s.format.Hash(unsafe.Slice(unsafe.StringData(key), len(key))))
}

// AddBatch adds every key of a column, as [Policy.AppendFilter] does to a large
// set on all cores.
func (s *Set) AddBatch(keys Keys) { s.addColumn(keys) }

// Merge adds all that other holds. The sets must agree in format, size and
// number of probes; if not, s stays as it is and the error is [ErrShape].
func (s *Set) Merge(other *Set) error {
	to, n, k := s.encoded()
	from, otherN, otherK := other.encoded()
	if s.format != other.format || n != otherN || k != otherK {
		return fmt.Errorf("%w: %v of %d bits and %d probes, %v of %d bits and %d probes", ErrShape,
			s.format, n, k, other.format, otherN, otherK)
	}
	for ; len(to) >= 8; to, from = to[8:], from[8:] {
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)|binary.LittleEndian.Uint64(from))
	}
	for i, b := range from {
		to[i] |= b
	}
	return nil
}

// Filter returns a read-only view of the set, which shows what is added later.
func (s *Set) Filter() *Filter { return &Filter{s.view} }

// AppendBinary appends the encoded filter to b and returns the extended slice.
// The error is always nil.
func (s *Set) AppendBinary(b []byte) ([]byte, error) { return append(b, s.data...), nil }

// MarshalBinary returns a copy of the encoded filter. The error is always nil.
func (s *Set) MarshalBinary() ([]byte, error) { return bytes.Clone(s.data), nil }
