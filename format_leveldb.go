package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// The format of LevelDB (google/leveldb util/bloom.cc and util/hash.cc): an
// array of bits, then one byte k, the number of probes. The walk is double32
// of one 32-bit hash.
//
// [Reference] reads the same format letter by letter.

// maxProbes is the largest k the format allows; larger bytes are reserved, and
// readers answer yes to them.
const maxProbes = 30

// Filters that answer without a probe are read as one probe of these bits.
var (
	nothing    = [1]byte{}
	everything = [1]byte{0xff}
)

// decodeLevelDB returns the walk through an encoded filter. It accepts every
// byte string.
func decodeLevelDB(data []byte) double32 {
	if len(data) < 2 {
		return newDouble32(nothing[:], 1)
	}
	last := len(data) - 1
	k := int(data[last])
	if k < 1 || k > maxProbes {
		return newDouble32(everything[:], 1)
	}
	return newDouble32(data[:last], k)
}

// probesLevelDB returns k for a number of bits per key: trunc(bits·0.69), a
// rounding of ln 2, at least 1 and at most 30. Negative numbers count as 0.
func probesLevelDB(bitsPerKey int) int {
	return min(max(int(float64(max(bitsPerKey, 0))*0.69), 1), maxProbes)
}

// bytesLevelDB returns the length of the bit array for n keys: at least 8
// bytes, and false if it does not fit an int together with k.
func bytesLevelDB(n, bitsPerKey int) (int, bool) {
	hi, lo := bits.Mul64(uint64(n), uint64(max(bitsPerKey, 0)))
	size := max(lo/8+min(lo%8, 1), 8)
	return int(size), hi == 0 && size < math.MaxInt
}

// setBitsLevelDB returns how many of m bits n different keys are expected to
// set with k probes each.
//
// Probes other than the third are taken as independent. The third adds
// 2·rotr(h, 17) to h, which gives both halves of the sum the same two halves
// to add: it has 196,606 values, three for each 16-bit sum of the halves. With
// λ = n/2^17 keys for half of a sum, one of the three is hit by λ of them, and
// two by λ·x and λ·(1-x), where x is uniform between 0 and 1.
func setBitsLevelDB(n, m float64, k int) float64 {
	if k < 3 {
		return setBits(n, m, k)
	}
	miss := 1.0 // share of bits that the third probe leaves clear
	if lambda := n / (1 << 17); lambda > 0 {
		hit := -math.Expm1(-lambda)
		miss = math.Exp(-(1 << 16) * (2 + hit - 2*hit/lambda) / m)
	}
	return m * (1 - miss*math.Exp(-float64(k-1)*n/m))
}

// The hash multiplies each word in by m, starting from a fixed seed.
const (
	hash32Seed = 0xbc9f1d34
	hash32Mul  = 0xc6a4a793
)

// mix32 takes one little-endian word of the key into the hash h.
func mix32(h, word uint32) uint32 {
	h = (h + word) * hash32Mul
	return h ^ h>>16
}

// hash32 returns LevelDB's hash of key.
func hash32(key []byte) uint32 {
	p, n := unsafe.Pointer(unsafe.SliceData(key)), len(key)
	h := hash32Pairs(hash32Start(n), p, n)
	if n%8 == 0 {
		return h
	}
	return hash32Tail(h, p, n)
}

func hash32String(key string) uint32 {
	return hash32(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// The hash of the n bytes at p comes in parts, of which the compiler inlines
// the first two. They read through a pointer because a slice expression costs
// more than the hash of a word; they read bytes 0 to n-1 alone.

// hash32Start returns the state before the first of n bytes.
func hash32Start(n int) uint32 { return hash32Seed ^ uint32(n)*hash32Mul }

// hash32Pairs takes bytes 0 to n&^7-1 into h, two words at a time.
func hash32Pairs(h uint32, p unsafe.Pointer, n int) uint32 {
	for i := 8; i <= n; i += 8 {
		words := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i-8))[:])
		h = mix32(mix32(h, uint32(words)), uint32(words>>32))
	}
	return h
}

// hash32Tail takes bytes n&^7 to n-1 into h: up to one word, and then up to
// three bytes, which are unsigned (some early ports took them as signed). There
// is no branch on their number, which in a column of strings is random.
func hash32Tail(h uint32, p unsafe.Pointer, n int) uint32 {
	if n < 4 {
		return hash32Short(h, unsafe.Slice((*byte)(p), n))
	}
	half := n >> 2 & 1 // 1 if there is a word; if not, read any and drop it
	word := mix32(h, load32(p, n&^7&-half))
	if half != 0 {
		h = word
	}
	// The last bytes are the upper ones of the last four.
	bytes := (h + uint32(uint64(load32(p, n-4))>>(32-n&3*8))) * hash32Mul
	bytes ^= bytes >> 24
	if n&3 != 0 {
		h = bytes
	}
	return h
}

// hash32Short takes a whole key of up to three bytes into h.
func hash32Short(h uint32, key []byte) uint32 {
	if len(key) == 0 {
		return h
	}
	word := uint32(0)
	for i, b := range key {
		word |= uint32(b) << (8 * i)
	}
	h = (h + word) * hash32Mul
	return h ^ h>>24
}

func load32(p unsafe.Pointer, i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, i))[:])
}

// hash32Uint32 returns the hash of key's 4 little-endian bytes.
func hash32Uint32(key uint32) uint32 {
	const h = hash32Seed ^ 4*hash32Mul&math.MaxUint32
	return mix32(h, key)
}

// hash32Uint64 returns the hash of key's 8 little-endian bytes.
func hash32Uint64(key uint64) uint32 {
	const h = hash32Seed ^ 8*hash32Mul&math.MaxUint32
	return mix32(mix32(h, uint32(key)), uint32(key>>32))
}
