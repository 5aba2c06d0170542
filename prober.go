package bloom

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// prober is how a filter is queried and built: hash, walk, bits, and the kernel of its
// batches. The zero prober holds no key.
//
// The methods below switch over the walk and do not call through a function value or an
// interface. The arguments of such a call escape to the heap: callers' buffers could not be
// on the stack. Only view.MayContain calls one.
type prober struct {
	bitArray
	pair   pair
	kernel Kernel
	atomic bool // bits are set by atomic operations, for an AtomicSet
	// Up to so many keys are tested one by one: a window of them would take longer.
	oneByOne uint8

	single *single // nil for the zero prober

	ratio [2]uint64 // of the walk double64, for its single: the words of floor(2^128 / n), the lower first
}

// newArray returns the array of a walk of k probes, at least 1, through n bits, at least
// 1, which begin where data does.
func (w walkKind) newArray(data []byte, n uint64, k int) bitArray {
	switch w {
	case walkDouble32:
		return bitArray(newDouble32(data[:n/8], k))
	case walkDouble64:
		return bitArray(newDouble64(data, n, k))
	case walkSplit256:
		return bitArray(newSplit256(data, n/256))
	case walkLine512:
		return bitArray(newLine512(data, n/512, k))
	case walkLine32:
		return bitArray(newLine32(data, uint32(n/512), 0, k))
	case walkCrossed64:
		return bitArray(newCrossed64(data, n, k))
	case walkDouble63:
		return bitArray(newDouble63(data, n, k))
	}
	panic("bloom: no such walk")
}

// bytes returns the number of bytes that the walk reaches.
func (s *prober) bytes() uint64 {
	switch s.pair.walk() {
	case noWalk:
		return 0
	case walkDouble32:
		return s.n
	case walkDouble64, walkDouble63:
		return (s.n-1)/8 + 1
	case walkSplit256:
		return 32 * s.n
	case walkLine512:
		return 64 * s.n
	case walkLine32:
		return (*line32)(&s.bitArray).bytes()
	case walkCrossed64:
		return uint64(walkCrossed64.bytesOf((*crossed64)(&s.bitArray).stored()))
	}
	panic("bloom: no such walk")
}

// wholeWords returns the number of the bits in whole words of 32 bits, or 2^32-1 if it is larger.
func (s *prober) wholeWords() uint32 { return uint32(min(s.bytes()&^3*8, math.MaxUint32)) }

// probeHashes sets bit i of hits for every hash i that may be in the filter. It writes one
// word for every 64 hashes, and clears all other bits of these words. dense is a hint: many
// of the hashes before these were hits.
//
// There are 1 to windowKeys hashes. Kernels read on to the next multiple of 16 and drop
// the outcome, so the capacity of the slices must reach that far.
func (s *prober) probeHashes(h *hashes, hits []uint64, dense bool) {
	switch s.pair.walk() {
	case noWalk:
		clear(hits[:(h.len()+63)/64])
	case walkDouble32:
		double32(s.bitArray).probeBatch(s.kernel, h.h32, hits, dense)
	case walkDouble64:
		(*double64)(&s.bitArray).probeBatch(s.kernel, h, hits, dense)
	case walkSplit256:
		(*split256)(&s.bitArray).probeBatch(s.kernel, h.h1, hits)
	case walkLine512:
		(*line512)(&s.bitArray).probeBatch(s.kernel, h.h1, hits)
	case walkLine32:
		(*line32)(&s.bitArray).probeBatch(s.kernel, h.h32, hits)
	case walkCrossed64:
		(*crossed64)(&s.bitArray).probeBatch(s.kernel, h, hits, dense)
	case walkDouble63:
		(*double63)(&s.bitArray).probeBatch(s.kernel, h.h1, h.h2, hits, dense)
	default:
		panic("bloom: no such walk")
	}
}

