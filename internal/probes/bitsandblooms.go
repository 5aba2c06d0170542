package probes

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/load"
)

// BitsAndBlooms has the probes of four 64-bit words through an array of n bits, at least 1. Probes go by turns from two
// starts, h1 and h2, in two steps, h3 and h4: probe i tests bit (start + i·step mod 2^64) mod n, in this order:
//
//	i mod 4   0   1   2   3
//	start     h1  h2  h1  h2
//	step      h3  h4  h4  h3
//
// So probes 1 and 2, 3 and 4, and so on share a step. The bits are in big-endian words of 64: bit i of a filter
// is bit i ^ 56 of the bytes.
//
// The reciprocal is floor(2^72 / n). It is 0 for up to 256 bits, whose remainders need a division. It is
// FewerStored if fewer than n bits are stored: the rest count as 0, and the 8 bytes before the first bit have the
// number of those that are stored, big-endian. No key is added to such an array.
type BitsAndBlooms Array

// FewerStored is no reciprocal of a number of bits.
const FewerStored = 1

// NewBitsAndBlooms returns k probes in the first n bits of data, at least 1.
func NewBitsAndBlooms(data []byte, n uint64, k int) BitsAndBlooms {
	c := BitsAndBlooms{Base: unsafe.SliceData(data), N: n, K: k}
	if n > 256 {
		c.Recip, _ = bits.Div64(1<<8, 0, n)
	}
	return c
}

// Stored returns how many bits are stored, those past n not counted.
func (c *BitsAndBlooms) Stored() uint64 {
	if c.Recip == FewerStored {
		return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(c.Base), -8))[:])
	}
	return c.N
}

// Remainder returns h mod c.N.
func (c *BitsAndBlooms) Remainder(h uint64) uint64 {
	if c.Recip <= FewerStored {
		return h % c.N
	}
	return Remainder64(h, c.N, c.Recip)
}

// Crossed returns the number whose remainder is the bit of probe i.
func Crossed(h1, h2, h3, h4, i uint64) uint64 {
	start, step := h1, h3
	if i&1 != 0 {
		start = h2
	}
	if (i+1)&2 != 0 {
		step = h4
	}
	return start + i*step
}

// at returns the byte of a bit.
func (c *BitsAndBlooms) at(bit uint64) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(c.Base), bit>>3^7))
}

// BigEndianBit returns a byte whose lowest bit is a bit of the array.
func BigEndianBit(base unsafe.Pointer, bit uint64) byte {
	return *(*byte)(unsafe.Add(base, bit>>3^7)) >> (bit % 8)
}

// bigEndianWord is BigEndianBit by a load of 64 bits, which takes an instruction less. It is for columns: a single key in many filters
// would wait for words that lie in two cache lines.
func bigEndianWord(base unsafe.Pointer, bit uint64) uint64 {
	return load.Uint64(base, int(bit>>6<<3)) >> ((bit ^ 56) & 63)
}

// BigEndianProbe returns 0xff if the array has the bit, and otherwise a byte with one clear bit.
func BigEndianProbe(base unsafe.Pointer, bit uint64) byte {
	return *(*byte)(unsafe.Add(base, bit>>3^7)) | clearMask[bit%8]
}

// Has reports whether the key of one hash may be in the filter. The first three probes share one branch, and
// then two do, as in Nori.Has.
func (c *BitsAndBlooms) Has(h1, h2, h3, h4 uint64) bool {
	if c.Recip <= FewerStored || c.K < 3 {
		return c.HasSlow(h1, h2, h3, h4)
	}
	base, n, recip := unsafe.Pointer(c.Base), c.N, c.Recip
	x := Remainder64(h1, n, recip)
	y := Remainder64(h2+h4, n, recip)
	z := Remainder64(h1+2*h4, n, recip)
	if BigEndianProbe(base, x)&BigEndianProbe(base, y)&BigEndianProbe(base, z) != 0xff {
		return false
	}
	return c.hasFrom(h1, h2, h3, h4, 3)
}

// hasFrom is Has for the probes from i on, an odd number. The array has a reciprocal.
func (c *BitsAndBlooms) hasFrom(h1, h2, h3, h4, i uint64) bool {
	base, n, recip, k := unsafe.Pointer(c.Base), c.N, c.Recip, uint64(c.K)
	step, next := h4, h3
	if i&2 != 0 {
		step, next = next, step
	}
	for ; i+1 < k; i += 2 {
		x := Remainder64(h2+i*step, n, recip)
		y := Remainder64(h1+(i+1)*step, n, recip)
		if BigEndianProbe(base, x)&BigEndianProbe(base, y) != 0xff {
			return false
		}
		step, next = next, step
	}
	return i >= k || BigEndianBit(base, Remainder64(h2+i*step, n, recip))&1 != 0
}

