package bloom

import (
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
)

// double63 is the walk of two 64-bit hashes through an array of n bits, a multiple of 64: probe i tests bit
// (h1 + i·h2 mod 2^63) mod n. The bits are in big-endian words, as those of crossed64. The reciprocal is
// floor(2^72 / n), or 0 for up to 256 bits.
type double63 bitArray

// newDouble63 returns the walk of k probes through the first n bits of data, at least 64.
func newDouble63(data []byte, n uint64, k int) double63 {
	d := double63{base: unsafe.SliceData(data), n: n, k: k}
	if n > 256 {
		d.recip, _ = bits.Div64(1<<8, 0, n)
	}
	return d
}

func arrayDouble63(n uint64, k int) bitArray { return bitArray(newDouble63(nil, n, k)) }

// remainder returns the bit of a sum.
func (d *double63) remainder(sum uint64) uint64 {
	if d.recip == 0 {
		return sum & signless % d.n
	}
	return remainder64(sum&signless, d.n, d.recip)
}

// has reports whether the key of one hash may be in the filter. Its probes share branches as in double64.has.
func (d *double63) has(at, step uint64) bool {
	if d.recip == 0 || d.k < 3 {
		return d.hasSlow(at, step)
	}
	base, n, recip, k := unsafe.Pointer(d.base), d.n, d.recip, d.k-3
	x := remainder64(at&signless, n, recip)
	y := remainder64((at+step)&signless, n, recip)
	z := remainder64((at+2*step)&signless, n, recip)
	if crossedProbe(base, x)&crossedProbe(base, y)&crossedProbe(base, z) != 0xff {
		return false
	}
	at += 3 * step
	for ; k >= 2; k -= 2 {
		x := remainder64(at&signless, n, recip)
		y := remainder64((at+step)&signless, n, recip)
		if crossedProbe(base, x)&crossedProbe(base, y) != 0xff {
			return false
		}
		at += 2 * step
	}
	return k == 0 || crossedBit(base, remainder64(at&signless, n, recip))&1 != 0
}

// hasSlow is has for any array.
func (d *double63) hasSlow(at, step uint64) bool {
	for range d.k {
		if crossedBit(unsafe.Pointer(d.base), d.remainder(at))&1 == 0 {
			return false
		}
		at += step
	}
	return true
}

// add sets the bits of one hash, and reports whether one was missing.
func (d *double63) add(at, step uint64) (isNew bool) {
	missing := byte(0)
	for range d.k {
		bit := d.remainder(at) ^ 56
		missing |= setInByte((*byte)(unsafe.Add(unsafe.Pointer(d.base), bit/8)), uint32(bit))
		at += step
	}
	return missing != 0
}

// probes is prober.probes for this walk.
func (d *double63) probes(at, step uint64, first int, to []uint64) {
	at += uint64(first) * step
	for i := range to {
		to[i] = d.remainder(at) ^ 56
		at += step
	}
}

var fullDouble63 = fullWalk{56, signless, twoWords}

// placeDouble63 is prober.place for this walk.
func (s *prober) placeDouble63(h *hashes, places []uint32) {
	done := s.placeFull(&fullDouble63, h, places)
	(*double63)(&s.bitArray).place(h.h1[done:], h.h2[done:], places[done*s.k:])
}

// testDouble63 is prober.test for this walk.
func (s *prober) testDouble63(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullDouble63, h, hits, dense) {
		(*double63)(&s.bitArray).test(h.h1, h.h2, hits)
	}
}

// place writes the numbers of the k bits of each hash to places. There must be at most 2^32 bits.
func (d *double63) place(h1, h2 []uint64, places []uint32) {
	n, recip, k := d.n, d.recip, d.k // the compiler would read them again after each store
	h2 = h2[:len(h1)]
	for i, at := range h1 {
		step, of := h2[i], places[i*k:][:k]
		for j := range of {
			if recip == 0 {
				of[j] = uint32(at&signless%n) ^ 56
			} else {
				of[j] = uint32(remainder64(at&signless, n, recip)) ^ 56
			}
			at += step
		}
	}
}

// test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
func (d *double63) test(h1, h2, hits []uint64) {
	clear(hits[:(len(h1)+63)/64])
	h2 = h2[:len(h1)]
	for i, first := range h1 {
		hits[i/64] |= oneIf(d.has(first, h2[i])) << (i % 64)
	}
}

// murmur128Generic writes one digest of each row.
func (k *Keys) murmur128Generic(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3Uint64(key)
		}
	case fixedWidth:
		p := unsafe.Pointer(unsafe.SliceData(k.data))
		for i := range h1 {
			h1[i], h2[i] = keyhash.Murmur3(unsafe.Add(p, i*k.width), k.width)
		}
	case offsets32:
		murmur128Between(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		murmur128Between(h1, h2, k.data, elements[int64](k, len(h1)+1))
	}
}

func murmur128Between[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		key := data[offsets[i]:offsets[i+1]]
		h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
