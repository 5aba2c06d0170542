package bloom

import (
	"math/bits"
	"unsafe"
)

// The hashes of this file are digests of murmur3_x64_128 (Appleby, seed 0), two words each. One has that of the key,
// and one has also that of the key and a byte 1. They share all blocks of 16 bytes that the key fills.

// The constants of murmur3_x64_128.
const (
	murmurC1 = 0x87c37b91114253d5
	murmurC2 = 0x4cf5ad432745937f

	// What murmurLow makes of a tail of the byte 1, and murmurHigh of one whose ninth byte is 1.
	murmurLowOfOne  = (murmurC1<<31&(1<<64-1) | murmurC1>>33) * murmurC2 & (1<<64 - 1)
	murmurHighOfOne = (murmurC2<<33&(1<<64-1) | murmurC2>>31) * murmurC1 & (1<<64 - 1)
)

// murmurLow and murmurHigh scramble the two words of a block or of a tail. They map 0 to 0, so a tail needs no
// branch for a word that it lacks.
func murmurLow(k uint64) uint64  { return bits.RotateLeft64(k*murmurC1, 31) * murmurC2 }
func murmurHigh(k uint64) uint64 { return bits.RotateLeft64(k*murmurC2, 33) * murmurC1 }

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

// murmurAt hashes the n bytes at p.
func murmurAt(p unsafe.Pointer, n int) Hash {
	switch n {
	case 16:
		return murmur16(p)
	case 8:
		return murmurUint64(load64(p, 0))
	}
	return murmurAny(p, n)
}

// murmur16 hashes the 16 bytes at p: the second digest has one block and a tail of one byte.
func murmur16(p unsafe.Pointer) (h Hash) {
	h1, h2 := murmurBlock(0, 0, load64(p, 0), load64(p, 8))
	h.h1, h.h2 = murmurEnd(h1, h2, 16)
	h.h3, h.h4 = murmurEnd(h1^murmurLowOfOne, h2, 17)
	return h
}

// murmurUint64 hashes the 8 little-endian bytes of a key.
func murmurUint64(key uint64) (h Hash) {
	h1 := murmurLow(key)
	h.h1, h.h2 = murmurEnd(h1, 0, 8)
	h.h3, h.h4 = murmurEnd(h1, murmurHighOfOne, 9)
	return h
}

// murmurUint32 hashes the 4 little-endian bytes of a key.
func murmurUint32(key uint32) (h Hash) {
	h.h1, h.h2 = murmurEnd(murmurLow(uint64(key)), 0, 4)
	h.h3, h.h4 = murmurEnd(murmurLow(uint64(key)|1<<32), 0, 5)
	return h
}

// murmurAny hashes the n bytes at p, of any number. It makes no pointer past their end, where another allocation
// may begin.
func murmurAny(p unsafe.Pointer, n int) (h Hash) {
	var h1, h2 uint64
	at := 0
	for ; n-at >= 16; at += 16 {
		h1, h2 = murmurBlock(h1, h2, load64(p, at), load64(p, at+8))
	}
	t := uint64(n) % 16
	k1, k2 := murmurTail(p, n, t)
	h.h1, h.h2 = murmurEnd(h1^murmurLow(k1), h2^murmurHigh(k2), uint64(n))
	if t == 15 { // the byte 1 fills a block
		h1, h2 = murmurBlock(h1, h2, k1, k2|1<<56)
		h.h3, h.h4 = murmurEnd(h1, h2, uint64(n)+1)
		return h
	}
	k1 |= 1 << (8 * t)    // 0 from 8 on
	k2 |= 1 << (8*t - 64) // 0 below 8, because the shift is a large number then
	h.h3, h.h4 = murmurEnd(h1^murmurLow(k1), h2^murmurHigh(k2), uint64(n)+1)
	return h
}

// murmurTail returns the last t bytes of n, fewer than 16, as two little-endian words.
func murmurTail(p unsafe.Pointer, n int, t uint64) (k1, k2 uint64) {
	switch {
	case t > 8:
		return load64(p, n-int(t)), load64(p, n-8) >> (128 - 8*t)
	case t == 0:
		return 0, 0
	case n >= 8:
		return load64(p, n-8) >> (64 - 8*t), 0
	case t >= 4:
		return uint64(load32(p, 0)) | uint64(load32(p, n-4))<<(8*t-32), 0
	}
	byteAt := func(i uint64) uint64 { return uint64(*(*byte)(unsafe.Add(p, i))) << (8 * i) }
	return byteAt(0) | byteAt(t/2) | byteAt(t-1), 0
}

