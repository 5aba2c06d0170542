package bloom

import (
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// The primes of XXH64 (xxHash specification 0.1.1).
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	prime5 = 0x27d4eb2f165667c5
)

// hash128 is two hashes of 64 bits. The functions of this file compute XXH64 with the seeds 0
// and 1. The first multiplications of each word of a key do not depend on the seed, so both
// hashes share them.
type hash128 struct{ h1, h2 uint64 }

func (h hash128) both() (h1, h2 uint64) { return h.h1, h.h2 }
func (h hash128) of(f scheme) Hash      { return shortHash(h.h1, h.h2, f) }

// hash64At returns XXH64 of the n bytes at p with the seeds 0 and 1. It reads them once for both hashes. It makes no pointer
// past their end, where another allocation may begin.
func hash64At(p unsafe.Pointer, n int) hash128 {
	if n == 8 { // as in hash32At
		return hash64Uint64(load64(p, 0))
	}
	h1, h2 := uint64(prime5)+uint64(n), uint64(prime5+1)+uint64(n)
	i := 0
	if n >= 32 {
		i = n &^ 31
		h := stripes64(p, i)
		h1, h2 = h.h1+uint64(n), h.h2+uint64(n)
	}
	h := hash128{h1, h2}
	for i += 8; i <= n; i += 8 {
		h = h.mixLong(load64(p, i-8))
	}
	i -= 8
	if n&7 != 0 {
		if n&4 != 0 {
			h = h.mixWord(load32(p, i))
			i += 4
		}
		for ; i < n; i++ {
			h = h.mixByte(*(*byte)(unsafe.Add(p, i)))
		}
	}
	return h.finish()
}

// hash64Uint32 and hash64Uint64 return the hashes of a key's little-endian bytes.

func hash64Uint32(key uint32) hash128 {
	h := hash128{prime5 + 4, prime5 + 1 + 4}
	return h.mixWord(key).finish()
}

func hash64Uint64(key uint64) hash128 {
	h := hash128{prime5 + 8, prime5 + 1 + 8}
	return h.mixLong(key).finish()
}

func (h hash128) mixLong(x uint64) hash128 {
	x = round64(x * prime2)
	return hash128{
		bits.RotateLeft64(h.h1^x, 27)*prime1 + prime4,
		bits.RotateLeft64(h.h2^x, 27)*prime1 + prime4,
	}
}

func (h hash128) mixWord(word uint32) hash128 {
	x := uint64(word) * prime1
	return hash128{
		bits.RotateLeft64(h.h1^x, 23)*prime2 + prime3,
		bits.RotateLeft64(h.h2^x, 23)*prime2 + prime3,
	}
}

func (h hash128) mixByte(b byte) hash128 {
	x := uint64(b) * prime5
	return hash128{
		bits.RotateLeft64(h.h1^x, 11) * prime1,
		bits.RotateLeft64(h.h2^x, 11) * prime1,
	}
}

func (h hash128) finish() hash128 { return hash128{avalanche64(h.h1), avalanche64(h.h2)} }

func avalanche64(h uint64) uint64 {
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

// stripes64 hashes n bytes, a multiple of 32.
func stripes64(p unsafe.Pointer, n int) hash128 {
	a, b := seededStripes(0), seededStripes(1)
	for i := 0; i < n; i += 32 {
		w, x := load64(p, i)*prime2, load64(p, i+8)*prime2
		y, z := load64(p, i+16)*prime2, load64(p, i+24)*prime2
		a = stripes{round64(a.w + w), round64(a.x + x), round64(a.y + y), round64(a.z + z)}
		b = stripes{round64(b.w + w), round64(b.x + x), round64(b.y + y), round64(b.z + z)}
	}
	return hash128{a.merge(), b.merge()}
}

// stripes are the accumulators of XXH64, one for each 8 bytes of 32.
type stripes struct{ w, x, y, z uint64 }

func seededStripes(seed uint64) stripes {
	return stripes{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}
}

func round64(x uint64) uint64 { return bits.RotateLeft64(x, 31) * prime1 }

func (s stripes) merge() uint64 {
	h := bits.RotateLeft64(s.w, 1) + bits.RotateLeft64(s.x, 7) + bits.RotateLeft64(s.y, 12) + bits.RotateLeft64(s.z, 18)
	for _, x := range [4]uint64{s.w, s.x, s.y, s.z} {
		h = (h^round64(x*prime2))*prime1 + prime4
	}
	return h
}

func (k *Keys) hash64Generic(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = hash64At(unsafe.Pointer(unsafe.SliceData(key)), len(key)).both()
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = hash64At(unsafe.Pointer(unsafe.StringData(key)), len(key)).both()
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = hash64Uint32(key).both()
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = hash64Uint64(key).both()
		}
	case fixedWidth:
		for i := range h1 {
			h1[i], h2[i] = hash64At(unsafe.Pointer(&k.data[i*k.width]), k.width).both()
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
		h1[i], h2[i] = hash64At(unsafe.Pointer(unsafe.SliceData(key)), len(key)).both()
	}
}