// alike reports whether a partTest may take two arrays together.
func (a *bitArray) alike(b *bitArray) bool { return a.k == b.k && a.n>>32 == b.n>>32 }

// partTest sets bit i if array i of a part of a group may hold the key of a hash.
type partTest func(kernel Kernel, p *part, h Hash) uint64

// partTest returns that of the walk, or nil if its bits lie in several lines: then no filters are tested together. A group calls
// it by its address: with a switch over the walks, 20 filters took 1 to 3 % longer (Zen 5, Group).
func (w walkKind) partTest() partTest {
	switch w {
	case walkSplit256:
		return probePartSplit256
	case walkLine512:
		return probePartLine512
	case walkLine32:
		return probePartLine32
	}
	return nil
}

// isDense reports whether it is likely to be faster to make all probes of each of the next
// keys at once, because the last n keys had so many hits.
func (s *prober) isDense(hits, n int) bool {
	switch s.pair.walk() {
	case walkDouble32:
		return double32Dense(hits, n)
	case walkDouble64, walkDouble63:
		return denseFull*hits >= n // moving the hashes that pass costs as much as several probes
	case walkCrossed64:
		if s.kernel != Generic {
			return denseFull*hits >= n
		}
		return denseFullGeneric*hits > n
	}
	return false
}

// addHash adds the key of a hash, and reports whether it was certainly new.
func (s *prober) addHash(h Hash) (isNew bool) {
	if s.atomic {
		return s.addHashAtomic(h)
	}
	switch s.pair.walk() {
	case noWalk:
		panicNoBits()
	case walkDouble32:
		return double32(s.bitArray).add(uint32(h.h1))
	case walkDouble64:
		return (*double64)(&s.bitArray).add(h.h1, h.h2)
	case walkSplit256:
		return (*split256)(&s.bitArray).addOne(s.kernel, h.h1)
	case walkLine512:
		return (*line512)(&s.bitArray).addOne(s.kernel, h.h1)
	case walkLine32:
		return (*line32)(&s.bitArray).add(uint32(h.h1))
	case walkCrossed64:
		return (*crossed64)(&s.bitArray).add(h)
	case walkDouble63:
		return (*double63)(&s.bitArray).add(h.h1, h.h2)
	}
	panic("bloom: no such walk")
}

// mustHaveBits panics for the zero Set.
func (s *prober) mustHaveBits() {
	if s.pair == 0 {
		panicNoBits()
	}
}

// setsLines reports whether the kernel sets all bits of a key at once, in one line of memory.
// That is not atomic.
func (s *prober) setsLines() bool {
	walk := s.pair.walk()
	if s.kernel == Generic || s.atomic || !walkKinds[walk].line {
		return false
	}
	return s.bytes() < mostLinesBytes && (walk != walkLine32 || (*line32)(&s.bitArray).log() == 0)
}

// addAssembly sets the bits of all hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (s *prober) addAssembly(h *hashes) bool {
	if !s.setsLines() {
		return false
	}
	switch s.pair.walk() {
	case walkSplit256:
		return (*split256)(&s.bitArray).addAssembly(s.kernel, h.h1)
	case walkLine512:
		return (*line512)(&s.bitArray).addAssembly(s.kernel, h.h1)
	case walkLine32:
		return (*line32)(&s.bitArray).addAssembly(s.kernel, h.h32)
	}
	return false
}

// addInOrder adds the keys of hashes, at least 1, one after the other, in the kernel's assembly. It sets bit i of added
// if the key of hash i was new, and writes one word for every 64 hashes. It returns false, and does nothing, if there is
// no such assembly. Kernels read on to the next multiple of 32 hashes, so the capacity of the slices must reach that far.
func (s *prober) addInOrder(h *hashes, added []uint64) bool {
	switch walk := s.pair.walk(); {
	case s.atomic:
	case walk == walkSplit256:
		return (*split256)(&s.bitArray).addInOrder(s.kernel, h.h1, added, 32*s.n >= requestBytes)
	case walk == walkLine512:
		return (*line512)(&s.bitArray).addInOrder(s.kernel, h.h1, added, 64*s.n >= requestBytes)
	}
	return false
}

