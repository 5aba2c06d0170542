package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
// probes that the format reserves.
func OpenSet(f Format, data []byte) (*Set, error) {
	if !f.valid() {
		return nil, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	if len(data) < 2 {
		return nil, fmt.Errorf("%w: a set of %d bytes has no bits", ErrEncoding, len(data))
	}
	if k := data[len(data)-1]; k == 0 || k > maxProbes {
		return nil, fmt.Errorf("%w: %d probes in a set", ErrEncoding, k)
	}
	return &Set{openView(f, append(extend(nil, len(data))[:0], data...))}, nil
}

// Add adds a key.
func (s *Set) Add(key []byte) { s.add(hash32(key)) }

// AddString adds a key.
func (s *Set) AddString(key string) { s.add(hash32String(key)) }

// AddBatch adds every key of a column, as [Policy.AppendFilter] does to a large
// set on all cores.
func (s *Set) AddBatch(keys Keys) { s.addColumn(keys) }

// Merge adds all that other holds. The sets must agree in format, size and
// number of probes; if not, s stays as it is and the error is [ErrShape].
func (s *Set) Merge(other *Set) error {
	if s.format != other.format || s.k != other.k || len(s.data) != len(other.data) {
		return fmt.Errorf("%w: %v of %d bytes and %d probes, %v of %d bytes and %d probes", ErrShape,
			s.format, len(s.data), s.k, other.format, len(other.data), other.k)
	}
	// The last byte, the number of probes, is the same on both sides.
	to, from := s.data, other.data
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
