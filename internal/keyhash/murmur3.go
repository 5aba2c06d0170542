package keyhash

import (
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/load"
)

// The constants of murmur3_x64_128.
const (
	MurmurC1 = 0x87c37b91114253d5
	MurmurC2 = 0x4cf5ad432745937f

	// What murmurLow makes of a tail of the byte 1, and murmurHigh of one whose ninth byte is 1.
	MurmurLowOfOne  = (MurmurC1<<31&(1<<64-1) | MurmurC1>>33) * MurmurC2 & (1<<64 - 1)
	murmurHighOfOne = (MurmurC2<<33&(1<<64-1) | MurmurC2>>31) * MurmurC1 & (1<<64 - 1)
)

// murmurLow and murmurHigh scramble the two words of a block or of a tail. They map 0 to 0, so a tail needs no
// branch for a word that it lacks.
func murmurLow(k uint64) uint64  { return bits.RotateLeft64(k*MurmurC1, 31) * MurmurC2 }
func murmurHigh(k uint64) uint64 { return bits.RotateLeft64(k*MurmurC2, 33) * MurmurC1 }

func murmurBlock(h1, h2, k1, k2 uint64) (uint64, uint64) {
	h1 = (bits.RotateLeft64(h1^murmurLow(k1), 27)+h2)*5 + 0x52dce729
	h2 = (bits.RotateLeft64(h2^murmurHigh(k2), 31)+h1)*5 + 0x38495ab5
	return h1, h2
}

func murmurMix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// murmurEnd returns the digest of n bytes.
func murmurEnd(h1, h2, n uint64) (uint64, uint64) {
	h1 ^= n
	h2 ^= n
	h1 += h2
	h2 += h1
	h1, h2 = murmurMix(h1), murmurMix(h2)
	h1 += h2
	return h1, h2 + h1
}

// Murmur3x2 hashes the n bytes at p.
func Murmur3x2(p unsafe.Pointer, n int) (h1, h2, h3, h4 uint64) {
	switch n {
	case 16:
		return murmur16(p)
	case 8:
		return Murmur3x2Uint64(load.Uint64(p, 0))
	}
	return murmur3x2Any(p, n)
}

// murmur16 hashes the 16 bytes at p: the second digest has one block and a tail of one byte.
func murmur16(p unsafe.Pointer) (h1, h2, h3, h4 uint64) {
	x, y := murmurBlock(0, 0, load.Uint64(p, 0), load.Uint64(p, 8))
	h1, h2 = murmurEnd(x, y, 16)
	h3, h4 = murmurEnd(x^MurmurLowOfOne, y, 17)
	return h1, h2, h3, h4
}

// Murmur3x2Uint64 hashes the 8 little-endian bytes of a key.
func Murmur3x2Uint64(key uint64) (h1, h2, h3, h4 uint64) {
	x := murmurLow(key)
	h1, h2 = murmurEnd(x, 0, 8)
	h3, h4 = murmurEnd(x, murmurHighOfOne, 9)
	return h1, h2, h3, h4
}

// Murmur3x2Uint32 hashes the 4 little-endian bytes of a key.
func Murmur3x2Uint32(key uint32) (h1, h2, h3, h4 uint64) {
	h1, h2 = murmurEnd(murmurLow(uint64(key)), 0, 4)
	h3, h4 = murmurEnd(murmurLow(uint64(key)|1<<32), 0, 5)
	return h1, h2, h3, h4
}

// Murmur3x2Of16 is Murmur3x2 for each key of 16 bytes of a column at p. It takes a loop a digest: Go has too few registers for
// both at once.
func Murmur3x2Of16(p unsafe.Pointer, h1, h2, h3, h4 []uint64) {
	h2, h3, h4 = h2[:len(h1)], h3[:len(h1)], h4[:len(h1)]
	for i := range h1 {
		h1[i], h2[i] = murmurBlock(0, 0, load.Uint64(p, 16*i), load.Uint64(p, 16*i+8))
	}
	for i, x := range h1 {
		h3[i], h4[i] = murmurEnd(x^MurmurLowOfOne, h2[i], 17)
	}
	for i, x := range h1 {
		h1[i], h2[i] = murmurEnd(x, h2[i], 16)
	}
}

// murmur3x2Any hashes the n bytes at p, of any number. It makes no pointer past their end, where another allocation
// may begin.
func murmur3x2Any(p unsafe.Pointer, n int) (h1, h2, h3, h4 uint64) {
	x, y := murmurBlocks(p, n)
	t := uint64(n) % 16
	k1, k2 := murmurTail(p, n, t)
	h1, h2 = murmurEnd(x^murmurLow(k1), y^murmurHigh(k2), uint64(n))
	if t == 15 { // the byte 1 fills a block
		x, y = murmurBlock(x, y, k1, k2|1<<56)
		h3, h4 = murmurEnd(x, y, uint64(n)+1)
		return h1, h2, h3, h4
	}
	k1 |= 1 << (8 * t)    // 0 from 8 on
	k2 |= 1 << (8*t - 64) // 0 below 8, because the shift is a large number then
	h3, h4 = murmurEnd(x^murmurLow(k1), y^murmurHigh(k2), uint64(n)+1)
	return h1, h2, h3, h4
}

// murmurBlocks returns the sums of the whole blocks of 16 bytes.
func murmurBlocks(p unsafe.Pointer, n int) (h1, h2 uint64) {
	for at := 0; n-at >= 16; at += 16 {
		h1, h2 = murmurBlock(h1, h2, load.Uint64(p, at), load.Uint64(p, at+8))
	}
	return h1, h2
}

// murmurTail returns the last t bytes of n, fewer than 16, as two little-endian words.
func murmurTail(p unsafe.Pointer, n int, t uint64) (k1, k2 uint64) {
	switch {
	case t > 8:
		return load.Uint64(p, n-int(t)), load.Uint64(p, n-8) >> (128 - 8*t)
	case t == 0:
		return 0, 0
	case n >= 8:
		return load.Uint64(p, n-8) >> (64 - 8*t), 0
	case t >= 4:
		return uint64(load.Uint32(p, 0)) | uint64(load.Uint32(p, n-4))<<(8*t-32), 0
	}
	byteAt := func(i uint64) uint64 { return uint64(*(*byte)(unsafe.Add(p, i))) << (8 * i) }
	return byteAt(0) | byteAt(t/2) | byteAt(t-1), 0
}

// Murmur3 returns murmur3_x64_128, one digest, of the n bytes at p.
func Murmur3(p unsafe.Pointer, n int) (h1, h2 uint64) {
	if n == 8 {
		return Murmur3Uint64(load.Uint64(p, 0))
	}
	h1, h2 = murmurBlocks(p, n)
	if t := uint64(n) % 16; t > 0 {
		k1, k2 := murmurTail(p, n, t)
		h1, h2 = h1^murmurLow(k1), h2^murmurHigh(k2)
	}
	return murmurEnd(h1, h2, uint64(n))
}

// Murmur3Uint32 and Murmur3Uint64 return murmur3_x64_128 of a key's little-endian bytes.

func Murmur3Uint32(key uint32) (h1, h2 uint64) { return murmurEnd(murmurLow(uint64(key)), 0, 4) }

func Murmur3Uint64(key uint64) (h1, h2 uint64) { return murmurEnd(murmurLow(key), 0, 8) }