// addAt adds the key of hash i, and reports whether it was certainly new.
func (s *prober) addAt(h *hashes, i int) (isNew bool) {
	if s.atomic {
		return s.addHashAtomic(h.at(i, s.pair.hash()))
	}
	switch s.pair.walk() {
	case walkDouble32:
		return double32(s.bitArray).add(h.h32[i])
	case walkDouble64:
		return (*double64)(&s.bitArray).add(h.h1[i], h.h2[i])
	case walkSplit256:
		return (*split256)(&s.bitArray).addOne(s.kernel, h.h1[i])
	case walkLine512:
		return (*line512)(&s.bitArray).addOne(s.kernel, h.h1[i])
	case walkLine32:
		return (*line32)(&s.bitArray).add(h.h32[i])
	case walkCrossed64:
		return (*crossed64)(&s.bitArray).add(h.at256(i))
	case walkDouble63:
		return (*double63)(&s.bitArray).add(h.h1[i], h.h2[i])
	}
	panic("bloom: no such walk")
}

// addLinesGeneric sets the bits of all hashes, a key at a time, if all bits of a key lie in one
// line of memory: that takes half the time of place and setPlaces, or less. It returns false, and does
// nothing, for other walks and for an [AtomicSet].
func (s *prober) addLinesGeneric(h *hashes) bool {
	switch walk := s.pair.walk(); {
	case s.atomic:
		return false
	case walk == walkSplit256:
		(*split256)(&s.bitArray).addBatch(h.h1)
	case walk == walkLine512:
		(*line512)(&s.bitArray).addBatch(h.h1)
	case walk == walkLine32 && (*line32)(&s.bitArray).log() == 0:
		(*line32)(&s.bitArray).addBatch(h.h32)
	default:
		return false
	}
	return true
}

func panicNoBits() {
	panic("bloom: a key was added to the zero Set, which has no bits; NewSet and OpenSet make sets")
}

// place writes the numbers of the bits that the first hashes set to places: k for each hash,
// in any order. It takes as many hashes as there is room for, and returns their number. The
// filter must have at most 2^32 bits.
func (s *prober) place(h *hashes, places []uint32) int {
	n := min(h.len(), len(places)/s.k)
	switch s.pair.walk() {
	case walkDouble32:
		double32(s.bitArray).place(s.kernel, h.h32[:n], places)
	case walkDouble64:
		(*double64)(&s.bitArray).place(s.kernel, h.h1[:n], h.h2[:n], places)
	case walkSplit256:
		(*split256)(&s.bitArray).place(h.h1[:n], places)
	case walkLine512:
		(*line512)(&s.bitArray).place(h.h1[:n], places)
	case walkLine32:
		(*line32)(&s.bitArray).place(h.h32[:n], places)
	case walkCrossed64:
		some := h.slice(0, n)
		(*crossed64)(&s.bitArray).place(s.kernel, &some, places)
	case walkDouble63:
		(*double63)(&s.bitArray).place(s.kernel, h.h1[:n], h.h2[:n], places)
	default:
		panic("bloom: no such walk")
	}
	return n
}

// probes writes the numbers of the bits of one hash that probe first, counted from 0, and
// those after it set, one for each element of bits. The filter may have any size.
func (s *prober) probes(h Hash, first int, bits []uint64) {
	switch s.pair.walk() {
	case walkDouble32:
		double32(s.bitArray).probes(uint32(h.h1), first, bits)
	case walkDouble64:
		(*double64)(&s.bitArray).probes(h.h1, h.h2, first, bits)
	case walkSplit256:
		(*split256)(&s.bitArray).probes(h.h1, first, bits)
	case walkLine512:
		(*line512)(&s.bitArray).probes(h.h1, first, bits)
	case walkLine32:
		(*line32)(&s.bitArray).probes(uint32(h.h1), first, bits)
	case walkCrossed64:
		(*crossed64)(&s.bitArray).probes(h, first, bits)
	case walkDouble63:
		(*double63)(&s.bitArray).probes(h.h1, h.h2, first, bits)
	default:
		panic("bloom: no such walk")
	}
}

