package bloom

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"
)

// AtomicSet is a [Set] that any number of goroutines may query and add keys to at the same time, without a
// lock. A query finds every key whose addition returned before the query began. If the addition of a key has
// not returned yet, a query may find all of its bits or only some.
//
// Queries are as fast as queries of a Set. Adding a key needs an atomic operation for each of its bits that
// is not yet set. In one goroutine, adding keys takes several times as long as in a Set, above all for
// columns (docs/benchmarks.md of this module has the table). If goroutines add columns and query rarely, two
// other ways are faster: a Set under a mutex, or one Set for each goroutine and [AtomicSet.Merge] at the end.
// An AtomicSet does not count its keys, because all goroutines would wait for the counter.
//
// [Policy.NewAtomicSet], [Format.NewAtomicSet] and [OpenAtomicSet] return an AtomicSet, and
// [AtomicSet.ReadFrom] reads one from a file. [AtomicSet.WriteTo] and similar methods, gob and JSON write a
// copy. The copy has all bits of each key whose addition returned before the call. The zero AtomicSet has no
// bits and no keys, and its methods that add keys panic.
type AtomicSet struct{ view view }

// Additions set bits by atomic operations on words of 32 bits. Queries read bits as those of
// a Filter do: in words and vectors, in Go and in assembly, without atomic operations. That is
// right for three reasons.
//
//   - A bit that is set stays set, until Clear. So it does not matter whether a query reads two bits at
//     the same moment, or whether a vector is read in parts: a query that sees some additions
//     and not others gives the answer of a filter without the others.
//   - In Go's memory model, a read that races with writes returns a value that was written, and
//     none that was overwritten before the read began. So if an addition happens before a query,
//     the query reads words with its bits. An addition that leaves a bit alone because it is set
//     has seen the bit by an atomic load. So whatever happens after this addition also happens
//     after the addition that set the bit.
//   - Assembly is not part of that model, but its loads are those of the CPU, to which the same
//     order of the operations applies.
//
// TestAndAddBatch leaves a row alone if its query finds the key, and that query has no atomic loads.
// For these rows, the model alone does not order what follows after the addition that set the
// bits. The CPUs do: who synchronizes with a goroutine sees what that goroutine has read.
//
// The race detector does not know that a racing read is right, and reports it in Go code;
// assembly it does not see. In a build with the detector, queries take atomic loads instead, and whatever
// else reads the bits reads a copy, which atomic loads made. So do the methods of a Filter of the set: view.live
// tells that it is one.

// NewAtomicSet returns an empty AtomicSet with room for capacity keys at the policy's bits per key, and at
// least one key.
//
// The error is [ErrFormat] if the policy's format is unknown. It is [ErrCapacity] if capacity is negative, or
// if the filter is so large that [Policy.AppendFilter] panics.
func (p Policy) NewAtomicSet(capacity int) (*AtomicSet, error) {
	v, err := p.newView(capacity)
	if err != nil {
		return nil, err
	}
	v.setLive()
	return &AtomicSet{view: v}, nil
}

// NewAtomicSet returns an empty AtomicSet with exactly the given numbers of bits and probes.
//
// The error is [ErrFormat] if the format is unknown, [ErrShape] if its filters cannot have this shape, and
// [ErrCapacity] if the bits need more bytes than [Policy.NewSet] allows.
func (f Format) NewAtomicSet(bits uint64, probes int) (*AtomicSet, error) {
	v, err := f.newView(bits, probes)
	if err != nil {
		return nil, err
	}
	v.setLive()
	return &AtomicSet{view: v}, nil
}

