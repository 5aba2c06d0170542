package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/lanebloom/bloom/internal/memory"
)

// Set is a filter of fixed size to which you can add keys. You can query a Set between additions, and you can
// merge sets of the same shape. A Set accepts more keys than its capacity, but then its false-positive rate
// exceeds the planned rate.
//
// Any number of goroutines may query a Set while no goroutine changes it. If goroutines add and query keys at
// the same time, use an [AtomicSet].
//
// The zero Set has no bits and no keys, and its methods that add keys panic.
type Set struct{ view }

// New returns an empty set in the format [Default]. The set is sized so that its false-positive rate is at
// most falsePositiveRate, for example 0.01, after the given number of keys has been added.
//
// The error is [ErrRate] if falsePositiveRate is not between 0 and 1, or if no filter can have this rate. The
// error is [ErrCapacity] if keys is negative or if the filter would be too large.
func New(keys int, falsePositiveRate float64) (*Set, error) {
	p, err := PolicyFor(Default, keys, falsePositiveRate)
	if err != nil {
		return nil, err
	}
	return p.NewSet(keys)
}

// NewSet returns an empty set that is sized for the given capacity at the policy's number of bits per key. In
// the formats of nori-sstable, RocksDB, Pebble and bits-and-blooms, a filter for no keys has no bits. For
// this reason, NewSet sizes the set for at least one key.
//
// The error is [ErrFormat] if the policy's format is unknown. It is [ErrCapacity] if capacity is negative, or
// if [Policy.AppendFilter] would panic because the filter is too large. If the system does not have enough
// memory for a filter of an allowed size, the program terminates, as after a call of the built-in function make
// for too much memory.
func (p Policy) NewSet(capacity int) (*Set, error) {
	v, err := p.newView(capacity)
	if err != nil {
		return nil, err
	}
	v.count = new(keyCount)
	return &Set{v}, nil
}

// NewSet returns an empty set with exactly the given numbers of bits and probes. Use it, for example, if your
// program computes these numbers itself.
//
// The error is [ErrFormat] if the format is unknown, [ErrShape] if a filter of the format cannot have this
// shape, and [ErrCapacity] if the set would be larger than [Policy.NewSet] allows.
func (f Format) NewSet(bits uint64, probes int) (*Set, error) {
	v, err := f.newView(bits, probes)
	if err != nil {
		return nil, err
	}
	v.count = new(keyCount)
	return &Set{v}, nil
}

// newView returns a view of an empty filter of a shape. The errors are as of Format.NewSet.
func (f Format) newView(bits uint64, probes int) (v view, err error) {
	switch {
	case !f.valid():
		return v, fmt.Errorf("%w: %v", ErrFormat, f)
	case bits > 8*mostBytes:
		return v, fmt.Errorf("%w: %d bits", ErrCapacity, bits)
	}
	if v, err = f.emptyView(shape{Bits: bits, Probes: probes}); err != nil {
		return v, fmt.Errorf("%w: no filter of %v has %d bits and %d probes", ErrShape, f, bits, probes)
	}
	return v, nil
}

// newView returns a view of an empty filter with room for capacity keys, at least one. Its
// memory comes from memory.Aligned.
func (p Policy) newView(capacity int) (view, error) {
	bits, probes, err := p.Size(capacity)
	if err == nil && bits == 0 {
		bits, probes, err = p.Size(1)
	}
	if err != nil {
		return view{}, err
	}
	return openView(p.Format, p.Format.newFilter(shape{Bits: bits, Probes: probes}, p.BitsPerKey))
}

// emptyView returns a filter of a shape, without keys. The error is ErrEncoding if the format has no such filter, or
// none with bits that keys set.
func (f Format) emptyView(s shape) (view, error) {
	if s.Bits == 0 || s.Bits > 8*mostBytes || s.Probes < 1 {
		return view{}, fmt.Errorf("%w: a filter of %v with %d bits and %d probes", ErrEncoding, f, s.Bits, s.Probes)
	}
	v, err := openView(f, f.newFilter(s, 0))
	if err != nil {
		return view{}, err
	}
	if _, has := v.encoded(); has != s {
		return view{}, fmt.Errorf("%w: a filter of %v with %d bits and %d probes", ErrEncoding, f, s.Bits, s.Probes)
	}
	return v, nil
}

