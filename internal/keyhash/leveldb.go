package keyhash

import (
	"math"
	"unsafe"

	"github.com/lanebloom/bloom/internal/load"
)

// The seed of LevelDB's hash in its Bloom filter, and the factor for each word of a key.
const (
	LevelDBSeed = 0xbc9f1d34
	LevelDBMul  = 0xc6a4a793
)

// mix32 returns the hash h after one more little-endian word of the key.
func mix32(h, word uint32) uint32 {
	h = (h + word) * LevelDBMul
	return h ^ h>>16
}

// The signed hash is LevelDB's, with one difference: it sign-extends the last one to three
// bytes of a key before it adds them, as early LevelDB did where char is signed. RocksDB and
// Pebble still do. For keys whose length is a multiple of 4 the two hashes are the same.

// Which of the two hashes: the bits of the last three bytes that are signs.
const (
	UnsignedBytes = 0
	SignedBytes   = 0x808080
)

// LevelDB returns a hash of the n bytes at p. It reads them through a pointer, because a slice
// expression costs more than the hash of a word, and only bytes 0 to n-1.
//
// Where keys lie far away in memory, the CPU waits for the bytes of as many keys as it has room for their
// instructions. So these are few, in one function without a call. Where lengths are mixed, a branch on them
// is mispredicted: there is none on whether n%8 is above 4. A load of 8 bytes is in two lines more often than
// one of 4.
func LevelDB(p unsafe.Pointer, n int, signs uint32) uint32 {
	if n == 8 { // common, and half as many instructions
		return LevelDBUint64(load.Uint64(p, 0))
	}
	h := LevelDBSeed ^ uint32(n)*LevelDBMul
	for i := 8; i <= n; i += 8 {
		h = (h + load.Uint32(p, i-8)) * LevelDBMul // mix32: inlined, it costs four more instructions
		h = ((h ^ h>>16) + load.Uint32(p, i-4)) * LevelDBMul
		h ^= h >> 16
	}
	switch {
	case n%8 == 0:
		return h
	case n%4 == 0:
		return mix32(h, load.Uint32(p, n-4))
	}
	var rest uint64 // the last n%8 bytes
	switch {
	case n > 8:
		rest = load.Uint64(p, n-8) >> (uint(-8*n) & 63)
	case n > 4:
		rest = uint64(load.Uint32(p, 0)) | uint64(load.Uint32(p, n-4))>>(uint(-8*n)&31)<<32
	default:
		middle, last := n/2, n-1 // bytes that may be the same
		rest = uint64(*(*byte)(p)) | uint64(*(*byte)(unsafe.Add(p, middle)))<<(8*middle&63) | uint64(*(*byte)(unsafe.Add(p, last)))<<(8*last&63)
	}
	word := mix32(h, uint32(rest))
	if n&4 != 0 {
		h = word
		rest >>= 32
	}
	h = (h + uint32(rest) - uint32(rest)&signs<<1) * LevelDBMul // as a signed number, a byte is less by twice its sign
	return h ^ h>>24
}

// LevelDBUint32 returns the hash of key's 4 little-endian bytes.
func LevelDBUint32(key uint32) uint32 {
	const h = LevelDBSeed ^ 4*LevelDBMul&math.MaxUint32
	return mix32(h, key)
}

// LevelDBUint64 returns the hash of key's 8 little-endian bytes.
func LevelDBUint64(key uint64) uint32 {
	const h = LevelDBSeed ^ 8*LevelDBMul&math.MaxUint32
	return mix32(mix32(h, uint32(key)), uint32(key>>32))
}
