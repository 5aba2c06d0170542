package bloom

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// prober is how a filter is queried and built: its scheme, its bits, and the kernel. scheme.go has what it can do.
// The zero prober holds no key.
type prober struct {
	bitArray
	scheme scheme
	kernel Kernel
	atomic bool // bits are set by atomic operations, for an AtomicSet
	// Up to so many keys are tested one by one: a window of them would take longer.
	oneByOne uint8

	single *single // nil for the zero prober

	ratio [2]uint64 // of the walk double64, for its single: the words of floor(2^128 / n), the lower first
}

// wholeWords returns the number of the bits in whole words of 32 bits, or 2^32-1 if it is larger.
func (s *prober) wholeWords() uint32 { return uint32(min(s.bytes()&^3*8, math.MaxUint32)) }

// alike reports whether testPart may take two arrays together.
func (a *bitArray) alike(b *bitArray) bool { return a.k == b.k && a.n>>32 == b.n>>32 }

// mustHaveBits panics for the zero Set.
func (s *prober) mustHaveBits() {
	if s.scheme == 0 {
		panic(noBits)
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
