package bloom

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
)

// single has the functions that test or add one key, for a pair of hash and walk and a kernel. A prober points to its
// single. So each takes one indirect jump, which CPUs predict, in place of comparisons with each pair.
type single struct {
	// Where the assembly of probeUint64 and addUint64 jumps to, and that of probeHash with a hash of each kind: to Go, unless it is the pair's.
	ofUint64, ofAdd uintptr
	ofHash          [len(hashKinds)]uintptr

	// ofKey is a keyTest, but p, the address of the key, has no type of a pointer. The compiler takes each pointer
	// that goes through a function value for one that escapes, and would move the key to the heap. A key on the
	// stack can move only when the stack grows, in a call. Then ofKey has p, as a pointer that moves with it.
	ofKey func(s *prober, p uintptr, n int) bool
}

// keyTest reports whether the key of n bytes at p may be in the filter.
type keyTest func(s *prober, p unsafe.Pointer, n int) bool

// ofKey returns what single.ofKey is for a test.
func ofKey(test keyTest) func(*prober, uintptr, int) bool {
	return *(*func(*prober, uintptr, int) bool)(unsafe.Pointer(&test))
}

// usualPairs has the pair of each walk that tests of a single key have an arm for. A walk without a line has none.
var usualPairs = [len(walkKinds)]pair{
	walkDouble32: leveldbDouble32, walkDouble64: xxh64x2Double64, walkSplit256: xxh64Split256, walkLine512: xxph3Line512, walkLine32: signedLine32,
}

// singles are those of the usual pairs, by kernel and walk. All begin with Go's functions; single_amd64.go sets
// those of assembly.
var singles = func() (all [NEON + 1][len(usualPairs)]single) {
	for kernel := range all {
		for walk := range all[kernel] {
			all[kernel][walk].ofKey = ofKey((*prober).probeKey)
		}
	}
	return all
}()

// setKernel sets the kernel, and the single that fits it, the pair and the array, which are set before.
func (s *prober) setKernel(kernel Kernel) {
	walk := s.pair.walk()
	s.kernel, s.oneByOne = kernel, walkKinds[walk].oneByOne
	if kernel == Generic && walk != noWalk {
		s.oneByOne = keysAcross
	}
	switch {
	case s.pair == 0:
		s.single = nil
	case s.pair != usualPairs[walk] || s.onlyGoTests():
		s.single = &singles[Generic][noWalk]
	default:
		s.single = &singles[kernel][walk]
	}
	if walk == walkDouble64 && s.recip != 0 {
		s.ratio[1] = s.recip >> 8
		s.ratio[0], _ = bits.Div64(-s.n*s.ratio[1], 0, s.n)
	}
}

// takes is setKernel for a usual pair and the fastest kernel, for an array that has not onlyGoTests.
func (s *prober) takes(p pair) {
	s.pair, s.kernel = p, kernels[0]
	s.single = &singles[s.kernel][p.walk()]
}

// onlyGoTests reports whether no assembly tests single keys in the array: one of a walk of double64 without a
// reciprocal, or of lines that take more than maxHasProbes probes or are longer than 64 bytes.
func (s *prober) onlyGoTests() bool {
	switch s.pair.walk() {
	case walkDouble64:
		return s.recip == 0
	case walkLine512:
		return s.k > maxHasProbes
	case walkLine32:
		return s.k > maxHasProbes || s.n>>32 != 0
	}
	return false
}

// probeKey is a keyTest of any pair, in Go.
func (s *prober) probeKey(p unsafe.Pointer, n int) bool {
	if n == 8 {
		return mayContainUint64(&s.base, load64(p, 0))
	}
	switch s.pair {
	case leveldbDouble32:
		return double32(s.bitArray).has(hash32At(p, n, unsignedBytes))
	case xxh64x2Double64:
		h := hash64At(p, n)
		return (*double64)(&s.bitArray).has(h.h1, h.h2)
	case xxh64Split256:
		return (*split256)(&s.bitArray).has(xxh64At(p, n))
	case xxph3Line512:
		return (*line512)(&s.bitArray).has(xxph3At(p, n))
	case signedLine32:
		return (*line32)(&s.bitArray).has(hash32At(p, n, signedBytes))
	case murmurCrossed64:
		return (*crossed64)(&s.bitArray).has(murmurAt(p, n))
	case murmurDouble63:
		h := murmur128At(p, n)
		return (*double63)(&s.bitArray).has(h.h1, h.h2)
	}
	return s.pair != 0 && s.probeHash(s.pair.hash().of(p, n))
}

// probeHash reports whether the key of a hash of the prober may be in the filter.
func (s *prober) probeHash(h Hash) bool {
	if detect.Races && s.atomic {
		return s.probeHashAtomic(h)
	}
	if s.pair == murmurCrossed64 { // it takes any words
		return (*crossed64)(&s.bitArray).has(h)
	}
	return probeHash(&s.base, h.h1, h.h2, h.h3, h.h4)
}