// murmurGeneric writes the hash of each row.
func (k *Keys) murmurGeneric(h *hashes) {
	n := h.len()
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			h.set256(i, murmurAt(unsafe.Pointer(unsafe.SliceData(key)), len(key)))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			h.set256(i, murmurAt(unsafe.Pointer(unsafe.StringData(key)), len(key)))
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			h.set256(i, murmurUint32(key))
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			h.set256(i, murmurUint64(key))
		}
	case fixedWidth:
		k.murmurOfWidth(h)
	case offsets32:
		murmurBetween(h, k.data, elements[int32](k, n+1))
	case offsets64:
		murmurBetween(h, k.data, elements[int64](k, n+1))
	}
}

// murmurOfWidth is murmurGeneric for keys of one width. Those of 16 bytes take a loop a digest: Go has too few registers for
// both at once.
func (k *Keys) murmurOfWidth(h *hashes) {
	p := unsafe.Pointer(unsafe.SliceData(k.data))
	switch k.width {
	case 16:
		h1 := h.h1
		h2, h3, h4 := h.h2[:len(h1)], h.h3[:len(h1)], h.h4[:len(h1)]
		for i := range h1 {
			h1[i], h2[i] = murmurBlock(0, 0, load64(p, 16*i), load64(p, 16*i+8))
		}
		for i, x := range h1 {
			h3[i], h4[i] = murmurEnd(x^murmurLowOfOne, h2[i], 17)
		}
		for i, x := range h1 {
			h1[i], h2[i] = murmurEnd(x, h2[i], 16)
		}
	case 8:
		for i := range h.h1 {
			h.set256(i, murmurUint64(load64(p, 8*i)))
		}
	default:
		for i := range h.h1 {
			h.set256(i, murmurAny(unsafe.Add(p, i*k.width), k.width))
		}
	}
}

func murmurBetween[E int32 | int64](h *hashes, data []byte, offsets []E) {
	for i := range h.h1 {
		key := data[offsets[i]:offsets[i+1]]
		h.set256(i, murmurAt(unsafe.Pointer(unsafe.SliceData(key)), len(key)))
	}
}

// murmur128At returns murmur3_x64_128, one digest, of the n bytes at p.
func murmur128At(p unsafe.Pointer, n int) hash128 {
	if n == 8 {
		return murmur128Uint64(load64(p, 0))
	}
	var h1, h2 uint64
	at := 0
	for ; n-at >= 16; at += 16 {
		h1, h2 = murmurBlock(h1, h2, load64(p, at), load64(p, at+8))
	}
	if at < n {
		k1, k2 := murmurTail(p, n, uint64(n)%16)
		h1, h2 = h1^murmurLow(k1), h2^murmurHigh(k2)
	}
	h1, h2 = murmurEnd(h1, h2, uint64(n))
	return hash128{h1, h2}
}

// murmur128Uint64 is murmur128At for the 8 little-endian bytes of a key.
func murmur128Uint64(key uint64) hash128 {
	h1, h2 := murmurEnd(murmurLow(key), 0, 8)
	return hash128{h1, h2}
}

// murmur128Generic writes one digest of each row.
func (k *Keys) murmur128Generic(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = murmur128At(unsafe.Pointer(unsafe.SliceData(key)), len(key)).both()
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = murmur128At(unsafe.Pointer(unsafe.StringData(key)), len(key)).both()
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = murmurEnd(murmurLow(uint64(key)), 0, 4)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = murmurEnd(murmurLow(key), 0, 8)
		}
	case fixedWidth:
		p := unsafe.Pointer(unsafe.SliceData(k.data))
		for i := range h1 {
			h1[i], h2[i] = murmur128At(unsafe.Add(p, i*k.width), k.width).both()
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
		h1[i], h2[i] = murmur128At(unsafe.Pointer(unsafe.SliceData(key)), len(key)).both()
	}
}
