package reference

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// Hash32 is LevelDB's Hash with the seed of its Bloom filter.
func Hash32(key []byte) uint32 {
	return hash32(key, func(b byte) uint32 { return uint32(b) })
}

// SignedHash32 is RocksDB's BloomHash (util/hash.cc and util/hash.h). It differs from Hash32 in the bytes after the last
// whole word, which are signed.
func SignedHash32(key []byte) uint32 {
	return hash32(key, func(b byte) uint32 { return uint32(int32(int8(b))) })
}

func hash32(key []byte, tail func(byte) uint32) uint32 {
	const seed, m = 0xbc9f1d34, 0xc6a4a793
	h := seed ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= m
		h ^= h >> 16
	}
	switch len(key) {
	case 3:
		h += tail(key[2]) << 16
		fallthrough
	case 2:
		h += tail(key[1]) << 8
		fallthrough
	case 1:
		h += tail(key[0])
		h *= m
		h ^= h >> 24
	}
	return h
}

// XXH64x2 is XXH64 with the seeds 0 and 1.
func XXH64x2(key []byte) (h1, h2 uint64) {
	digest := xxhash.NewWithSeed(1)
	_, _ = digest.Write(key) // never fails
	return xxhash.Sum64(key), digest.Sum64()
}

// XXH64 is XXH64 with seed 0. It gives the key to a digest in pieces, because that is other code than xxhash.Sum64,
// which it is compared with.
func XXH64(key []byte) uint64 {
	digest := xxhash.New()
	for len(key) > 5 {
		_, _ = digest.Write(key[:5]) // never fails
		key = key[5:]
	}
	_, _ = digest.Write(key)
	return digest.Sum64()
}

// Murmur3x2 is murmur3_x64_128 of the key, and then of the key and a byte 1.
func Murmur3x2(key []byte) [4]uint64 {
	blocks, tail := key[:len(key)/16*16], key[len(key)/16*16:]
	var last [16]byte
	last[copy(last[:], tail)] = 1
	h1, h2 := murmur128(blocks, tail)
	h3, h4 := murmur128(blocks, last[:len(tail)+1])
	return [4]uint64{h1, h2, h3, h4}
}

// Murmur3 is murmur3_x64_128 with the seed 0.
func Murmur3(key []byte) (h1, h2 uint64) { return murmur128(nil, key) }

// murmur128 is murmur3_x64_128 with the seed 0 of two parts of a key, the first of them of whole blocks.
func murmur128(blocks, rest []byte) (h1, h2 uint64) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	length := uint64(len(blocks) + len(rest))
	h1, h2 = murmurBlocks(0, 0, blocks)
	h1, h2 = murmurBlocks(h1, h2, rest[:len(rest)/16*16])
	rest = rest[len(rest)/16*16:]
	var tail [16]byte
	copy(tail[:], rest)
	k1, k2 := binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:])
	if len(rest) > 8 {
		k2 *= c2
		k2 = bits.RotateLeft64(k2, 33)
		k2 *= c1
		h2 ^= k2
	}
	if len(rest) > 0 {
		k1 *= c1
		k1 = bits.RotateLeft64(k1, 31)
		k1 *= c2
		h1 ^= k1
	}
	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	for _, h := range []*uint64{&h1, &h2} {
		*h ^= *h >> 33
		*h *= 0xff51afd7ed558ccd
		*h ^= *h >> 33
		*h *= 0xc4ceb9fe1a85ec53
		*h ^= *h >> 33
	}
	h1 += h2
	h2 += h1
	return h1, h2
}

// murmurBlocks mixes whole blocks of 16 bytes into the state.
func murmurBlocks(h1, h2 uint64, data []byte) (uint64, uint64) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	for ; len(data) > 0; data = data[16:] {
		k1, k2 := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		k1 *= c1
		k1 = bits.RotateLeft64(k1, 31)
		k1 *= c2
		h1 ^= k1
		h1 = bits.RotateLeft64(h1, 27)
		h1 += h2
		h1 = h1*5 + 0x52dce729
		k2 *= c2
		k2 = bits.RotateLeft64(k2, 33)
		k2 *= c1
		h2 ^= k2
		h2 = bits.RotateLeft64(h2, 31)
		h2 += h1
		h2 = h2*5 + 0x38495ab5
	}
	return h1, h2
}
