package keyhash

import (
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/load"
	"github.com/lanebloom/bloom/internal/reference"
)

// XXPH3 is RocksDB's copy of a preview of XXH3, of xxHash 0.7.2, with 64 bits and the seed 0
// (util/xxph3.h). Today's XXH3 has other hashes at every length. The steps depend on the
// length of the key:
//
//	0        a constant: RocksDB's own change
//	1-3      three of the bytes, which may overlap, in a word
//	4-8      the first and the last 4 bytes in a word
//	9-16     the first and the last 8 bytes
//	17-128   pairs of 16 bytes, from both ends to the middle
//	129-240  every 16 bytes, and the last 16
//	241-     stripes of 64 bytes, which add to eight words

// The primes of XXPH3 that XXH64 does not have.
const (
	Prime32x1 = 0x9e3779b1
	prime32x2 = 0x85ebca77
	prime32x3 = 0xc2b2ae3d
)

// The first words of the secret, reference.XXPH3Secret, which short keys need.
const (
	xxph3Secret0 = 0xbe4ba423396cfeb8 // bytes 0 to 7
	xxph3Secret8 = 0x1cad21f72c81017c // bytes 8 to 15

	xxph3Secret16 = 0xdb979083e96dd4de
	xxph3Secret24 = 0x1f67b3b7a4a44072

	xxph3Empty = 0x5342c3010fe1dd04 // the hash of the empty key
)

// Where in the secret the steps begin that do not begin at a multiple of 8 bytes.
const (
	xxph3Middle     = 3   // for bytes 128 and on of keys of up to 240 bytes
	xxph3MiddleLast = 119 // for their last 16 bytes
	xxph3Scramble   = 128 // after each block of stripes
	xxph3LastStripe = 121 // for the last 64 bytes of longer keys
	xxph3Merge      = 11  // for their sums
)

// xxph3BlockStripes is the number of stripes in a block.
const xxph3BlockStripes = 16

// ShortXXPH3 is the most bytes of a key that XXPH3Short takes.
const ShortXXPH3 = 32

// MiddleXXPH3 is the most bytes of a key that XXPH3Middle takes.
const MiddleXXPH3 = 240

// XXPH3Short returns XXPH3 of the n bytes at p, at most ShortXXPH3. It calls nothing, so that Go gives it no stack
// frame.
func XXPH3Short(p unsafe.Pointer, n int) uint64 {
	switch {
	case n == 16: // UUIDs
		return XXPH3Of16(p)
	case n > 8:
		// No branch on the number: where lengths are mixed, one that is mispredicted costs more than the product
		// that 9 to 16 bytes do not need.
		over := n - 16
		under := over & (over >> (bits.UintSize - 1)) // 0 if there are more than 16 bytes
		a, b := load.Uint64(p, 0)^xxph3Secret0, load.Uint64(p, 8+under)^xxph3Secret8
		sum := uint64(n) + a + b
		pairs := uint64(n)*prime1 + fold64(load.Uint64(p, over-under)^xxph3Secret16, load.Uint64(p, n-8)^xxph3Secret24)
		if n > 16 {
			sum = pairs
		}
		return xxph3Avalanche(sum + fold64(a, b))
	case n >= 4:
		return xxph3Word(uint64(load.Uint32(p, 0))|uint64(load.Uint32(p, n-4))<<32, n)
	case n > 0:
		first, middle, last := *(*byte)(p), *(*byte)(unsafe.Add(p, n/2)), *(*byte)(unsafe.Add(p, n-1))
		word := uint32(first) | uint32(middle)<<8 | uint32(last)<<16 | uint32(n)<<24
		return xxph3Avalanche(uint64(word^xxph3Secret0&0xffffffff) * prime1)
	}
	return xxph3Empty
}

// XXPH3Of16 returns the hash of a key of 16 bytes.
func XXPH3Of16(p unsafe.Pointer) uint64 {
	lo, hi := load.Uint64(p, 0)^xxph3Secret0, load.Uint64(p, 8)^xxph3Secret8
	return xxph3Avalanche(16 + lo + hi + fold64(lo, hi))
}

// xxph3Word returns the hash of a key of n bytes, 4 to 8, whose first and last 4 bytes are
// the halves of the word.
func xxph3Word(word uint64, n int) uint64 {
	word ^= xxph3Secret0
	word = uint64(n) + (word^word>>51)*Prime32x1
	return xxph3Avalanche((word ^ word>>47) * prime2)
}

func xxph3Avalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= Prime3
	return h ^ h>>32
}

