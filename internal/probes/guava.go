package probes

import (
	"math/bits"
	"unsafe"
)

// Guava has the probes of two 64-bit hashes through an array of n bits, a multiple of 64: probe i tests bit
// (h1 + i·h2 mod 2^63) mod n. The bits are in big-endian words, as those of BitsAndBlooms. The reciprocal is
// floor(2^72 / n), or 0 for up to 256 bits.
type Guava Array

// NewGuava returns k probes in the first n bits of data, at least 64.
func NewGuava(data []byte, n uint64, k int) Guava {
	d := Guava{Base: unsafe.SliceData(data), N: n, K: k}
	if n > 256 {
		d.Recip, _ = bits.Div64(1<<8, 0, n)
	}
	return d
}

// Remainder returns the bit of a sum.
func (d *Guava) Remainder(sum uint64) uint64 {
	if d.Recip == 0 {
		return sum & Signless % d.N
	}
	return Remainder64(sum&Signless, d.N, d.Recip)
}

// Has reports whether the key of one hash may be in the filter. Its probes share branches as in Nori.Has.
func (d *Guava) Has(at, step uint64) bool {
	if d.Recip == 0 || d.K < 3 {
		return d.HasSlow(at, step)
	}
	base, n, recip, k := unsafe.Pointer(d.Base), d.N, d.Recip, d.K-3
	x := Remainder64(at&Signless, n, recip)
	y := Remainder64((at+step)&Signless, n, recip)
	z := Remainder64((at+2*step)&Signless, n, recip)
	if BigEndianProbe(base, x)&BigEndianProbe(base, y)&BigEndianProbe(base, z) != 0xff {
		return false
	}
	at += 3 * step
	for ; k >= 2; k -= 2 {
		x := Remainder64(at&Signless, n, recip)
		y := Remainder64((at+step)&Signless, n, recip)
		if BigEndianProbe(base, x)&BigEndianProbe(base, y) != 0xff {
			return false
		}
		at += 2 * step
	}
	return k == 0 || BigEndianBit(base, Remainder64(at&Signless, n, recip))&1 != 0
}

// HasSlow is Has for any array.
func (d *Guava) HasSlow(at, step uint64) bool {
	for range d.K {
		if BigEndianBit(unsafe.Pointer(d.Base), d.Remainder(at))&1 == 0 {
			return false
		}
		at += step
	}
	return true
}

// Add sets the bits of one hash, and reports whether one was missing.
func (d *Guava) Add(at, step uint64) (isNew bool) {
	missing := byte(0)
	for range d.K {
		bit := d.Remainder(at) ^ 56
		missing |= setInByte((*byte)(unsafe.Add(unsafe.Pointer(d.Base), bit/8)), uint32(bit))
		at += step
	}
	return missing != 0
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (d *Guava) Bits(at, step uint64, first int, to []uint64) {
	at += uint64(first) * step
	for i := range to {
		to[i] = d.Remainder(at) ^ 56
		at += step
	}
}

// Place writes the numbers of the k bits of each hash to places. There must be at most 2^32 bits.
func (d *Guava) Place(h1, h2 []uint64, places []uint32) {
	n, recip, k := d.N, d.Recip, d.K // the compiler would read them again after each store
	h2 = h2[:len(h1)]
	for i, at := range h1 {
		step, of := h2[i], places[i*k:][:k]
		for j := range of {
			if recip == 0 {
				of[j] = uint32(at&Signless%n) ^ 56
			} else {
				of[j] = uint32(Remainder64(at&Signless, n, recip)) ^ 56
			}
			at += step
		}
	}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
func (d *Guava) Test(h1, h2, hits []uint64) {
	clear(hits[:(len(h1)+63)/64])
	h2 = h2[:len(h1)]
	for i, first := range h1 {
		hits[i/64] |= OneIf(d.Has(first, h2[i])) << (i % 64)
	}
}

// Signless is all bits of a sum but its sign.
const Signless = 1<<63 - 1
