package bloom

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"
)

// AtomicSet is a [Set] in which any number of goroutines may add and query keys at the same time, without a
// lock. A query finds every key added by a call that returned before the query began. If a key is still being
// added, a query may or may not find it.
//
// Queries are as fast as queries of a Set. To add a key, a goroutine needs one atomic operation for each bit
// that the key sets, except for bits that are already set. In a single goroutine, adding keys to an AtomicSet
// takes several times as long as adding keys to a Set, especially if you add columns (see the table in
// docs/benchmarks.md of this module). If goroutines add columns and rarely query, two alternatives are faster.
// One is a Set guarded by a mutex. The other is a separate Set for each goroutine, which you merge into the
// AtomicSet at the end (see [AtomicSet.Merge]). An AtomicSet does not count its keys, because all goroutines
// would contend for the counter.
//
// To create an AtomicSet, use [Policy.NewAtomicSet], [Format.NewAtomicSet] or [OpenAtomicSet]. To read one
// from a file, use [AtomicSet.ReadFrom]. Methods that encode an AtomicSet, such as [AtomicSet.WriteTo],
// encode a snapshot. The packages encoding/gob and encoding/json call these methods. The snapshot contains
// every key added by a call that returned before the encoding began. The zero AtomicSet has no bits and no
// keys, and its methods that add keys panic.
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

// NewAtomicSet is like [Policy.NewSet] but returns an AtomicSet.
func (p Policy) NewAtomicSet(capacity int) (*AtomicSet, error) {
	v, err := p.newView(capacity)
	if err != nil {
		return nil, err
	}
	v.setLive()
	return &AtomicSet{view: v}, nil
}

// NewAtomicSet is like [Format.NewSet] but returns an AtomicSet.
func (f Format) NewAtomicSet(bits uint64, probes int) (*AtomicSet, error) {
	v, err := f.newView(bits, probes)
	if err != nil {
		return nil, err
	}
	v.setLive()
	return &AtomicSet{view: v}, nil
}

// OpenAtomicSet returns an AtomicSet with a copy of the encoded filter in data. It returns the same errors as
// [OpenSet].
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

// AddString is like Add but accepts the key as a string.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) AddString(key string) { s.add(unsafe.Pointer(unsafe.StringData(key)), len(key)) }

// add adds the key of n bytes at p, and reports whether it was certainly new.
func (s *AtomicSet) add(p unsafe.Pointer, n int) bool {
	s.view.mustHaveBits()
	return s.view.addHashAtomic(s.view.scheme.hashKey(p, n))
}

// AddUint64 adds the 8-byte little-endian encoding of key.
//
//gcassert:inline
func (s *AtomicSet) AddUint64(key uint64) { s.TestAndAddUint64(key) }

// AddHash adds the key whose [Hash] is h. It panics if h was not computed with the set's hash function.
//
//gcassert:inline
func (s *AtomicSet) AddHash(h Hash) { s.TestAndAddHash(h) }

