package bloom

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// Set is a filter of fixed capacity. You can add keys, test keys as it grows, and merge sets
// of the same shape. A Set takes more keys than its capacity, but then its false-positive
// rate rises.
//
// Any number of goroutines may query a Set while no goroutine adds to it or merges into it.
// The zero Set has no bits. It holds no key, and to add a key panics.
type Set struct{ view }

// OpenSet returns a set with the contents of an encoded filter. It takes a copy. The errors
// are those of [Open], and [ErrEncoding] for a filter that has no bits to set. In LevelDB's
// format that is a filter of fewer than two bytes, of 0 probes, or of more than 30, which
// the format reserves. In nori-sstable's formats it is the filter of no keys.
func OpenSet(f Format, data []byte) (*Set, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	if err := v.checkSet(); err != nil {
		return nil, err
	}
	v, err = openView(f, append(extend(nil, len(data))[:0], data...))
	v.count = &keyCount{unknown: true}
	return &Set{v}, err
}

// checkSet returns ErrEncoding if a filter has no bits to set, or sets none for a key.
func (v *view) checkSet() error {
	_, shape := v.encoded()
	if shape.bits == 0 {
		return fmt.Errorf("%w: a set needs bits, and the filter of %d bytes has none", ErrEncoding, len(v.data))
	}
	if shape.probes == 0 {
		return fmt.Errorf("%w: a set needs probes, and the filter answers without any", ErrEncoding)
	}
	return nil
}

// WithKernel returns a view of the same set whose batches, of queries and of additions,
// run on kernel k, or [ErrKernel] if k is not one of [Kernels].
func (s *Set) WithKernel(k Kernel) (*Set, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	t := *s
	t.kernel = k
	return &t, nil
}

// Add adds a key.
func (s *Set) Add(key []byte) { s.add(unsafe.Pointer(unsafe.SliceData(key)), len(key)) }

// AddString adds a key.
func (s *Set) AddString(key string) { s.add(unsafe.Pointer(unsafe.StringData(key)), len(key)) }

// add adds the key of n bytes at p.
func (s *Set) add(p unsafe.Pointer, n int) {
	if s.pair == 0 {
		panicNoBits()
	}
	s.count.n++
	s.addHash(s.pair.hash().of(p, n))
}

// AddBatch adds every key of a column. For a large set it uses several goroutines, as
// [Policy.AppendFilter] does. It panics if keys are hashes of another kind than the set's.
func (s *Set) AddBatch(keys Keys) {
	keys.mustServe(s.format)
	s.addColumn(keys)
	s.count.n += uint64(keys.n - keys.nulls())
}

// Merge adds all keys of other. The sets must have the same format, size and number of
// probes. If not, s does not change and the error is [ErrShape].
func (s *Set) Merge(other *Set) error {
	to, shape := s.encoded()
	from, otherShape := other.encoded()
	// Filters of one shape can have lines of different lengths: then n differs.
	if s.format != other.format || shape != otherShape || s.n != other.n {
		return fmt.Errorf("%w: %v of %d bits and %d probes, %v of %d bits and %d probes", ErrShape,
			s.format, shape.bits, shape.probes, other.format, otherShape.bits, otherShape.probes)
	}
	if shape.bits == 0 {
		return nil // zero Sets
	}
	s.count.n += other.count.n
	s.count.unknown = s.count.unknown || other.count.unknown
	for ; len(to) >= 8; to, from = to[8:], from[8:] {
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)|binary.LittleEndian.Uint64(from))
	}
	for i, b := range from {
		to[i] |= b
	}
	return nil
}

// Filter returns a read-only view of the set. It also finds keys that are added later.
func (s *Set) Filter() *Filter { return &Filter{s.view} }
