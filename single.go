package bloom

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// mayContainUint64 is MayContainUint64 in portable Go. base begins a scheme: assembly, which
// jumps here, knows no other type.
func mayContainUint64(base **byte, key uint64) bool {
	s := (*scheme)(unsafe.Pointer(base))
	switch s.pair {
	case leveldbDouble32:
		return s.test(hash32Uint64(key), nil, 0)
	case xxh64x2Double64:
		h := hash64Uint64(key)
		return (*double64)(&s.array).test(h.h1, h.h2)
	case xxph3Line512:
		if !s.hasLine() {
			return (*line512)(&s.array).test(xxph3Uint64(key))
		}
	case signedLine32:
		if !s.hasLine() {
			return (*line32)(&s.array).test(hash32Uint64(key))
		}
	}
	return s.pair != 0 && s.testHash(s.pair.hash().ofUint64(key))
}

// mayContainHash is MayContainHash in portable Go. base begins a view.
func mayContainHash(base **byte, h1, h2 uint64, kind hashKind) bool {
	v := (*view)(unsafe.Pointer(base))
	if v.pair == leveldbDouble32 && kind == hashLevelDB {
		return v.test(uint32(h1), nil, 0)
	}
	h := Hash{h1, h2, kind}
	if kind != v.pair.hash() {
		return v.otherHash(h)
	}
	return v.testHash(h)
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

// clearMask has every bit set but bit i.
var clearMask = [8]byte{0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f}

// test reports whether the key of n bytes at p may be in the filter. LevelDB's hash and
// walk are both part of this function, because a second call would cost a sixth of the
// whole. h is the state of LevelDB's hash before the bytes. A caller that has the whole hash
// passes it as h, with no bytes. Other pairs ignore h and hash the bytes.
//
// The first three probes share a branch. One absent key in eight passes it, while one in two
// would pass a branch after the first probe, and a mispredicted branch costs more than two
// probes. In a filter of pairBytes, which does not fit the nearer caches, a load costs as much
// as such a branch. There, two probes share one: an absent key takes 2.7 loads instead of 3.2.
func (s *scheme) test(h uint32, p unsafe.Pointer, n int) bool {
	if s.pair != leveldbDouble32 {
		if s.pair == xxh64x2Double64 {
			h := hash64At(p, n)
			return (*double64)(&s.array).test(h.h1, h.h2)
		}
		if s.pair == xxh64Split256 && s.kernel != Generic {
			if n < shortKey {
				return (*split256)(&s.array).hasKey(p, n)
			}
			return (*split256)(&s.array).has(xxh64At(p, n))
		}
		if s.pair == xxph3Line512 {
			h := xxph3At(p, n)
			if s.hasLine() {
				return (*line512)(&s.array).has(h)
			}
			return (*line512)(&s.array).test(h)
		}
		if s.pair == signedLine32 {
			h := hash32SignedAt(p, n)
			if s.hasLine() {
				return (*line32)(&s.array).has(h)
			}
			return (*line32)(&s.array).test(h)
		}
		return s.pair != 0 && s.testHash(s.pair.hash().of(p, n))
	}
	d := (*double32)(&s.array)
	h = hash32Pairs(h, p, n)
	if n%8 != 0 {
		h = hash32Tail(h, p, n)
	}
	delta := bits.RotateLeft32(h, -17)
	k := d.k
	if k >= 3 && d.n < pairBytes {
		if d.probe(h)&d.probe(h+delta)&d.probe(h+2*delta) != 0xff {
			return false
		}
		h += 3 * delta
		k -= 3
	}
	for ; k >= 2; k -= 2 {
		if d.probe(h)&d.probe(h+delta) != 0xff {
			return false
		}
		h += 2 * delta
	}
	return k == 0 || d.has(h)
}

// isZero returns 1 if x is 0, and otherwise 0, without a branch.
func isZero(x uint64) uint64 { return (x|-x)>>63 ^ 1 }
