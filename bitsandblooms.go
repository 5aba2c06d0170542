package bloom

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
)

// crossed64 is the walk of four 64-bit words through an array of n bits, at least 1. Probes go by turns from two
// starts, h1 and h2, in two steps, h3 and h4: probe i tests bit (start + i·step mod 2^64) mod n, in this order:
//
//	i mod 4   0   1   2   3
//	start     h1  h2  h1  h2
//	step      h3  h4  h4  h3
//
// So probes 1 and 2, 3 and 4, and so on share a step. The bits are in big-endian words of 64: bit i of the walk
// is bit i ^ 56 of the bytes.
//
// The reciprocal is floor(2^72 / n). It is 0 for up to 256 bits, whose remainders need a division. It is
// fewerStored if fewer than n bits are stored: the rest count as 0, and the 8 bytes before the first bit have the
// number of those that are stored, big-endian. No key is added to such an array.
type crossed64 bitArray

// fewerStored is no reciprocal of a number of bits.
const fewerStored = 1

// newCrossed64 returns the walk of k probes through the first n bits of data, at least 1.
func newCrossed64(data []byte, n uint64, k int) crossed64 {
	c := crossed64{base: unsafe.SliceData(data), n: n, k: k}
	if n > 256 {
		c.recip, _ = bits.Div64(1<<8, 0, n)
	}
	return c
}

func arrayCrossed64(n uint64, k int) bitArray { return bitArray(newCrossed64(nil, n, k)) }
func bytesCrossed64(a bitArray) uint64        { return ((*crossed64)(&a).stored() + 63) / 64 * 8 }
func fitsCrossed64(a bitArray) bool           { return a.recip != fewerStored && fitsFull(a) }

// storesFewer reports whether an array stores fewer bits than its probes reach.
func (s *prober) storesFewer() bool { return s.scheme == schemeBitsAndBlooms && s.recip == fewerStored }

// stored returns how many bits are stored, those past n not counted.
func (c *crossed64) stored() uint64 {
	if c.recip == fewerStored {
		return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(c.base), -8))[:])
	}
	return c.n
}

// remainder returns h mod c.n.
func (c *crossed64) remainder(h uint64) uint64 {
	if c.recip <= fewerStored {
		return h % c.n
	}
	return remainder64(h, c.n, c.recip)
}

// crossed returns the number of which the remainder is the bit of probe i.
func crossed(h1, h2, h3, h4, i uint64) uint64 {
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
func (c *crossed64) at(bit uint64) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(c.base), bit>>3^7))
}

// crossedBit returns a byte whose lowest bit is a bit of the array.
func crossedBit(base unsafe.Pointer, bit uint64) byte {
	return *(*byte)(unsafe.Add(base, bit>>3^7)) >> (bit % 8)
}

// crossedWord is crossedBit by a load of 64 bits, which takes an instruction less. It is for columns: a single key in many filters
// would wait for words that lie in two cache lines.
func crossedWord(base unsafe.Pointer, bit uint64) uint64 {
	return load.Uint64(base, int(bit>>6<<3)) >> ((bit ^ 56) & 63)
}

// crossedProbe returns 0xff if the array has the bit, and otherwise a byte with one clear bit.
func crossedProbe(base unsafe.Pointer, bit uint64) byte {
	return *(*byte)(unsafe.Add(base, bit>>3^7)) | clearMask[bit%8]
}

// has reports whether the key of one hash may be in the filter. The first three probes share one branch, and
// then two do, as in double64.has.
func (c *crossed64) has(h1, h2, h3, h4 uint64) bool {
	if c.recip <= fewerStored || c.k < 3 {
		return c.hasSlow(h1, h2, h3, h4)
	}
	base, n, recip := unsafe.Pointer(c.base), c.n, c.recip
	x := remainder64(h1, n, recip)
	y := remainder64(h2+h4, n, recip)
	z := remainder64(h1+2*h4, n, recip)
	if crossedProbe(base, x)&crossedProbe(base, y)&crossedProbe(base, z) != 0xff {
		return false
	}
	return c.hasFrom(h1, h2, h3, h4, 3)
}

// hasFrom is has for the probes from i on, an odd number. The array has a reciprocal.
func (c *crossed64) hasFrom(h1, h2, h3, h4, i uint64) bool {
	base, n, recip, k := unsafe.Pointer(c.base), c.n, c.recip, uint64(c.k)
	step, next := h4, h3
	if i&2 != 0 {
		step, next = next, step
	}
	for ; i+1 < k; i += 2 {
		x := remainder64(h2+i*step, n, recip)
		y := remainder64(h1+(i+1)*step, n, recip)
		if crossedProbe(base, x)&crossedProbe(base, y) != 0xff {
			return false
		}
		step, next = next, step
	}
	return i >= k || crossedBit(base, remainder64(h2+i*step, n, recip))&1 != 0
}