// HasSlow is Has for any array.
func (c *BitsAndBlooms) HasSlow(h1, h2, h3, h4 uint64) bool {
	stored := c.Stored()
	for i := range uint64(c.K) {
		bit := c.Remainder(Crossed(h1, h2, h3, h4, i))
		if bit >= stored || *c.at(bit)>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// Add sets the bits of one hash, and reports whether one was missing.
func (c *BitsAndBlooms) Add(h1, h2, h3, h4 uint64) (isNew bool) {
	x := c.Remainder(h1)
	missing := setInByte(c.at(x), uint32(x))
	step, next, i, k := h4, h3, uint64(1), uint64(c.K)
	for ; i+1 < k; i += 2 {
		x, y := c.Remainder(h2+i*step), c.Remainder(h1+(i+1)*step)
		missing |= setInByte(c.at(x), uint32(x)) | setInByte(c.at(y), uint32(y))
		step, next = next, step
	}
	if i < k {
		x := c.Remainder(h2 + i*step)
		missing |= setInByte(c.at(x), uint32(x))
	}
	return missing != 0
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (c *BitsAndBlooms) Bits(h1, h2, h3, h4 uint64, first int, to []uint64) {
	for i := range to {
		to[i] = c.Remainder(Crossed(h1, h2, h3, h4, uint64(first+i))) ^ 56
	}
}

// Place writes the numbers of the k bits of each hash to places. There must be at most 2^32 bits.
func (c *BitsAndBlooms) Place(h1, h2, h3, h4 []uint64, places []uint32) {
	if c.Recip <= FewerStored {
		for j := range h1 {
			for i := range c.K {
				places[j*c.K+i] = uint32(c.Remainder(Crossed(h1[j], h2[j], h3[j], h4[j], uint64(i)))) ^ 56
			}
		}
		return
	}
	n, recip, k := c.N, c.Recip, c.K // the compiler would read them again after each store
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for j, h1 := range h1 {
		h2, of := h2[j], places[j*k:][:k]
		of[0] = uint32(Remainder64(h1, n, recip)) ^ 56
		step, next, i := h4[j], h3[j], 1
		for ; i+1 < len(of); i += 2 {
			of[i] = uint32(Remainder64(h2+uint64(i)*step, n, recip)) ^ 56
			of[i+1] = uint32(Remainder64(h1+uint64(i+1)*step, n, recip)) ^ 56
			step, next = next, step
		}
		if i < len(of) {
			of[i] = uint32(Remainder64(h2+uint64(i)*step, n, recip)) ^ 56
		}
	}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words. dense is a hint: many of the
// hashes before these were hits.
func (c *BitsAndBlooms) Test(h1, h2, h3, h4, hits []uint64, dense bool) {
	clear(hits[:(len(h1)+63)/64])
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	switch {
	case c.Recip <= FewerStored:
		for i := range h1 {
			hits[i/64] |= OneIf(c.HasSlow(h1[i], h2[i], h3[i], h4[i])) << (i % 64)
		}
	case dense || c.K < 5:
		c.probeDense(h1, h2, h3, h4, hits)
	default:
		c.probeStaged(h1, h2, h3, h4, hits)
	}
}

// probeStaged is Test for at least 5 probes: the first two of all hashes, two more of those that pass, and
// then the rest. The branches of the first two stages depend on no bit.
func (c *BitsAndBlooms) probeStaged(h1, h2, h3, h4, hits []uint64) {
	base, n, recip := unsafe.Pointer(c.Base), c.N, c.Recip
	var left [Window + 1]uint16 // the numbers of the hashes that pass
	kept := 0
	h1 = h1[:min(len(h1), Window)]
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for i, a := range h1 {
		x := bigEndianWord(base, Remainder64(a, n, recip))
		y := bigEndianWord(base, Remainder64(h2[i]+h4[i], n, recip))
		left[kept] = uint16(i)
		kept += int(x & y & 1)
	}
	again := left[:kept]
	kept = 0
	for _, i := range again {
		x := bigEndianWord(base, Remainder64(h1[i]+2*h4[i], n, recip))
		y := bigEndianWord(base, Remainder64(h2[i]+3*h3[i], n, recip))
		left[kept] = i
		kept += int(x & y & 1)
	}
	for _, i := range left[:kept] {
		hits[i/64] |= OneIf(c.hasAfterFour(h1[i], h2[i], h3[i], h4[i])) << (i % 64)
	}
}

// hasAfterFour makes the probes from the fifth on, three of them without a branch.
func (c *BitsAndBlooms) hasAfterFour(h1, h2, h3, h4 uint64) bool {
	base, n, recip, k := unsafe.Pointer(c.Base), c.N, c.Recip, uint64(c.K)
	all := bigEndianWord(base, Remainder64(h1+4*h3, n, recip))
	if k == 7 {
		x := bigEndianWord(base, Remainder64(h2+5*h4, n, recip))
		y := bigEndianWord(base, Remainder64(h1+6*h4, n, recip))
		return all&x&y&1 != 0
	}
	return all&1 != 0 && c.hasFrom(h1, h2, h3, h4, 5)
}

// probeDense is Test that makes all probes of all hashes, without a branch that depends on a bit.
func (c *BitsAndBlooms) probeDense(h1, h2, h3, h4, hits []uint64) {
	base, n, recip, k := unsafe.Pointer(c.Base), c.N, c.Recip, uint64(c.K)
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for j, h1 := range h1 {
		h2 := h2[j]
		all := bigEndianWord(base, Remainder64(h1, n, recip))
		step, next, i := h4[j], h3[j], uint64(1)
		for ; i+1 < k; i += 2 {
			x := bigEndianWord(base, Remainder64(h2+i*step, n, recip))
			y := bigEndianWord(base, Remainder64(h1+(i+1)*step, n, recip))
			all &= x & y
			step, next = next, step
		}
		if i < k {
			all &= bigEndianWord(base, Remainder64(h2+i*step, n, recip))
		}
		hits[j/64] |= (all & 1) << (j % 64)
	}
}
