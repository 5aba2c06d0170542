package probes

import (
	"math/bits"
	"unsafe"
)

// Nori has the probes of two 64-bit hashes through an array of n bits, 1 to 2^63: probe
// i tests bit (h1 + i·h2 mod 2^64) mod n. The reciprocal is floor(2^72 / n), or 0 for
// fewer than 512 bits.
type Nori Array

// NewNori returns k probes in the first n bits of data, at least 1.
func NewNori(data []byte, n uint64, k int) Nori {
	d := Nori{Base: unsafe.SliceData(data), N: n, K: k}
	if n >= 512 {
		d.Recip, _ = bits.Div64(1<<8, 0, n)
	}
	return d
}

// Divisor returns the words of floor(2^128 / n), the lower first, or 0 where there is no reciprocal.
func (d *Nori) Divisor() (words [2]uint64) {
	if d.Recip != 0 {
		words[1] = d.Recip >> 8
		words[0], _ = bits.Div64(-d.N*words[1], 0, d.N)
	}
	return words
}

// Remainder returns h mod d.N.
func (d *Nori) Remainder(h uint64) uint64 {
	if d.Recip == 0 {
		return h % d.N
	}
	return Remainder64(h, d.N, d.Recip)
}

// Remainder64 returns h mod n, for recip = floor(2^72/n) and n of at least 512.
//
// The product h·recip / 2^72 is at most h/n, and less than 2^64/2^72 below it. So its floor
// is the floor of h/n or, one time in 512, one less. The remainder is then below 2n. A
// reciprocal of 2^64/n would save the shift, but then the branch would be random.
func Remainder64(h, n, recip uint64) uint64 {
	q, _ := bits.Mul64(h, recip)
	r := h - q>>8*n
	if r >= n {
		r -= n
	}
	return r
}

func (d *Nori) at(bit uint64) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(d.Base), bit/8))
}

// Has reports whether the key of one hash may be in the filter. The first three probes
// share one branch, and then two do, in filters of every size. Has copies fields of d to variables, because the
// compiler would read them again for each probe.
func (d *Nori) Has(h1, h2 uint64) bool {
	if d.Recip == 0 {
		return d.hasSmall(h1, h2)
	}
	base, n, recip := unsafe.Pointer(d.Base), d.N, d.Recip
	at, k := h1, d.K
	if k >= 3 {
		x := Remainder64(at, n, recip)
		y := Remainder64(at+h2, n, recip)
		z := Remainder64(at+2*h2, n, recip)
		if probe64(base, x)&probe64(base, y)&probe64(base, z) != 0xff {
			return false
		}
		at += 3 * h2
		k -= 3
	}
	for ; k >= 2; k -= 2 {
		x := Remainder64(at, n, recip)
		y := Remainder64(at+h2, n, recip)
		if probe64(base, x)&probe64(base, y) != 0xff {
			return false
		}
		at += 2 * h2
	}
	return k == 0 || has64(base, Remainder64(at, n, recip))
}

// hasSmall is Has for filters below 512 bits, whose remainders need a division.
func (d *Nori) hasSmall(at, step uint64) bool {
	for range d.K {
		if !has64(unsafe.Pointer(d.Base), at%d.N) {
			return false
		}
		at += step
	}
	return true
}

// has64 reports whether the filter has the bit.
func has64(base unsafe.Pointer, bit uint64) bool {
	return uint32(*(*byte)(unsafe.Add(base, bit/8)))&(1<<(bit%8)) != 0
}

// probe64 returns 0xff if the filter has the bit, and otherwise a byte with one clear bit.
func probe64(base unsafe.Pointer, bit uint64) byte {
	return *(*byte)(unsafe.Add(base, bit/8)) | clearMask[bit%8]
}

// Add sets the bits of one hash, and reports whether one was missing.
func (d *Nori) Add(at, step uint64) (isNew bool) {
	missing := byte(0)
	k := d.K
	for ; k >= 2; k -= 2 {
		x, y := d.Remainder(at), d.Remainder(at+step)
		missing |= setInByte(d.at(x), uint32(x)) | setInByte(d.at(y), uint32(y))
		at += 2 * step
	}
	if k > 0 {
		x := d.Remainder(at)
		missing |= setInByte(d.at(x), uint32(x))
	}
	return missing != 0
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (d *Nori) Bits(at, step uint64, first int, to []uint64) {
	at += uint64(first) * step
	for i := range to {
		to[i] = d.Remainder(at)
		at += step
	}
}

// Place writes the numbers of the k bits of each hash to places. The filter must have
// at most 2^32 bits.
func (d *Nori) Place(h1, h2 []uint64, places []uint32) {
	n, recip, k := d.N, d.Recip, d.K // the compiler would read them again after each store
	if recip == 0 {
		d.placeSmall(h1, h2, places)
		return
	}
	h2 = h2[:len(h1)]
	for i, at := range h1 {
		step, of := h2[i], places[i*k:][:k]
		for j := range of {
			of[j] = uint32(Remainder64(at, n, recip))
			at += step
		}
	}
}

// placeSmall is Place for filters below 512 bits, whose remainders need a division.
func (d *Nori) placeSmall(h1, h2 []uint64, places []uint32) {
	for i, at := range h1 {
		for j := range d.K {
			places[i*d.K+j] = uint32(at % d.N)
			at += h2[i]
		}
	}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
func (d *Nori) Test(h1, h2 []uint64, hits []uint64) {
	clear(hits[:(len(h1)+63)/64])
	for i := range h1 {
		if d.Has(h1[i], h2[i]) {
			hits[i/64] |= 1 << (i % 64)
		}
	}
}