// hasSlow is has for any array.
func (c *crossed64) hasSlow(h1, h2, h3, h4 uint64) bool {
	stored := c.stored()
	for i := range uint64(c.k) {
		bit := c.remainder(crossed(h1, h2, h3, h4, i))
		if bit >= stored || *c.at(bit)>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// add sets the bits of one hash, and reports whether one was missing.
func (c *crossed64) add(h1, h2, h3, h4 uint64) (isNew bool) {
	x := c.remainder(h1)
	missing := setInByte(c.at(x), uint32(x))
	step, next, i, k := h4, h3, uint64(1), uint64(c.k)
	for ; i+1 < k; i += 2 {
		x, y := c.remainder(h2+i*step), c.remainder(h1+(i+1)*step)
		missing |= setInByte(c.at(x), uint32(x)) | setInByte(c.at(y), uint32(y))
		step, next = next, step
	}
	if i < k {
		x := c.remainder(h2 + i*step)
		missing |= setInByte(c.at(x), uint32(x))
	}
	return missing != 0
}

// probes is prober.probes for this walk.
func (c *crossed64) probes(h1, h2, h3, h4 uint64, first int, to []uint64) {
	for i := range to {
		to[i] = c.remainder(crossed(h1, h2, h3, h4, uint64(first+i))) ^ 56
	}
}

var fullCrossed64 = fullWalk{56, wholeSums, [4]uintptr{
	unsafe.Offsetof(hashes{}.h1), unsafe.Offsetof(hashes{}.h2), unsafe.Offsetof(hashes{}.h3), unsafe.Offsetof(hashes{}.h4),
}}

// placeCrossed64 is prober.place for this walk.
func (s *prober) placeCrossed64(h *hashes, places []uint32) {
	done := s.placeFull(&fullCrossed64, h, places)
	(*crossed64)(&s.bitArray).place(h.h1[done:], h.h2[done:], h.h3[done:], h.h4[done:], places[done*s.k:])
}

// testCrossed64 is prober.test for this walk.
func (s *prober) testCrossed64(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullCrossed64, h, hits, dense) {
		(*crossed64)(&s.bitArray).test(h.h1, h.h2, h.h3, h.h4, hits, dense)
	}
}

// place writes the numbers of the k bits of each hash to places. There must be at most 2^32 bits.
func (c *crossed64) place(h1, h2, h3, h4 []uint64, places []uint32) {
	if c.recip <= fewerStored {
		for j := range h1 {
			for i := range c.k {
				places[j*c.k+i] = uint32(c.remainder(crossed(h1[j], h2[j], h3[j], h4[j], uint64(i)))) ^ 56
			}
		}
		return
	}
	n, recip, k := c.n, c.recip, c.k // the compiler would read them again after each store
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for j, h1 := range h1 {
		h2, of := h2[j], places[j*k:][:k]
		of[0] = uint32(remainder64(h1, n, recip)) ^ 56
		step, next, i := h4[j], h3[j], 1
		for ; i+1 < len(of); i += 2 {
			of[i] = uint32(remainder64(h2+uint64(i)*step, n, recip)) ^ 56
			of[i+1] = uint32(remainder64(h1+uint64(i+1)*step, n, recip)) ^ 56
			step, next = next, step
		}
		if i < len(of) {
			of[i] = uint32(remainder64(h2+uint64(i)*step, n, recip)) ^ 56
		}
	}
}

// test sets bit i of hits if hash i may be in the filter, and clears the others of those words. dense is a hint: many of the
// hashes before these were hits.
func (c *crossed64) test(h1, h2, h3, h4, hits []uint64, dense bool) {
	clear(hits[:(len(h1)+63)/64])
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	switch {
	case c.recip <= fewerStored:
		for i := range h1 {
			hits[i/64] |= oneIf(c.hasSlow(h1[i], h2[i], h3[i], h4[i])) << (i % 64)
		}
	case dense || c.k < 5:
		c.probeDense(h1, h2, h3, h4, hits)
	default:
		c.probeStaged(h1, h2, h3, h4, hits)
	}
}

// probeStaged is test for at least 5 probes: the first two of all hashes, two more of those that pass, and
// then the rest. The branches of the first two stages depend on no bit.
func (c *crossed64) probeStaged(h1, h2, h3, h4, hits []uint64) {
	base, n, recip := unsafe.Pointer(c.base), c.n, c.recip
	var left [windowKeys + 1]uint16 // the numbers of the hashes that pass
	kept := 0
	h1 = h1[:min(len(h1), windowKeys)]
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for i, a := range h1 {
		x := crossedWord(base, remainder64(a, n, recip))
		y := crossedWord(base, remainder64(h2[i]+h4[i], n, recip))
		left[kept] = uint16(i)
		kept += int(x & y & 1)
	}
	again := left[:kept]
	kept = 0
	for _, i := range again {
		x := crossedWord(base, remainder64(h1[i]+2*h4[i], n, recip))
		y := crossedWord(base, remainder64(h2[i]+3*h3[i], n, recip))
		left[kept] = i
		kept += int(x & y & 1)
	}
	for _, i := range left[:kept] {
		hits[i/64] |= oneIf(c.hasAfterFour(h1[i], h2[i], h3[i], h4[i])) << (i % 64)
	}
}

// hasAfterFour makes the probes from the fifth on, three of them without a branch.
func (c *crossed64) hasAfterFour(h1, h2, h3, h4 uint64) bool {
	base, n, recip, k := unsafe.Pointer(c.base), c.n, c.recip, uint64(c.k)
	all := crossedWord(base, remainder64(h1+4*h3, n, recip))
	if k == 7 {
		x := crossedWord(base, remainder64(h2+5*h4, n, recip))
		y := crossedWord(base, remainder64(h1+6*h4, n, recip))
		return all&x&y&1 != 0
	}
	return all&1 != 0 && c.hasFrom(h1, h2, h3, h4, 5)
}

// probeDense is test that makes all probes of all hashes, without a branch that depends on a bit.
func (c *crossed64) probeDense(h1, h2, h3, h4, hits []uint64) {
	base, n, recip, k := unsafe.Pointer(c.base), c.n, c.recip, uint64(c.k)
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for j, h1 := range h1 {
		h2 := h2[j]
		all := crossedWord(base, remainder64(h1, n, recip))
		step, next, i := h4[j], h3[j], uint64(1)
		for ; i+1 < k; i += 2 {
			x := crossedWord(base, remainder64(h2+i*step, n, recip))
			y := crossedWord(base, remainder64(h1+(i+1)*step, n, recip))
			all &= x & y
			step, next = next, step
		}
		if i < k {
			all &= crossedWord(base, remainder64(h2+i*step, n, recip))
		}
		hits[j/64] |= (all & 1) << (j % 64)
	}
}

// murmurGeneric writes the hash of each row.
func (k *Keys) murmurGeneric(h *hashes) {
	n := h.len()
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Pointer(unsafe.StringData(key)), len(key))))
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2Uint32(key)))
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2Uint64(key)))
		}
	case fixedWidth:
		k.murmurOfWidth(h)
	case offsets32:
		murmurBetween(h, k.data, elements[int32](k, n+1))
	case offsets64:
		murmurBetween(h, k.data, elements[int64](k, n+1))
	}
}