// OpenSet returns a set with a copy of the encoded filter in data.
//
// The error is [ErrFormat] if the format is unknown. It is [ErrEncoding] if [Open] would return ErrEncoding,
// or if no keys can be added to the filter. No keys can be added to the following filters:
//
//   - LevelDB: a filter of fewer than two bytes, a filter with 0 probes, and a filter with more than 30
//     probes, because the format reserves these numbers.
//   - Nori, NoriCrate, RocksDB and Pebble: the filter of no keys.
//   - RocksDB and Pebble: a filter that reports every key as a hit without testing its bits.
//   - BitsAndBlooms: a filter with no probes, and a filter that stores fewer bits than its probes reach.
func OpenSet(f Format, data []byte) (*Set, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	if err := v.checkSet(); err != nil {
		return nil, err
	}
	v, err = openView(f, append(memory.Extend(nil, len(data))[:0], data...))
	v.count = &keyCount{unknown: true}
	return &Set{v}, err
}

// checkSet returns ErrEncoding if a filter has no bits to set, or sets none for a key.
func (v *view) checkSet() error {
	switch _, shape := v.encoded(); {
	case shape.Bits == 0:
		return fmt.Errorf("%w: a set needs bits, and the filter of %d bytes has none", ErrEncoding, len(v.data))
	case shape.Probes == 0:
		return fmt.Errorf("%w: a set needs probes, and the filter answers without any", ErrEncoding)
	case v.storesFewer():
		return fmt.Errorf("%w: a set needs all of its %d bits, and the filter stores fewer", ErrEncoding, shape.Bits)
	}
	return nil
}

// WithKernel returns a Set that shares the bits of s and uses kernel k for batches of queries and additions.
// The error is [ErrKernel] if kernel k is not available (see [Kernels]).
func (s *Set) WithKernel(k Kernel) (*Set, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	t := *s
	t.setKernel(k)
	return &t, nil
}

// Add, AddString and AddUint64 do not call TestAndAdd and its like: the compiler would not inline them.

// Add adds a key.
//
//gcassert:inline
//gcassert:noescape
func (s *Set) Add(key []byte) {
	s.addKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	s.count.n++
}

// AddString is like Add but accepts the key as a string.
//
//gcassert:inline
//gcassert:noescape
func (s *Set) AddString(key string) {
	s.addKey(unsafe.Pointer(unsafe.StringData(key)), len(key))
	s.count.n++
}

// AddUint64 adds the 8-byte little-endian encoding of key.
//
//gcassert:inline
func (s *Set) AddUint64(key uint64) {
	addUint64(&s.Base, key)
	s.count.n++
}

// AddHash adds the key whose [Hash] is h. It panics if h was not computed with the set's hash function.
//
//gcassert:inline
func (s *Set) AddHash(h Hash) { s.TestAndAddHash(h) }

// mustTake panics for the zero Set, and for a hash of another kind than the set's.
func (v *view) mustTake(h Hash) {
	v.mustHaveBits()
	if !v.scheme.made(h) {
		v.otherHash(h)
	}
}

// TestAndAdd adds a key and reports whether the key may have been present already. It hashes the key once,
// whereas MayContain followed by Add hashes it twice.
//
//gcassert:inline
//gcassert:noescape
func (s *Set) TestAndAdd(key []byte) bool {
	isNew := s.addKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	s.count.n++
	return !isNew
}

// TestAndAddString is like TestAndAdd but accepts the key as a string.
//
//gcassert:inline
//gcassert:noescape
func (s *Set) TestAndAddString(key string) bool {
	isNew := s.addKey(unsafe.Pointer(unsafe.StringData(key)), len(key))
	s.count.n++
	return !isNew
}

// TestAndAddUint64 is like TestAndAdd for the 8-byte little-endian encoding of key.
//
//gcassert:inline
func (s *Set) TestAndAddUint64(key uint64) bool {
	isNew := addUint64(&s.Base, key)
	s.count.n++
	return !isNew
}

// TestAndAddHash is like TestAndAdd for the key whose [Hash] is h. It panics if h was not computed with the
// set's hash function.
func (s *Set) TestAndAddHash(h Hash) bool {
	s.mustTake(h)
	s.count.n++
	return !s.addHash(h)
}

// AddBatch adds every key of a column. If the set is large, AddBatch uses several goroutines (see
// [Policy.AppendFilter]). It panics if keys is a column of hashes that were not computed with the set's hash
// function.
func (s *Set) AddBatch(keys Keys) {
	keys.mustServe(s.format)
	s.addColumn(keys)
	s.count.add(uint64(keys.n - keys.nulls()))
}

// TestAndAddBatch adds every key of a column, reports which keys may have been present already, and returns
// the number of these keys. The results are the same as if you called [Set.TestAndAdd] for each key in order.
// If a key occurs several times in the column, all occurrences after the first are hits. Therefore, if you
// keep only the keys that are not hits, you remove all duplicates, but you also lose a few new keys that are
// false positives.
//
// TestAndAddBatch sets bit i%64 of hits[i/64] if key i may have been present, and clears it if the key was
// certainly new. It writes the first (keys.Len()+63)/64 words of hits, and clears the bits past the last key.
// A null row adds no key. Its bit is cleared too, but this does not indicate a new key.
//
// TestAndAddBatch panics if hits is too short, or if keys is a column of hashes that were not computed with
// the set's hash function.
func (s *Set) TestAndAddBatch(keys Keys, hits []uint64) int {
	n := s.addFound(&keys, hits)
	s.count.add(uint64(keys.n - keys.nulls()))
	return n
}