// mayContainUint64 is probeUint64 in portable Go. base begins a prober: assembly, which jumps here, knows
// no other type.
func mayContainUint64(base **byte, key uint64) bool {
	s := (*prober)(unsafe.Pointer(base))
	switch s.pair {
	case leveldbDouble32:
		return double32(s.bitArray).has(hash32Uint64(key))
	case xxh64x2Double64:
		h := hash64Uint64(key)
		return (*double64)(&s.bitArray).has(h.h1, h.h2)
	case xxh64Split256:
		return (*split256)(&s.bitArray).has(xxh64Uint64(key))
	case xxph3Line512:
		return (*line512)(&s.bitArray).has(xxph3Uint64(key))
	case signedLine32:
		return (*line32)(&s.bitArray).has(hash32Uint64(key))
	case murmurCrossed64:
		return (*crossed64)(&s.bitArray).has(murmurUint64(key))
	case murmurDouble63:
		h := murmur128Uint64(key)
		return (*double63)(&s.bitArray).has(h.h1, h.h2)
	}
	return s.pair != 0 && s.probeHash(s.pair.hash().ofUint64(key))
}

// mayContainHash is probeHash in portable Go. base begins a prober.
func mayContainHash(base **byte, h1, h2, h3, h4 uint64) bool {
	s := (*prober)(unsafe.Pointer(base))
	h := Hash{h1, h2, h3, h4}
	if !s.pair.takes(h) {
		return s.otherHash(h)
	}
	switch s.pair.walk() {
	case noWalk:
		return false
	case walkDouble32:
		return double32(s.bitArray).has(uint32(h1))
	case walkDouble64:
		return (*double64)(&s.bitArray).has(h1, h2)
	case walkSplit256:
		return (*split256)(&s.bitArray).has(h1)
	case walkLine512:
		return (*line512)(&s.bitArray).has(h1)
	case walkLine32:
		return (*line32)(&s.bitArray).has(uint32(h1))
	case walkCrossed64:
		return (*crossed64)(&s.bitArray).has(h)
	case walkDouble63:
		return (*double63)(&s.bitArray).has(h1, h2)
	}
	panic("bloom: no such walk")
}

// addKey adds the key of n bytes at p, and reports whether it was certainly new. As in probeKey, usual pairs
// take no call more than they need. It is not atomic: an AtomicSet must not call it.
func (s *prober) addKey(p unsafe.Pointer, n int) (isNew bool) {
	if n == 8 {
		return addUint64(&s.base, load64(p, 0))
	}
	switch s.pair {
	case leveldbDouble32:
		return double32(s.bitArray).add(hash32At(p, n, unsignedBytes))
	case xxh64x2Double64:
		h := hash64At(p, n)
		return (*double64)(&s.bitArray).add(h.h1, h.h2)
	case xxh64Split256:
		h := xxh64At(p, n)
		if isNew, ok := addOneSplit256(s.kernel, &s.base, h); ok {
			return isNew
		}
		return (*split256)(&s.bitArray).add(h)
	case xxph3Line512:
		var h uint64
		if n <= shortXXPH3 {
			h = xxph3Short(p, n)
		} else {
			h = xxph3At(p, n)
		}
		if s.k <= maxHasProbes {
			if isNew, ok := addOneLine512(s.kernel, &s.base, h); ok {
				return isNew
			}
		}
		return (*line512)(&s.bitArray).add(h)
	case signedLine32:
		return (*line32)(&s.bitArray).add(hash32At(p, n, signedBytes))
	case murmurCrossed64:
		return (*crossed64)(&s.bitArray).add(murmurAt(p, n))
	case murmurDouble63:
		h := murmur128At(p, n)
		return (*double63)(&s.bitArray).add(h.h1, h.h2)
	}
	s.mustHaveBits()
	return s.addHash(s.pair.hash().of(p, n))
}

// addUint64Generic is addUint64 in portable Go. base begins a prober.
func addUint64Generic(base **byte, key uint64) (isNew bool) { //nolint:unused // assembly jumps to it
	s := (*prober)(unsafe.Pointer(base))
	switch s.pair {
	case leveldbDouble32:
		return double32(s.bitArray).add(hash32Uint64(key))
	case xxh64x2Double64:
		h := hash64Uint64(key)
		return (*double64)(&s.bitArray).add(h.h1, h.h2)
	case xxh64Split256:
		return (*split256)(&s.bitArray).add(xxh64Uint64(key))
	case xxph3Line512:
		return (*line512)(&s.bitArray).add(xxph3Uint64(key))
	case signedLine32:
		return (*line32)(&s.bitArray).add(hash32Uint64(key))
	case murmurCrossed64:
		return (*crossed64)(&s.bitArray).add(murmurUint64(key))
	case murmurDouble63:
		h := murmur128Uint64(key)
		return (*double63)(&s.bitArray).add(h.h1, h.h2)
	}
	s.mustHaveBits()
	return s.addHash(s.pair.hash().ofUint64(key))
}

// otherHash answers no for the zero Filter, which holds no key. For every other filter it
// panics.
func (s *prober) otherHash(h Hash) bool {
	if s.pair != 0 {
		panicOtherHash(h, s.pair.hash())
	}
	return false
}

// panicOtherHash is a function of its own, so that those that call it are inlined.
func panicOtherHash(h Hash, want hashKind) {
	panic(fmt.Sprintf("bloom: the key was hashed by %v, but the filter's format uses %v", h.kind(), want))
}