// OpenAtomicSet returns an AtomicSet with the contents of an encoded filter. It copies the bytes. The error
// is [ErrFormat] or [ErrEncoding], as for [OpenSet].
func OpenAtomicSet(f Format, data []byte) (*AtomicSet, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	v.count = &keyCount{unknown: true}
	s := new(AtomicSet)
	if err := s.take(v, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// take makes s a copy of a view that was read, if there is no error.
func (s *AtomicSet) take(v view, err error) error {
	var set Set
	if err = set.take(v, err); err != nil {
		return err
	}
	if v = set.view; v.scheme != 0 {
		v = v.copied()
		v.setLive()
	}
	s.view = v
	return nil
}

// Add adds a key.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) Add(key []byte) { s.add(unsafe.Pointer(unsafe.SliceData(key)), len(key)) }

// AddString adds a key.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) AddString(key string) { s.add(unsafe.Pointer(unsafe.StringData(key)), len(key)) }

// add adds the key of n bytes at p, and reports whether it was certainly new.
func (s *AtomicSet) add(p unsafe.Pointer, n int) bool {
	s.view.mustHaveBits()
	return s.view.addHashAtomic(s.view.scheme.hashKey(p, n))
}

// AddUint64 adds the 8 little-endian bytes of key.
//
//gcassert:inline
func (s *AtomicSet) AddUint64(key uint64) { s.TestAndAddUint64(key) }

// AddHash adds the key whose [Hash] is h. It panics if the set's format has a different hash.
//
//gcassert:inline
func (s *AtomicSet) AddHash(h Hash) { s.TestAndAddHash(h) }

// TestAndAdd adds a key and reports whether it may have been present before. False is certain: no addition of
// the key had returned before this one began. If several goroutines add a new key at the same time, at least
// one of them gets false.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) TestAndAdd(key []byte) bool {
	return !s.add(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// TestAndAddString is TestAndAdd for a string.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) TestAndAddString(key string) bool {
	return !s.add(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// TestAndAddUint64 is TestAndAdd for the 8 little-endian bytes of key.
func (s *AtomicSet) TestAndAddUint64(key uint64) bool {
	s.view.mustHaveBits()
	return !s.view.addHashAtomic(s.view.scheme.hashUint64(key))
}

// TestAndAddHash is TestAndAdd for the key whose [Hash] is h. It panics if the set's format has a different
// hash.
func (s *AtomicSet) TestAndAddHash(h Hash) bool {
	s.view.mustTake(h)
	return !s.view.addHashAtomic(h)
}

// AddBatch adds every key of a column. For a large set it uses several goroutines, as [Policy.AppendFilter]
// does. It panics if keys are hashes and the set's format has a different hash.
func (s *AtomicSet) AddBatch(keys Keys) {
	keys.mustServe(s.view.format)
	s.view.addColumn(keys)
}

// TestAndAddBatch adds every key of a column and reports which keys may have been present before, as
// [Set.TestAndAddBatch] does. If several goroutines add a new key at the same time, at least one of them gets
// no hit for it.
func (s *AtomicSet) TestAndAddBatch(keys Keys, hits []uint64) int {
	return s.view.addFound(&keys, hits)
}

// Merge adds all keys of other, which no goroutine may change during the call. The error is [ErrShape] if the
// sets differ in format, size or number of probes. It is [ErrKind] if the kinds of keys of both sets are
// known and differ. With an error, s does not change.
func (s *AtomicSet) Merge(other *Set) error {
	var bits []byte
	var of shape
	if s.view.live != nil {
		bits, of = s.view.live.bits, s.view.live.shape
	}
	from, err := other.bitsOf(s.view.format, of, s.view.N)
	if err != nil || len(bits) == 0 {
		return err
	}
	kind := s.KeyKind()
	both, err := kind.and(other.kind)
	if err != nil {
		return err
	}
	if both != kind {
		s.view.live.kindLost.Store(true)
	}
	for i := 0; i < len(from); i += 4 {
		var bytes [4]byte
		copy(bytes[:], from[i:])
		if word := binary.NativeEndian.Uint32(bytes[:]); word != 0 {
			atomic.OrUint32(s.view.word(8*uint64(i)), word)
		}
	}
	return nil
}

// KeyKind returns the kind of the set's keys, as read from a file.
func (s *AtomicSet) KeyKind() KeyKind {
	if s.view.live != nil && s.view.live.kindLost.Load() {
		return KindUnknown
	}
	return s.view.kind
}

// Clear removes all keys whose additions returned before Clear began. Queries find keys whose additions begin
// after Clear has returned. A key that is added during the call may lose some of its bits, and is then not
// found. To lose no key, start a new set instead, and give it to all goroutines with an [atomic.Pointer].
func (s *AtomicSet) Clear() {
	bits, _ := s.view.encoded()
	for i := 0; i < len(bits); i += 4 {
		var keep [4]byte
		for j := len(bits) - i; j < len(keep); j++ {
			keep[j] = 0xff // what follows the bits shares a word with them
		}
		atomic.AndUint32(s.view.word(8*uint64(i)), binary.NativeEndian.Uint32(keep[:]))
	}
}

// Stats describes the set as [Filter.Stats] does. It does not copy the set. All numbers include the keys
// whose additions returned before Stats began. A key that is added during the call may be counted in only
// some of the numbers.
func (s *AtomicSet) Stats() Stats { return s.view.Stats() }

// Filter returns a read-only view of the set, which also finds keys that are added later. The view may be
// queried while goroutines add keys, also in a [Group]. Its methods that return or write bytes copy them
// first, except [Filter.Bytes]. After [AtomicSet.ReadFrom] or [AtomicSet.UnmarshalBinary], a Filter that was
// returned before still refers to the old bits.
func (s *AtomicSet) Filter() *Filter {
	f := &Filter{s.view}
	f.kind = s.KeyKind()
	return f
}

// Snapshot returns a copy, which does not change when s does. The copy has every key whose addition returned
// before Snapshot began.
func (s *AtomicSet) Snapshot() *Set {
	if s.view.scheme == 0 {
		return &Set{s.view}
	}
	v := s.view.copied()
	v.kind = s.KeyKind()
	return &Set{v}
}

// AppendBinary appends a snapshot of s, as a filter file, to dst and returns the extended slice. The error is
// always nil.
func (s *AtomicSet) AppendBinary(dst []byte) ([]byte, error) { return s.Snapshot().AppendBinary(dst) }

// MarshalBinary returns a snapshot of s as a filter file. The error is always nil.
func (s AtomicSet) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// WriteTo writes a snapshot of s as a filter file. Goroutines may add keys during the call.
func (s *AtomicSet) WriteTo(w io.Writer) (int64, error) { return s.Snapshot().WriteTo(w) }

// UnmarshalBinary reads data, the bytes of a filter file, into s, as [Set.UnmarshalBinary] does. No goroutine
// may use s during the call. The error is [ErrEncoding] or [ErrFormat]; then s does not change.
func (s *AtomicSet) UnmarshalBinary(data []byte) error { return s.take(verifyFile(data)) }

// ReadFrom reads the next filter file from r into s, as [Set.ReadFrom] does. No goroutine may use s during
// the call. The error is [io.EOF] if r is at its end, [ErrEncoding] or [ErrFormat] if the file is damaged or
// unknown, or an error of r; then s does not change.
func (s *AtomicSet) ReadFrom(r io.Reader) (int64, error) {
	v, n, err := readFile(r)
	return n, s.take(v, err)
}

// String returns a line with the format and the shape.
func (s AtomicSet) String() string {
	_, shape := s.view.encoded()
	return fmt.Sprintf("%v filter of %d bits and %d probes", s.view.format, shape.Bits, shape.Probes)
}

// MayContain reports whether key may have been added. False is certain. For an absent key, the probability of
// true is the false-positive rate.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) MayContain(key []byte) bool { return s.view.MayContain(key) }

// MayContainString is MayContain for a string.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) MayContainString(key string) bool { return s.view.MayContainString(key) }

// MayContainUint64 is MayContain for the 8 little-endian bytes of key.
//
//gcassert:inline
func (s *AtomicSet) MayContainUint64(key uint64) bool { return s.view.MayContainUint64(key) }

// MayContainHash is MayContain for a key whose [Hash] is h. It panics if the set's format has a different hash.
//
//gcassert:inline
func (s *AtomicSet) MayContainHash(h Hash) bool { return s.view.MayContainHash(h) }

// MayContainBatch tests every key of a column, as [Filter.MayContainBatch] does.
//
//gcassert:noescape
func (s *AtomicSet) MayContainBatch(keys Keys, hits []uint64) int {
	return s.view.MayContainBatch(keys, hits)
}
