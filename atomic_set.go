package bloom

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// AtomicSet is a [Set] that any number of goroutines add to and query at once, without a
// lock. A query finds every key whose addition returned before the query began. Of a key
// that is added at the same time, it may find all bits or only some.
//
// Adding a key takes an atomic operation for each of its bits that is not set yet. That is
// three to four times as slow as adding it to a Set, and six times for a column, while queries
// are as fast. If goroutines add columns and query rarely, a Set under a mutex is faster, or a
// Set for each goroutine and [Set.Merge]. An AtomicSet does not count its keys: all goroutines
// would wait for the counter.
//
// [Policy.NewAtomicSet] makes an AtomicSet. To save one, save the Set that
// [AtomicSet.Snapshot] returns. The zero AtomicSet has no bits. It holds no key, and to add a
// key panics.
type AtomicSet struct {
	view  view // not embedded: its methods that save a filter read the bits twice
	shape shape
	bits  []byte
}

// Additions set bits by atomic operations on words of 32 bits. Queries read bits as those of
// a Filter do: in words and vectors, in Go and in assembly, without atomic operations. That is
// right for three reasons.
//
//   - A bit that is set stays set. So it does not matter whether a query reads two bits at
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
// AddBatchNew leaves a row alone if its query finds the key, and that query has no atomic loads.
// For these rows, the model alone does not order what follows after the addition that set the
// bits. The CPUs do: who synchronizes with a goroutine sees what that goroutine has read.
//
// The race detector does not know that a racing read is right, and reports it in Go code;
// assembly it does not see. In a build with the detector, queries take atomic loads instead.

// WithKernel returns a view of the same set whose batches, of queries and of additions,
// run on kernel k, or [ErrKernel] if k is not one of [Kernels].
func (s *AtomicSet) WithKernel(k Kernel) (*AtomicSet, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	t := *s
	t.view.kernel = k
	return &t, nil
}

// Format returns the format of the set.
func (s *AtomicSet) Format() Format { return s.view.format }

