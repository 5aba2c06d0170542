package bloom

import (
	"math/bits"
	"unsafe"

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
	prime32x1 = 0x9e3779b1
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

// shortXXPH3 is the most bytes of a key that xxph3Short takes.
const shortXXPH3 = 32

// xxph3At returns XXPH3 of the n bytes at p. Where one key is tested or added, callers choose xxph3Short themselves:
// without this call, keys of 16 and 24 bytes take 0.93 of the time on a Zen 5.
func xxph3At(p unsafe.Pointer, n int) uint64 {
	switch {
	case n > 128:
		return xxph3Long(p, n)
	case n > shortXXPH3:
		return xxph3Pairs(p, n)
	}
	return xxph3Short(p, n)
}

// xxph3Short returns XXPH3 of the n bytes at p, at most shortXXPH3. It calls nothing, so that Go gives it no stack
// frame.
func xxph3Short(p unsafe.Pointer, n int) uint64 {
	switch {
	case n == 16: // UUIDs
		return xxph3Two(p)
	case n > 8:
		// No branch on the number: where lengths are mixed, one that is mispredicted costs more than the product
		// that 9 to 16 bytes do not need.
		over := n - 16
		under := over & (over >> (bits.UintSize - 1)) // 0 if there are more than 16 bytes
		a, b := load64(p, 0)^xxph3Secret0, load64(p, 8+under)^xxph3Secret8
		sum := uint64(n) + a + b
		pairs := uint64(n)*prime1 + fold64(load64(p, over-under)^xxph3Secret16, load64(p, n-8)^xxph3Secret24)
		if n > 16 {
			sum = pairs
		}
		return xxph3Avalanche(sum + fold64(a, b))
	case n >= 4:
		return xxph3Word(uint64(load32(p, 0))|uint64(load32(p, n-4))<<32, n)
	case n > 0:
		first, middle, last := *(*byte)(p), *(*byte)(unsafe.Add(p, n/2)), *(*byte)(unsafe.Add(p, n-1))
		word := uint32(first) | uint32(middle)<<8 | uint32(last)<<16 | uint32(n)<<24
		return xxph3Avalanche(uint64(word^xxph3Secret0&0xffffffff) * prime1)
	}
	return xxph3Empty
}

// xxph3Two returns the hash of a key of 16 bytes.
func xxph3Two(p unsafe.Pointer) uint64 {
	lo, hi := load64(p, 0)^xxph3Secret0, load64(p, 8)^xxph3Secret8
	return xxph3Avalanche(16 + lo + hi + fold64(lo, hi))
}

// xxph3Word returns the hash of a key of n bytes, 4 to 8, whose first and last 4 bytes are
// the halves of the word.
func xxph3Word(word uint64, n int) uint64 {
	word ^= xxph3Secret0
	word = uint64(n) + (word^word>>51)*prime32x1
	return xxph3Avalanche((word ^ word>>47) * prime2)
}

func xxph3Avalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= prime3
	return h ^ h>>32
}

// fold64 returns the two halves of a product combined.
func fold64(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// xxph3Mix16 returns what 16 bytes of a key at p add, with the secret from byte at on.
func xxph3Mix16(p unsafe.Pointer, at int) uint64 {
	secret := unsafe.Pointer(&reference.XXPH3Secret)
	return fold64(load64(p, 0)^load64(secret, at), load64(p, 8)^load64(secret, at+8))
}

// xxph3Pairs returns the hash of a key of 33 to 128 bytes.
func xxph3Pairs(p unsafe.Pointer, n int) uint64 {
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

// xxph3Long returns the hash of a key of 129 bytes or more.
func xxph3Long(p unsafe.Pointer, n int) uint64 {
	if n > 240 {
		return xxph3Striped(p, n)
	}
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

// xxph3Striped returns the hash of a key of 241 bytes or more.
func xxph3Striped(p unsafe.Pointer, n int) uint64 {
	secret := unsafe.Pointer(&reference.XXPH3Secret)
	sums := xxph3Sums{prime32x3, prime1, prime2, prime3, prime4, prime32x2, prime5, prime32x1}
	if !sums.addAssembly(p, n) {
		sums.add(p, n)
	}
	sum := uint64(n) * prime1
	for i := 0; i < 8; i += 2 {
		sum += fold64(sums[i]^load64(secret, xxph3Merge+8*i), sums[i+1]^load64(secret, xxph3Merge+8*i+8))
	}
	return xxph3Avalanche(sum)
}

// xxph3Sums are the words that stripes add to.
type xxph3Sums [8]uint64

// add adds the stripes of the n bytes at p, and then the last 64 bytes, unless they are a stripe.
func (sums *xxph3Sums) add(p unsafe.Pointer, n int) {
	for i := range n / 64 {
		sums.stripe(unsafe.Add(p, 64*i), 8*(i%xxph3BlockStripes))
		if i%xxph3BlockStripes == xxph3BlockStripes-1 {
			for j := range sums {
				sums[j] = (sums[j] ^ sums[j]>>47 ^ load64(unsafe.Pointer(&reference.XXPH3Secret), xxph3Scramble+8*j)) * prime32x1
			}
		}
	}
	if n%64 != 0 {
		sums.stripe(unsafe.Add(p, n-64), xxph3LastStripe)
	}
}

// addAssembly is add in assembly. It returns false, and does nothing, if the CPU runs none.
func (sums *xxph3Sums) addAssembly(p unsafe.Pointer, n int) bool {
	for ; n > longKey; n -= longKey {
		if !xxph3Stripes(kernels[0], &sums[0], (*byte)(p), longKey) {
			return false
		}
		p = unsafe.Add(p, longKey)
	}
	return xxph3Stripes(kernels[0], &sums[0], (*byte)(p), n)
}

// stripe adds the 64 bytes at p, with the secret from byte at on.
func (sums *xxph3Sums) stripe(p unsafe.Pointer, at int) {
	for i := range sums {
		word := load64(p, 8*i)
		mixed := word ^ load64(unsafe.Pointer(&reference.XXPH3Secret), at+8*i)
		sums[i] += word + mixed&0xffffffff*(mixed>>32)
	}
}

// xxph3Uint32 and xxph3Uint64 return the hash of a key's little-endian bytes.

func xxph3Uint32(key uint32) uint64 { return xxph3Word(uint64(key)|uint64(key)<<32, 4) }

func xxph3Uint64(key uint64) uint64 { return xxph3Word(key, 8) }

// xxph3Generic writes the hash of each row.
func (k *Keys) xxph3Generic(hashes []uint64) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = xxph3At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = xxph3At(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = xxph3Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = xxph3Uint64(key)
		}
	case fixedWidth:
		if k.width == 16 { // UUIDs: a call for each would take as long as its hash
			for i := range hashes {
				hashes[i] = xxph3Two(unsafe.Pointer(&k.data[16*i]))
			}
			return
		}
		for i := range hashes {
			hashes[i] = xxph3At(unsafe.Pointer(&k.data[i*k.width]), k.width)
		}
	case offsets32:
		xxph3Between(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		xxph3Between(hashes, k.data, elements[int64](k, n+1))
	}
}

func xxph3Between[E int32 | int64](hashes []uint64, data []byte, offsets []E) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = xxph3At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