// murmurOfWidth is murmurGeneric for keys of one width.
func (k *Keys) murmurOfWidth(h *hashes) {
	p := unsafe.Pointer(unsafe.SliceData(k.data))
	switch k.width {
	case 16:
		keyhash.Murmur3x2Of16(p, h.h1, h.h2, h.h3, h.h4)
	case 8:
		for i := range h.h1 {
			h.set256(i, fourWords(keyhash.Murmur3x2Uint64(load.Uint64(p, 8*i))))
		}
	default:
		for i := range h.h1 {
			h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Add(p, i*k.width), k.width)))
		}
	}
}

func murmurBetween[E int32 | int64](h *hashes, data []byte, offsets []E) {
	for i := range h.h1 {
		key := data[offsets[i]:offsets[i+1]]
		h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))))
	}
}

// mayContainBitsAndBlooms is Format.MayContainHash for bytes that are damaged, that store fewer bits than the probes reach, or that
// have fewer than three probes.
func mayContainBitsAndBlooms(filter []byte, h Hash) bool {
	m, k, length, ok := encoding.BitsAndBloomsHeader(filter)
	if !ok || k == 0 || length == 0 {
		return !ok || k == 0
	}
	c := crossed64{&filter[encoding.HeaderBitsAndBlooms], m, fewerStored, int(k)} // hasSlow reads the length
	return c.hasSlow(h.h1, h.h2, h.h3, h.h4)
}