// TestAndAdd adds a key and reports whether the key may have been present already. If it returns false, the
// key was certainly absent when the call began. If several goroutines add a new key at the same time,
// TestAndAdd returns false to at least one of them.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) TestAndAdd(key []byte) bool {
	return !s.add(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// TestAndAddString is like TestAndAdd but accepts the key as a string.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) TestAndAddString(key string) bool {
	return !s.add(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// TestAndAddUint64 is like TestAndAdd for the 8-byte little-endian encoding of key.
func (s *AtomicSet) TestAndAddUint64(key uint64) bool {
	s.view.mustHaveBits()
	return !s.view.addHashAtomic(s.view.scheme.hashUint64(key))
}

// TestAndAddHash is like TestAndAdd for the key whose [Hash] is h. It panics if h was not computed with the
// set's hash function.
func (s *AtomicSet) TestAndAddHash(h Hash) bool {
	s.view.mustTake(h)
	return !s.view.addHashAtomic(h)
}

// AddBatch adds every key of a column. If the set is large, AddBatch uses several goroutines (see
// [Policy.AppendFilter]). It panics if keys is a column of hashes that were not computed with the set's hash
// function.
func (s *AtomicSet) AddBatch(keys Keys) {
	keys.mustServe(s.view.format)
	s.view.addColumn(keys)
}

// TestAndAddBatch adds every key of a column and reports which keys may have been present already (see
// [Set.TestAndAddBatch]). If several goroutines add a new key at the same time, at least one of the calls
// reports the key as new.
func (s *AtomicSet) TestAndAddBatch(keys Keys, hits []uint64) int {
	return s.view.addFound(&keys, hits)
}

// Merge adds all keys of other to s. While Merge runs, no goroutine may change other. The error is [ErrShape]
// if the sets differ in format, size or number of probes. It is [ErrKind] if the key kinds of both sets are
// known but different. If only one kind is known, the kind of s becomes unknown. On error, s does not change.
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

// KeyKind returns the kind of the set's keys. The kind is known only if the set was read from a file that
// records it.
func (s *AtomicSet) KeyKind() KeyKind {
	if s.view.live != nil && s.view.live.kindLost.Load() {
		return KindUnknown
	}
	return s.view.kind
}

// Clear removes every key added by a call that returned before Clear began. A key that is added while Clear
// runs may lose some of its bits, so that queries no longer find it. If you must not lose keys, create a new
// set instead, and share it with all goroutines through an [atomic.Pointer].
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

// Stats returns the same statistics as [Filter.Stats]. It does not copy the set. The result covers all keys
// added by calls that returned before Stats began. A key that is added while Stats runs may affect only some of
// the fields.
func (s *AtomicSet) Stats() Stats { return s.view.Stats() }

// Filter returns a read-only view of the set. The view also finds keys that are added later. You may query the
// view, directly or in a [Group], while goroutines add keys. [Filter.Bytes] does not copy the bytes. All other
// methods that return or write the encoded filter copy the bytes first. After [AtomicSet.ReadFrom] or
// [AtomicSet.UnmarshalBinary], a Filter that was returned earlier still refers to the old bits.
func (s *AtomicSet) Filter() *Filter {
	f := &Filter{s.view}
	f.kind = s.KeyKind()
	return f
}

// Snapshot returns an independent copy of the set. The copy contains every key added by a call that returned
// before Snapshot began.
func (s *AtomicSet) Snapshot() *Set {
	if s.view.scheme == 0 {
		return &Set{s.view}
	}
	v := s.view.copied()
	v.kind = s.KeyKind()
	return &Set{v}
}

// AppendBinary encodes a snapshot of s as a filter file, appends the file to dst, and returns the extended
// slice. The error is always nil.
func (s *AtomicSet) AppendBinary(dst []byte) ([]byte, error) { return s.Snapshot().AppendBinary(dst) }

// MarshalBinary encodes a snapshot of s as a filter file. The error is always nil.
func (s AtomicSet) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// WriteTo writes a snapshot of s to w as a filter file. Goroutines may add keys during the call.
func (s *AtomicSet) WriteTo(w io.Writer) (int64, error) { return s.Snapshot().WriteTo(w) }

// UnmarshalBinary replaces the contents of s with the filter file in data. It returns the same errors as
// [Set.UnmarshalBinary]. No other goroutine may use s during the call. On error, s does not change.
func (s *AtomicSet) UnmarshalBinary(data []byte) error { return s.take(verifyFile(data)) }

// ReadFrom replaces the contents of s with the next filter file from r. It reads no bytes beyond the end of
// the file, and returns the same errors as [Set.ReadFrom]. No other goroutine may use s during the call. On
// error, s does not change.
func (s *AtomicSet) ReadFrom(r io.Reader) (int64, error) {
	v, n, err := readFile(r)
	return n, s.take(v, err)
}

// String returns the format and the shape of the set in one line.
func (s AtomicSet) String() string {
	_, shape := s.view.encoded()
	return fmt.Sprintf("%v filter of %d bits and %d probes", s.view.format, shape.Bits, shape.Probes)
}

// MayContain reports whether key may have been added. If it returns false, the key was certainly absent when
// the call began. For an absent key, MayContain returns true with a probability equal to the false-positive
// rate.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) MayContain(key []byte) bool { return s.view.MayContain(key) }

// MayContainString is like MayContain but accepts the key as a string.
//
//gcassert:inline
//gcassert:noescape
func (s *AtomicSet) MayContainString(key string) bool { return s.view.MayContainString(key) }

// MayContainUint64 is like MayContain for the 8-byte little-endian encoding of key.
//
//gcassert:inline
func (s *AtomicSet) MayContainUint64(key uint64) bool { return s.view.MayContainUint64(key) }

// MayContainHash is like MayContain for the key whose [Hash] is h. It panics if h was not computed with the
// set's hash function.
//
//gcassert:inline
func (s *AtomicSet) MayContainHash(h Hash) bool { return s.view.MayContainHash(h) }

// MayContainBatch tests every key of a column and returns the number of hits (see [Filter.MayContainBatch]).
//
//gcassert:noescape
func (s *AtomicSet) MayContainBatch(keys Keys, hits []uint64) int {
	return s.view.MayContainBatch(keys, hits)
}