// fold64 returns the two halves of a product combined.
func fold64(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// xxph3Mix16 returns what the 16 bytes at p add to the hash, mixed with the secret from byte at on.
func xxph3Mix16(p unsafe.Pointer, at int) uint64 {
	secret := unsafe.Pointer(&reference.XXPH3Secret)
	return fold64(load.Uint64(p, 0)^load.Uint64(secret, at), load.Uint64(p, 8)^load.Uint64(secret, at+8))
}

// XXPH3Middle returns XXPH3 of the n bytes at p: more than ShortXXPH3, and up to MiddleXXPH3.
func XXPH3Middle(p unsafe.Pointer, n int) uint64 {
	if n > 128 {
		return xxph3Blocks(p, n)
	}
	sum := uint64(n)*prime1 + xxph3Mix16(p, 0) + xxph3Mix16(unsafe.Add(p, n-16), 16)
	sum += xxph3Mix16(unsafe.Add(p, 16), 32) + xxph3Mix16(unsafe.Add(p, n-32), 48)
	if n > 64 {
		sum += xxph3Mix16(unsafe.Add(p, 32), 64) + xxph3Mix16(unsafe.Add(p, n-48), 80)
	}
	if n > 96 {
		sum += xxph3Mix16(unsafe.Add(p, 48), 96) + xxph3Mix16(unsafe.Add(p, n-64), 112)
	}
	return xxph3Avalanche(sum)
}

// xxph3Blocks returns the hash of a key of 129 to MiddleXXPH3 bytes.
func xxph3Blocks(p unsafe.Pointer, n int) uint64 {
	sum := uint64(n) * prime1
	for i := range 8 {
		sum += xxph3Mix16(unsafe.Add(p, 16*i), 16*i)
	}
	sum = xxph3Avalanche(sum)
	for i := 8; i < n/16; i++ {
		sum += xxph3Mix16(unsafe.Add(p, 16*i), 16*(i-8)+xxph3Middle)
	}
	return xxph3Avalanche(sum + xxph3Mix16(unsafe.Add(p, n-16), xxph3MiddleLast))
}

// XXPH3Sums are the words that the stripes of a longer key add to. NewXXPH3Sums, Add and Hash return the hash of the key.
type XXPH3Sums [8]uint64

// NewXXPH3Sums returns the sums of no stripe.
func NewXXPH3Sums() XXPH3Sums {
	return XXPH3Sums{prime32x3, prime1, prime2, Prime3, prime4, prime32x2, Prime5, Prime32x1}
}

// Hash returns the hash of a key of n bytes that were added.
func (sums *XXPH3Sums) Hash(n int) uint64 {
	secret := unsafe.Pointer(&reference.XXPH3Secret)
	sum := uint64(n) * prime1
	for i := 0; i < 8; i += 2 {
		sum += fold64(sums[i]^load.Uint64(secret, xxph3Merge+8*i), sums[i+1]^load.Uint64(secret, xxph3Merge+8*i+8))
	}
	return xxph3Avalanche(sum)
}

// Add adds the stripes of the n bytes at p, and then the last 64 bytes, unless they are a stripe.
func (sums *XXPH3Sums) Add(p unsafe.Pointer, n int) {
	for i := range n / 64 {
		sums.stripe(unsafe.Add(p, 64*i), 8*(i%xxph3BlockStripes))
		if i%xxph3BlockStripes == xxph3BlockStripes-1 {
			for j := range sums {
				sums[j] = (sums[j] ^ sums[j]>>47 ^ load.Uint64(unsafe.Pointer(&reference.XXPH3Secret), xxph3Scramble+8*j)) * Prime32x1
			}
		}
	}
	if n%64 != 0 {
		sums.stripe(unsafe.Add(p, n-64), xxph3LastStripe)
	}
}

// stripe adds the 64 bytes at p, with the secret from byte at on.
func (sums *XXPH3Sums) stripe(p unsafe.Pointer, at int) {
	for i := range sums {
		word := load.Uint64(p, 8*i)
		mixed := word ^ load.Uint64(unsafe.Pointer(&reference.XXPH3Secret), at+8*i)
		sums[i] += word + mixed&0xffffffff*(mixed>>32)
	}
}

// XXPH3Uint32 and XXPH3Uint64 return the hash of a key's little-endian bytes.

func XXPH3Uint32(key uint32) uint64 { return xxph3Word(uint64(key)|uint64(key)<<32, 4) }

func XXPH3Uint64(key uint64) uint64 { return xxph3Word(key, 8) }