// Clear removes all keys. The set keeps its size and its memory.
func (s *Set) Clear() {
	bits, shape := s.encoded()
	if shape.Bits == 0 {
		return // the zero Set
	}
	clear(bits)
	*s.count = keyCount{}
}

// Clone returns an independent copy of the set.
func (s *Set) Clone() *Set {
	if s.scheme == 0 {
		return new(Set)
	}
	before, _ := s.bitRange()
	v, count := s.view, *s.count
	v.data = memory.Aligned(before, len(s.data)-before)
	copy(v.data, s.data)
	v.Array, _ = v.format.decode(v.data) // no error: it was opened
	v.setKernel(v.kernel)
	v.count = &count
	return &Set{v}
}

// Equal reports whether the sets have the same format, size, bits and number of probes. Equal sets give the
// same answer to every query. Two sets can be equal even if different keys were added to them.
func (s *Set) Equal(other *Set) bool {
	bits, shape := s.encoded()
	otherBits, err := other.bitsOf(s.format, shape, s.N)
	return err == nil && bytes.Equal(bits, otherBits)
}

// Merge adds all keys of other to s. The error is [ErrShape] if the sets differ in format, size or number of
// probes. It is [ErrKind] if the key kinds of both sets are known but different. If only one kind is known,
// the kind of s becomes unknown. Views that [Set.Filter] and [Set.WithKernel] returned earlier keep their
// kind. On error, s does not change.
func (s *Set) Merge(other *Set) error {
	to, from, err := s.matched(other)
	if err != nil || len(to) == 0 {
		return err
	}
	s.count.add(other.count.n)
	s.count.unknown = s.count.unknown || other.count.unknown
	or(to, from)
	return nil
}

// Intersect clears every bit of s that is not set in other. Every key that was added to both sets is still a
// hit in s. A key that was added to only one of the sets is more often a false positive than a key that was
// added to neither, because one set already has all bits of the key. For this reason, s is not the same as a
// filter that was built from the common keys. After the call, the number of keys in s is not known, and
// [Set.Stats] overestimates it. No formula gives the false-positive rate, but [Set.MeasureRate] measures the
// rate for keys that were added to neither set.
//
// The error is [ErrShape] if the sets differ in format, size or number of probes. It is [ErrKind] if the key
// kinds of both sets are known but different. On error, s does not change.
func (s *Set) Intersect(other *Set) error {
	to, from, err := s.matched(other)
	if err != nil || len(to) == 0 {
		return err
	}
	*s.count = keyCount{unknown: true}
	for i, b := range from {
		to[i] &= b
	}
	return nil
}

// matched returns the bits of two sets of one shape, and gives s the kind of the keys of both. With an error, s does
// not change.
func (s *Set) matched(other *Set) (bits, otherBits []byte, err error) {
	bits, shape := s.encoded()
	if otherBits, err = other.bitsOf(s.format, shape, s.N); err != nil {
		return nil, nil, err
	}
	kind, err := s.kind.and(other.kind)
	if err != nil || len(bits) == 0 {
		return nil, nil, err
	}
	s.kind = kind
	return bits, otherBits, nil
}

// bitsOf returns the bits of a filter of the given format, shape and size in the unit of the
// scheme, or [ErrShape] if it has others. The zero Set has none.
func (v *view) bitsOf(f Format, s shape, n uint64) ([]byte, error) {
	bits, shape := v.encoded()
	if v.format != f || shape != s || v.N != n { // n differs if lines of two lengths have as many bits
		return nil, fmt.Errorf("%w: one set is %v of %d bits and %d probes, the other %v of %d bits and %d probes", ErrShape,
			f, s.Bits, s.Probes, v.format, shape.Bits, shape.Probes)
	}
	return bits, nil
}

// or sets the bits of dst that src has, which is as long.
func or(dst, src []byte) {
	for ; len(dst) >= 32 && len(src) >= 32; dst, src = dst[32:], src[32:] {
		for i := 0; i < 32; i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(dst[i:])|binary.LittleEndian.Uint64(src[i:]))
		}
	}
	for i, b := range src {
		dst[i] |= b
	}
}

// Filter returns a read-only view of the set. The view also finds keys that are added later.
func (s *Set) Filter() *Filter { return &Filter{s.view} }