// Add adds a key.
func (s *AtomicSet) Add(key []byte) {
	s.add(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// AddString adds a key.
func (s *AtomicSet) AddString(key string) {
	s.add(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// add adds the key of n bytes at p, and reports whether it was certainly new.
func (s *AtomicSet) add(p unsafe.Pointer, n int) bool {
	s.view.mustHaveBits()
	return s.view.addHashAtomic(s.view.pair.hash().of(p, n))
}

// AddUint64 adds the 8 little-endian bytes of key.
func (s *AtomicSet) AddUint64(key uint64) { s.addUint64(key) }

// addUint64 adds the 8 little-endian bytes of key, and reports whether it was certainly new.
func (s *AtomicSet) addUint64(key uint64) bool {
	s.view.mustHaveBits()
	return s.view.addHashAtomic(s.view.pair.hash().ofUint64(key))
}

// AddHash adds the key whose [Hash] is h. It panics if the set's format has another hash.
func (s *AtomicSet) AddHash(h Hash) {
	s.view.mustTake(h)
	s.view.addHashAtomic(h)
}

// TestAndAdd adds a key and reports whether it may have been there before. No is certain: no
// addition of the key had returned before this one began. If several goroutines add a new key
// at once, at least one of them learns that it is new.
func (s *AtomicSet) TestAndAdd(key []byte) bool {
	return !s.add(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// TestAndAddString is TestAndAdd for a string.
func (s *AtomicSet) TestAndAddString(key string) bool {
	return !s.add(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// TestAndAddUint64 is TestAndAdd for the 8 little-endian bytes of key.
func (s *AtomicSet) TestAndAddUint64(key uint64) bool { return !s.addUint64(key) }

// AddBatch adds every key of a column. For a large set it uses several goroutines, as
// [Policy.AppendFilter] does. It panics if keys are hashes of another kind than the set's.
func (s *AtomicSet) AddBatch(keys Keys) {
	keys.mustServe(s.view.format)
	s.view.addColumn(keys)
}

// AddBatchNew adds every key of a column and tells which were certainly new, as
// [Set.AddBatchNew] does. If several goroutines add a new key at once, at least one of them
// learns that it is new.
func (s *AtomicSet) AddBatchNew(keys Keys, added []uint64) int {
	return s.view.testBatch(&keys, added, true)
}

// Merge adds all keys of other, which no goroutine may change meanwhile. The sets must have
// the same format, size and number of probes. If not, s does not change and the error is
// [ErrShape].
func (s *AtomicSet) Merge(other *Set) error {
	from, err := other.bitsOf(s.view.format, s.shape, s.view.n)
	for i := 0; i < len(from); i += 4 {
		var bytes [4]byte
		copy(bytes[:], from[i:])
		if word := binary.NativeEndian.Uint32(bytes[:]); word != 0 {
			atomic.OrUint32(s.view.word(8*uint64(i)), word)
		}
	}
	return err
}

// Snapshot returns a copy, which does not change when s does. It has every key whose addition
// returned before Snapshot began.
func (s *AtomicSet) Snapshot() *Set {
	if s.view.pair == 0 {
		return new(Set)
	}
	v := s.view
	before := cap(v.data) - cap(s.bits) // their capacities end at the same byte
	v.data = newEncoded(before, len(v.data)-before)
	copy(v.data, s.view.data[:before])
	for i, to := 0, v.data[before:]; i < len(to); i += 4 { // what follows the bits shares a word with them
		var bytes [4]byte
		binary.NativeEndian.PutUint32(bytes[:], atomic.LoadUint32(s.view.word(8*uint64(i))))
		copy(to[i:], bytes[:])
	}
	v.array, _ = v.format.decode(v.data) // no error: it is a filter
	v.atomic, v.count = false, &keyCount{unknown: true}
	return &Set{v}
}

// String returns a line that tells the format and the shape.
func (s *AtomicSet) String() string {
	return fmt.Sprintf("%v filter of %d bits and %d probes", s.view.format, s.shape.bits, s.shape.probes)
}

// MarshalText returns the text of [AtomicSet.Snapshot], which a Set reads. The error is always
// nil.
func (s *AtomicSet) MarshalText() ([]byte, error) { return s.Snapshot().MarshalText() }

// MayContain reports whether key may have been added. A no is certain. For an absent key, the
// answer is yes at the false-positive rate.
func (s *AtomicSet) MayContain(key []byte) bool {
	if raceDetector {
		return s.view.testHash(s.view.format.Hash(key))
	}
	return s.view.MayContain(key)
}

// MayContainString is MayContain for a string.
func (s *AtomicSet) MayContainString(key string) bool {
	if raceDetector {
		return s.MayContain([]byte(key))
	}
	return s.view.MayContainString(key)
}

// MayContainUint64 is MayContain for the 8 little-endian bytes of key.
func (s *AtomicSet) MayContainUint64(key uint64) bool {
	if raceDetector {
		return s.MayContain(binary.LittleEndian.AppendUint64(nil, key))
	}
	return s.view.MayContainUint64(key)
}

// MayContainHash is MayContain for a key whose [Hash] is h. It panics if the set's format has
// another hash.
func (s *AtomicSet) MayContainHash(h Hash) bool {
	if raceDetector && s.view.pair.hash() == h.kind {
		return s.view.testHash(h)
	}
	return s.view.MayContainHash(h)
}

// MayContainBatch tests every key of a column, as [Filter.MayContainBatch] does.
func (s *AtomicSet) MayContainBatch(keys Keys, hits []uint64) int {
	return s.view.MayContainBatch(keys, hits)
}

// word returns the word of 32 bits that holds a bit. It is aligned: newEncoded aligns the
// first bit.
func (s *scheme) word(bit uint64) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(s.base), bit/32*4))
}

// wordShift returns the place of a bit in its word. Bytes are in the order of the machine.
func wordShift(bit uint64) uint64 {
	if bigEndian {
		bit ^= 24 // the bytes of a word the other way round
	}
	return bit % 32
}

// load returns a bit.
func (s *scheme) load(bit uint64) uint32 {
	return atomic.LoadUint32(s.word(bit)) >> wordShift(bit) & 1
}

// or sets a bit. Without a result, it is a single instruction on most CPUs, and several times
// as fast.
func (s *scheme) or(bit uint64) { atomic.OrUint32(s.word(bit), 1<<wordShift(bit)) }

// someProbes is how many probes of a key the functions below compute at a time.
const someProbes = 16

// testHashAtomic is testHash with atomic loads.
func (s *scheme) testHashAtomic(h Hash) bool {
	var buffer [someProbes]uint64
	for first := 0; first < s.k; first += someProbes {
		probes := buffer[:min(someProbes, s.k-first)]
		s.probes(h, first, probes)
		for _, bit := range probes {
			if s.load(bit) == 0 {
				return false
			}
		}
	}
	return true
}

// addHashAtomic sets the bits of one hash. It reports whether it has seen that one was not
// set, so that the key was certainly new. Of goroutines that add a new key at once, the first
// to look at such a bit sees that.
//
// It looks at some bits before it sets the first. The CPU loads several at a time from memory,
// but waits for each operation that sets one.
func (s *scheme) addHashAtomic(h Hash) (isNew bool) {
	var buffer [someProbes]uint64
	for first := 0; first < s.k; first += someProbes {
		probes := buffer[:min(someProbes, s.k-first)]
		s.probes(h, first, probes)
		missing := uint64(0)
		for i, bit := range probes {
			missing |= uint64(s.load(bit)^1) << (i % someProbes)
		}
		for rest := missing; rest != 0; rest &= rest - 1 {
			s.or(probes[bits.TrailingZeros64(rest)])
		}
		isNew = isNew || missing != 0
	}
	return isNew
}

// setPlacesAtomic is setPlaces by atomic operations. It looks at 64 bits first, as
// addHashAtomic does.
func (s *scheme) setPlacesAtomic(places []uint32) {
	var missing [64]uint32
	for len(places) > 0 {
		some := places[:min(len(places), len(missing))]
		n := uint32(0)
		for _, p := range some {
			missing[n%64] = p
			n += s.load(uint64(p)) ^ 1
		}
		for _, p := range missing[:n] {
			s.or(uint64(p))
		}
		places = places[len(some):]
	}
}
