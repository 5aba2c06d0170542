package bloom

import (
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
)

// double64 is the walk of two 64-bit hashes through an array of n bits, 1 to 2^63: probe
// i tests bit (h1 + i·h2 mod 2^64) mod n. The reciprocal is floor(2^72 / n), or 0 for
// fewer than 512 bits.
type double64 bitArray

// newDouble64 returns the walk of k probes through the first n bits of data, at least 1.
func newDouble64(data []byte, n uint64, k int) double64 {
	d := double64{base: unsafe.SliceData(data), n: n, k: k}
	if n >= 512 {
		d.recip, _ = bits.Div64(1<<8, 0, n)
	}
	return d
}

func arrayDouble64(n uint64, k int) bitArray { return bitArray(newDouble64(nil, n, k)) }

// oneDouble64 reports whether assembly tests one key: it needs the reciprocal.
func oneDouble64(a bitArray) bool { return a.recip != 0 }

// ratio returns the words of floor(2^128 / n), the lower first, or 0 where there is no reciprocal.
func (d *double64) ratio() (words [2]uint64) {
	if d.recip != 0 {
		words[1] = d.recip >> 8
		words[0], _ = bits.Div64(-d.n*words[1], 0, d.n)
	}
	return words
}

// remainder returns h mod d.n.
func (d *double64) remainder(h uint64) uint64 {
	if d.recip == 0 {
		return h % d.n
	}
	return remainder64(h, d.n, d.recip)
}

// remainder64 returns h mod n, for recip = floor(2^72/n) and n of at least 512.
//
// The product h·recip / 2^72 is at most h/n, and less than 2^64/2^72 below it. So its floor
// is the floor of h/n or, one time in 512, one less. The remainder is then below 2n. A
// reciprocal of 2^64/n would save the shift, but then the branch would be random.
func remainder64(h, n, recip uint64) uint64 {
	q, _ := bits.Mul64(h, recip)
	r := h - q>>8*n
	if r >= n {
		r -= n
	}
	return r
}

// fractionBias is what assembly adds to the fraction of h/n, in units of 2^-64: all that it can be too small after the last
// probe. The sum is then less than 2^14 too large, which makes a difference from 2^50 bits on. asm/single.go has the proof.
const fractionBias = 2 + 2*encoding.MaxProbesCrate

func (d *double64) at(bit uint64) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(d.base), bit/8))
}

// has reports whether the key of one hash may be in the filter. The first three probes
// share one branch, and then two do, in filters of every size. has copies fields of d to variables, because the
// compiler would read them again for each probe.
func (d *double64) has(h1, h2 uint64) bool {
	if d.recip == 0 {
		return d.hasSmall(h1, h2)
	}
	base, n, recip := unsafe.Pointer(d.base), d.n, d.recip
	at, k := h1, d.k
	if k >= 3 {
		x := remainder64(at, n, recip)
		y := remainder64(at+h2, n, recip)
		z := remainder64(at+2*h2, n, recip)
		if probe64(base, x)&probe64(base, y)&probe64(base, z) != 0xff {
			return false
		}
		at += 3 * h2
		k -= 3
	}
	for ; k >= 2; k -= 2 {
		x := remainder64(at, n, recip)
		y := remainder64(at+h2, n, recip)
		if probe64(base, x)&probe64(base, y) != 0xff {
			return false
		}
		at += 2 * h2
	}
	return k == 0 || has64(base, remainder64(at, n, recip))
}

// hasSmall is has for filters below 512 bits, whose remainders need a division.
func (d *double64) hasSmall(at, step uint64) bool {
	for range d.k {
		if !has64(unsafe.Pointer(d.base), at%d.n) {
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

// add sets the bits of one hash, and reports whether one was missing.
func (d *double64) add(at, step uint64) (isNew bool) {
	missing := byte(0)
	k := d.k
	for ; k >= 2; k -= 2 {
		x, y := d.remainder(at), d.remainder(at+step)
		missing |= setInByte(d.at(x), uint32(x)) | setInByte(d.at(y), uint32(y))
		at += 2 * step
	}
	if k > 0 {
		x := d.remainder(at)
		missing |= setInByte(d.at(x), uint32(x))
	}
	return missing != 0
}

// probes is prober.probes for this walk.
func (d *double64) probes(at, step uint64, first int, to []uint64) {
	at += uint64(first) * step
	for i := range to {
		to[i] = d.remainder(at)
		at += step
	}
}

var fullDouble64 = fullWalk{0, wholeSums, twoWords}

// placeDouble64 is prober.place for this walk.
func (s *prober) placeDouble64(h *hashes, places []uint32) {
	done := s.placeFull(&fullDouble64, h, places)
	(*double64)(&s.bitArray).placeGeneric(h.h1[done:], h.h2[done:], places[done*s.k:])
}

// placeGeneric writes the numbers of the k bits of each hash to places. The filter must have
// at most 2^32 bits.
func (d *double64) placeGeneric(h1, h2 []uint64, places []uint32) {
	n, recip, k := d.n, d.recip, d.k // the compiler would read them again after each store
	if recip == 0 {
		d.placeSmall(h1, h2, places)
		return
	}
	h2 = h2[:len(h1)]
	for i, at := range h1 {
		step, of := h2[i], places[i*k:][:k]
		for j := range of {
			of[j] = uint32(remainder64(at, n, recip))
			at += step
		}
	}
}

// placeSmall is placeGeneric for filters below 512 bits, whose remainders need a division.
func (d *double64) placeSmall(h1, h2 []uint64, places []uint32) {
	for i, at := range h1 {
		for j := range d.k {
			places[i*d.k+j] = uint32(at % d.n)
			at += h2[i]
		}
	}
}

// testDouble64 is prober.test for this walk.
func (s *prober) testDouble64(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullDouble64, h, hits, dense) {
		(*double64)(&s.bitArray).probeGeneric(h.h1, h.h2, hits)
	}
}

// probeGeneric is prober.test in portable Go.
func (d *double64) probeGeneric(h1, h2 []uint64, hits []uint64) {
	clear(hits[:(len(h1)+63)/64])
	for i := range h1 {
		if d.has(h1[i], h2[i]) {
			hits[i/64] |= 1 << (i % 64)
		}
	}
}

func (k *Keys) hash64Generic(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2Uint64(key)
		}
	case fixedWidth:
		for i := range h1 {
			h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(&k.data[i*k.width]), k.width)
		}
	case offsets32:
		hash64Between(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		hash64Between(h1, h2, k.data, elements[int64](k, len(h1)+1))
	}
}

func hash64Between[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		key := data[offsets[i]:offsets[i+1]]
		h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