// word returns the word of 32 bits that holds a bit. It is aligned: newEncoded aligns the
// first bit.
func (s *prober) word(bit uint64) *uint32 {
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
func (s *prober) load(bit uint64) uint32 {
	return atomic.LoadUint32(s.word(bit)) >> wordShift(bit) & 1
}

// or sets a bit. Without a result, it is a single instruction on most CPUs, and several times
// as fast.
func (s *prober) or(bit uint64) { atomic.OrUint32(s.word(bit), 1<<wordShift(bit)) }

// probeHashAtomic is probeHash with atomic loads.
func (s *prober) probeHashAtomic(h Hash) bool {
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
func (s *prober) addHashAtomic(h Hash) (isNew bool) {
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

// setPlacesAtomic is setPlaces by atomic operations. It looks at somePlaces bits first, as
// addHashAtomic does.
func (s *prober) setPlacesAtomic(places []uint32) {
	var missing [somePlaces]uint32
	for len(places) > 0 {
		some := places[:min(len(places), len(missing))]
		n := uint32(0)
		for _, p := range some {
			missing[n%somePlaces] = p
			n += s.load(uint64(p)) ^ 1
		}
		for _, p := range missing[:n] {
			s.or(uint64(p))
		}
		places = places[len(some):]
	}
}

// lineLoads says how a kernel tests lines of 64 bytes.
type lineLoads uint8

const (
	nearLines      lineLoads = iota // it loads a line when it needs it
	requestedLines                  // it requests a line before
	halvedLines                     // it does that, and AVX-512 loads a line in two halves, as AVX2 always does
)

// lineRequests says how AVX-512 tests lines in filters of so many bytes and more. In smaller filters, they are near.
type lineRequests struct {
	loads lineLoads
	bytes uint64
}

// lineLoads returns how the kernel tests lines of 64 bytes in a filter of so many bytes.
func (k Kernel) lineLoads(bytes uint64) lineLoads {
	least, loads := uint64(requestBytes), requestedLines
	if k == AVX512 {
		least, loads = requests512.bytes, requests512.loads
	}
	if bytes < least {
		return nearLines
	}
	return loads
}

// requestsBlocks reports whether tests by the kernel request the blocks of a filter of so many bytes.
func (k Kernel) requestsBlocks(bytes uint64) bool {
	if k == AVX512 {
		return bytes >= requestBlocks
	}
	return bytes >= requestBytes
}

// form says how a kernel of the walk double32 tests. NEON makes the first probes of all hashes. It then
// compacts the hashes that pass and makes their other probes; if first is the number of probes or more, it
// compacts none.
//
// The other kernels test in stages, which make one probe of all hashes and compact those that pass, until
// at most denseBelow hashes are left, or more than densePer256/256 of them passed a stage. Then they make
// all other probes of each hash at once. In a filter of farBytes, denseBelowFar takes the place of
// denseBelow. Where gathers are slow, AVX2 loads words one by one, and AVX-512, too, in a filter of fewer than
// loadsBelow bytes.
type form struct {
	first                                  int
	denseBelow, denseBelowFar, densePer256 int
	loadsBelow                             uint64
}

// isOfLoads reports whether a kernel loads words one by one in a filter of so many bytes.
func (f *form) isOfLoads(kernel Kernel, bytes uint64) bool {
	return (kernel == AVX2 || kernel == AVX512 && bytes < f.loadsBelow) && slowGather()
}