// shortKey is the number of bytes of a stripe: XXH64 treats shorter keys in a simpler way.
const shortKey = 32

// xxh64At returns XXH64, seed 0, of the n bytes at p. For a short key, a call of assembly would
// cost as much as the hash.
func xxh64At(p unsafe.Pointer, n int) uint64 {
	if n >= shortKey {
		return xxhash.Sum64(unsafe.Slice((*byte)(p), n))
	}
	h, i := prime5+uint64(n), 8
	for ; i <= n; i += 8 {
		h = bits.RotateLeft64(h^round64(load64(p, i-8)*prime2), 27)*prime1 + prime4
	}
	i -= 8
	if n&4 != 0 {
		h = bits.RotateLeft64(h^uint64(load32(p, i))*prime1, 23)*prime2 + prime3
		i += 4
	}
	for ; i < n; i++ {
		h = bits.RotateLeft64(h^uint64(*(*byte)(unsafe.Add(p, i)))*prime5, 11) * prime1
	}
	return avalanche64(h)
}

// xxh64Mixed is xxh64At for a key of 8 to 31 bytes. It does not branch on their number: in a column
// of mixed lengths, mispredicted branches take half of the time. It drops what it hashed for
// nothing, and reads only bytes 0 to n-1.
func xxh64Mixed(p unsafe.Pointer, n int) uint64 {
	long := func(h, x uint64) uint64 { return bits.RotateLeft64(h^round64(x*prime2), 27)*prime1 + prime4 }
	h := long(prime5+uint64(n), load64(p, 0))
	second, third, half := above(n, 15), above(n, 23), above(n&4, 0)
	h = choose(second, long(h, load64(p, int(8&second))), h)
	h = choose(third, long(h, load64(p, int(16&third))), h)
	word := uint64(load32(p, n&^7&int(half))) * prime1
	h = choose(half, bits.RotateLeft64(h^word, 23)*prime2+prime3, h)
	last, rest := lastBytes(p, n), n&3
	h = choose(above(rest, 0), bits.RotateLeft64(h^last&0xff*prime5, 11)*prime1, h)
	h = choose(above(rest, 1), bits.RotateLeft64(h^last>>8&0xff*prime5, 11)*prime1, h)
	h = choose(above(rest, 2), bits.RotateLeft64(h^last>>16*prime5, 11)*prime1, h)
	return avalanche64(h)
}

// above returns a word of ones if n is above limit, and otherwise 0.
func above(n, limit int) uint64 { return uint64(int64(limit-n) >> 63) }

// choose returns x if the mask is all ones, and y if it is 0. The compiler would branch.
func choose(mask, x, y uint64) uint64 { return y ^ (x^y)&mask }

// lastBytes returns the last n%4 bytes of a key of n bytes, at least 4, as a word.
func lastBytes(p unsafe.Pointer, n int) uint64 { return uint64(load32(p, n-4)) >> (32 - n&3*8) }

// isMixed reports whether a key of n bytes in a column, after one of before bytes, is one for
// xxh64Mixed. In a column of equal lengths the branches of xxh64At predict.
func isMixed(n, before int) bool { return n != before && n >= 8 && n < shortKey }

// xxh64Uint32 and xxh64Uint64 return the hash of a key's little-endian bytes.

func xxh64Uint32(key uint32) uint64 {
	h := prime5 + 4 ^ uint64(key)*prime1
	return avalanche64(bits.RotateLeft64(h, 23)*prime2 + prime3)
}

func xxh64Uint64(key uint64) uint64 {
	h := prime5 + 8 ^ round64(key*prime2)
	return avalanche64(bits.RotateLeft64(h, 27)*prime1 + prime4)
}

// xxh64Generic writes the hash of each row.
func (k *Keys) xxh64Generic(hashes []uint64) {
	n, before := len(hashes), 0
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			if p, n := unsafe.Pointer(unsafe.SliceData(key)), len(key); isMixed(n, before) {
				hashes[i] = xxh64Mixed(p, n)
			} else {
				hashes[i] = xxh64At(p, n)
			}
			before = len(key)
		}
	case strs:
		for i, key := range elements[string](k, n) {
			if p, n := unsafe.Pointer(unsafe.StringData(key)), len(key); isMixed(n, before) {
				hashes[i] = xxh64Mixed(p, n)
			} else {
				hashes[i] = xxh64At(p, n)
			}
			before = len(key)
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = xxh64Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = xxh64Uint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = xxhash.Sum64(k.data[i*k.width : (i+1)*k.width])
		}
	case offsets32:
		xxh64Between(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		xxh64Between(hashes, k.data, elements[int64](k, n+1))
	}
}

func xxh64Between[E int32 | int64](hashes []uint64, data []byte, offsets []E) {
	before := 0
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		if isMixed(len(key), before) {
			hashes[i] = xxh64Mixed(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		} else {
			hashes[i] = xxhash.Sum64(key)
		}
		before = len(key)
	}
}
