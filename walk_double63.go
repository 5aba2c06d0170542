package bloom

import (
	"math/bits"
	"unsafe"
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

func arrayDouble63(data []byte, n uint64, k int) bitArray { return bitArray(newDouble63(data, n, k)) }

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

// place is prober.place for this walk.
func (d *double63) place(kernel Kernel, h1, h2 []uint64, places []uint32) {
	n, recip, k := d.n, d.recip, d.k // the compiler would read them again after each store
	done := (*bitArray)(d).placeFull(kernel, 56, signless, h1, h1, h2, h2, places)
	h1, h2, places = h1[done:], h2[done:], places[done*k:]
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

// probeBatch is prober.probeHashes for this walk.
func (d *double63) probeBatch(kernel Kernel, h1, h2, hits []uint64, dense bool) {
	if len(h1) >= singleKeys && (*bitArray)(d).probeFull(kernel, 56, signless, dense, h1, h1, h2, h2, hits) {
		return
	}
	clear(hits[:(len(h1)+63)/64])
	h2 = h2[:len(h1)]
	for i, h := range h1 {
		hits[i/64] |= oneIf(d.has(h, h2[i])) << (i % 64)
	}
}
