package keyhash

import (
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom/internal/load"
)

// The primes of XXH64 (xxHash specification 0.1.1).
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	Prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	Prime5 = 0x27d4eb2f165667c5
)

// seeds is XXH64 with the seeds 0 and 1. The first multiplications of each word of a key do not depend on the seed, so both
// hashes share them.
type seeds struct{ h1, h2 uint64 }

// XXH64x2 returns XXH64 of the n bytes at p with the seeds 0 and 1. It reads them once for both hashes. It makes no pointer
// past their end, where another allocation may begin.
func XXH64x2(p unsafe.Pointer, n int) (h1, h2 uint64) {
	if n == 8 { // as in LevelDB
		return XXH64x2Uint64(load.Uint64(p, 0))
	}
	i, h := 0, seeds{Prime5, Prime5 + 1}
	if n >= 32 {
		i = n &^ 31
		h = stripes64(p, i)
	}
	h = seeds{h.h1 + uint64(n), h.h2 + uint64(n)}
	for i += 8; i <= n; i += 8 {
		h = h.mixLong(load.Uint64(p, i-8))
	}
	i -= 8
	if n&7 != 0 {
		if n&4 != 0 {
			h = h.mixWord(load.Uint32(p, i))
			i += 4
		}
		for ; i < n; i++ {
			h = h.mixByte(*(*byte)(unsafe.Add(p, i)))
		}
	}
	return h.finish()
}

// XXH64x2Uint32 and XXH64x2Uint64 return the hashes of a key's little-endian bytes.

func XXH64x2Uint32(key uint32) (h1, h2 uint64) {
	h := seeds{Prime5 + 4, Prime5 + 1 + 4}
	return h.mixWord(key).finish()
}

func XXH64x2Uint64(key uint64) (h1, h2 uint64) {
	h := seeds{Prime5 + 8, Prime5 + 1 + 8}
	return h.mixLong(key).finish()
}

func (h seeds) mixLong(x uint64) seeds {
	x = round64(x * prime2)
	return seeds{
		bits.RotateLeft64(h.h1^x, 27)*prime1 + prime4,
		bits.RotateLeft64(h.h2^x, 27)*prime1 + prime4,
	}
}

func (h seeds) mixWord(word uint32) seeds {
	x := uint64(word) * prime1
	return seeds{
		bits.RotateLeft64(h.h1^x, 23)*prime2 + Prime3,
		bits.RotateLeft64(h.h2^x, 23)*prime2 + Prime3,
	}
}

func (h seeds) mixByte(b byte) seeds {
	x := uint64(b) * Prime5
	return seeds{
		bits.RotateLeft64(h.h1^x, 11) * prime1,
		bits.RotateLeft64(h.h2^x, 11) * prime1,
	}
}

func (h seeds) finish() (h1, h2 uint64) { return avalanche64(h.h1), avalanche64(h.h2) }

func avalanche64(h uint64) uint64 {
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * Prime3
	return h ^ h>>32
}

// stripes64 hashes n bytes, a multiple of 32.
func stripes64(p unsafe.Pointer, n int) seeds {
	a, b := seededStripes(0), seededStripes(1)
	for i := 0; i < n; i += 32 {
		w, x := load.Uint64(p, i)*prime2, load.Uint64(p, i+8)*prime2
		y, z := load.Uint64(p, i+16)*prime2, load.Uint64(p, i+24)*prime2
		a = stripes{round64(a.w + w), round64(a.x + x), round64(a.y + y), round64(a.z + z)}
		b = stripes{round64(b.w + w), round64(b.x + x), round64(b.y + y), round64(b.z + z)}
	}
	return seeds{a.merge(), b.merge()}
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

// ShortXXH64 is the number of bytes of a stripe: XXH64 treats shorter keys in a simpler way.
const ShortXXH64 = 32

// XXH64 returns XXH64, seed 0, of the n bytes at p. For a short key, a call of assembly would
// cost as much as the hash.
func XXH64(p unsafe.Pointer, n int) uint64 {
	if n >= ShortXXH64 {
		return xxhash.Sum64(unsafe.Slice((*byte)(p), n))
	}
	h, i := Prime5+uint64(n), 8
	for ; i <= n; i += 8 {
		h = bits.RotateLeft64(h^round64(load.Uint64(p, i-8)*prime2), 27)*prime1 + prime4
	}
	i -= 8
	if n&4 != 0 {
		h = bits.RotateLeft64(h^uint64(load.Uint32(p, i))*prime1, 23)*prime2 + Prime3
		i += 4
	}
	for ; i < n; i++ {
		h = bits.RotateLeft64(h^uint64(*(*byte)(unsafe.Add(p, i)))*Prime5, 11) * prime1
	}
	return avalanche64(h)
}

// XXH64Mixed is XXH64 for a key of 8 to 31 bytes. It does not branch on their number: in a column
// of mixed lengths, mispredicted branches take half of the time. It drops what it hashed for
// nothing, and reads only bytes 0 to n-1.
func XXH64Mixed(p unsafe.Pointer, n int) uint64 {
	long := func(h, x uint64) uint64 { return bits.RotateLeft64(h^round64(x*prime2), 27)*prime1 + prime4 }
	h := long(Prime5+uint64(n), load.Uint64(p, 0))
	second, third, half := above(n, 15), above(n, 23), above(n&4, 0)
	h = choose(second, long(h, load.Uint64(p, int(8&second))), h)
	h = choose(third, long(h, load.Uint64(p, int(16&third))), h)
	word := uint64(load.Uint32(p, n&^7&int(half))) * prime1
	h = choose(half, bits.RotateLeft64(h^word, 23)*prime2+Prime3, h)
	last, rest := lastBytes(p, n), n&3
	h = choose(above(rest, 0), bits.RotateLeft64(h^last&0xff*Prime5, 11)*prime1, h)
	h = choose(above(rest, 1), bits.RotateLeft64(h^last>>8&0xff*Prime5, 11)*prime1, h)
	h = choose(above(rest, 2), bits.RotateLeft64(h^last>>16*Prime5, 11)*prime1, h)
	return avalanche64(h)
}

// above returns a word of ones if n is above limit, and otherwise 0.
func above(n, limit int) uint64 { return uint64(int64(limit-n) >> 63) }

// choose returns x if the mask is all ones, and y if it is 0. The compiler would branch.
func choose(mask, x, y uint64) uint64 { return y ^ (x^y)&mask }

// lastBytes returns the last n%4 bytes of a key of n bytes, at least 4, as a word.
func lastBytes(p unsafe.Pointer, n int) uint64 { return uint64(load.Uint32(p, n-4)) >> (32 - n&3*8) }

// IsMixed reports whether a key of n bytes in a column, after one of before bytes, is one for
// XXH64Mixed. In a column of equal lengths the branches of XXH64 predict.
func IsMixed(n, before int) bool { return n != before && n >= 8 && n < ShortXXH64 }

// XXH64Uint32 and XXH64Uint64 return the hash of a key's little-endian bytes.

func XXH64Uint32(key uint32) uint64 {
	h := Prime5 + 4 ^ uint64(key)*prime1
	return avalanche64(bits.RotateLeft64(h, 23)*prime2 + Prime3)
}

func XXH64Uint64(key uint64) uint64 {
	h := Prime5 + 8 ^ round64(key*prime2)
	return avalanche64(bits.RotateLeft64(h, 27)*prime1 + prime4)
}
