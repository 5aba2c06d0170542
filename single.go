package bloom

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// probeKey reports whether the key of n bytes at p may be in the filter. All tests of one key that is
// not hashed yet come here, but for those of integers.
func (s *prober) probeKey(p unsafe.Pointer, n int) bool {
	if n == 8 {
		return probeUint64(&s.base, load64(p, 0))
	}
	if n < shortKey && s.pair == xxh64Split256 {
		if may, ok := probeShortSplit256(s.kernel, &s.base, (*byte)(p), n); ok {
			return may
		}
	}
	h, assembly := uint64(0), s.kernel.probesSingles()
	switch s.pair {
	case leveldbDouble32:
		return double32(s.bitArray).has(hash32At(p, n, unsignedBytes))
	case xxh64x2Double64:
		h := hash64At(p, n)
		return (*double64)(&s.bitArray).has(h.h1, h.h2)
	case xxh64Split256:
		if h = xxh64At(p, n); !assembly {
			return (*split256)(&s.bitArray).has(h)
		}
	case xxph3Line512:
		if h = xxph3At(p, n); !assembly {
			return (*line512)(&s.bitArray).has(h)
		}
	case signedLine32:
		if h = uint64(hash32At(p, n, signedBytes)); !assembly {
			return (*line32)(&s.bitArray).has(uint32(h))
		}
	default:
		return s.pair != 0 && s.probeHash(s.pair.hash().of(p, n))
	}
	return probeHash(&s.base, h, 0, uint8(s.pair.hash()))
}

// probeHash reports whether the key of a hash of the prober may be in the filter.
func (s *prober) probeHash(h Hash) bool {
	if raceDetector && s.atomic {
		return s.probeHashAtomic(h)
	}
	return probeHash(&s.base, h.h1, h.h2, uint8(h.kind))
}

// probesSingles reports whether probeUint64 and probeHash are assembly that serves the kernel.
func (k Kernel) probesSingles() bool { return k-AVX2 <= AVX512-AVX2 }

// takes sets the pair, and the fastest kernel, by one store: probeUint64 and probeHash load both at once,
// and a load waits for two stores.
func (s *prober) takes(p pair) {
	binary.LittleEndian.PutUint16((*[2]byte)(unsafe.Pointer(&s.pair))[:], uint16(p)|uint16(kernels[0])<<8)
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
	}
	return s.pair != 0 && s.probeHash(s.pair.hash().ofUint64(key))
}

// mayContainHash is probeHash in portable Go. base begins a view, or a prober whose hash is of the given
// kind.
func mayContainHash(base **byte, h1, h2 uint64, kind uint8) bool {
	s := (*prober)(unsafe.Pointer(base))
	if hashKind(kind) != s.pair.hash() {
		return (*view)(unsafe.Pointer(base)).otherHash(Hash{h1, h2, hashKind(kind)})
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
	}
	panic("bloom: no such walk")
}

// addKey adds the key of n bytes at p, and reports whether it was certainly new. As in probeKey, usual pairs
// take no call more than they need. It does not serve the set of several goroutines, and neither does addUint64.
func (s *prober) addKey(p unsafe.Pointer, n int) (isNew bool) {
	if n == 8 {
		return s.addUint64(load64(p, 0))
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
		h := xxph3At(p, n)
		if s.k <= maxHasProbes {
			if isNew, ok := addOneLine512(s.kernel, &s.base, h); ok {
				return isNew
			}
		}
		return (*line512)(&s.bitArray).add(h)
	case signedLine32:
		return (*line32)(&s.bitArray).add(hash32At(p, n, signedBytes))
	}
	s.mustHaveBits()
	return s.addHash(s.pair.hash().of(p, n))
}

// addUint64 is addKey for the 8 little-endian bytes of key.
func (s *prober) addUint64(key uint64) (isNew bool) {
	switch s.pair {
	case leveldbDouble32:
		return double32(s.bitArray).add(hash32Uint64(key))
	case xxh64x2Double64:
		h := hash64Uint64(key)
		return (*double64)(&s.bitArray).add(h.h1, h.h2)
	case xxh64Split256:
		h := xxh64Uint64(key)
		if isNew, ok := addOneSplit256(s.kernel, &s.base, h); ok {
			return isNew
		}
		return (*split256)(&s.bitArray).add(h)
	case xxph3Line512:
		h := xxph3Uint64(key)
		if s.k <= maxHasProbes {
			if isNew, ok := addOneLine512(s.kernel, &s.base, h); ok {
				return isNew
			}
		}
		return (*line512)(&s.bitArray).add(h)
	case signedLine32:
		return (*line32)(&s.bitArray).add(hash32Uint64(key))
	}
	s.mustHaveBits()
	return s.addHash(s.pair.hash().ofUint64(key))
}

// otherHash answers no for the zero Filter, which holds no key. For every other filter it
// panics.
func (v *view) otherHash(h Hash) bool {
	if v.pair == 0 {
		return false
	}
	panicOtherHash(h, v.format)
	return false
}

// panicOtherHash is a function of its own, so that those that call it are inlined.
func panicOtherHash(h Hash, f Format) {
	panic(fmt.Sprintf("bloom: the key was hashed by %v, but filters of the format %v use %v", h.kind, f, f.hash()))
}
