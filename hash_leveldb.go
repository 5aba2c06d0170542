package bloom

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// The seed of LevelDB's hash in its Bloom filter, and the factor for each word of a key.
const (
	hash32Seed = 0xbc9f1d34
	hash32Mul  = 0xc6a4a793
)

// mix32 returns the hash h after one more little-endian word of the key.
func mix32(h, word uint32) uint32 {
	h = (h + word) * hash32Mul
	return h ^ h>>16
}

// hash32 returns LevelDB's hash of key.
func hash32(key []byte) uint32 { return hash32At(unsafe.Pointer(unsafe.SliceData(key)), len(key)) }

// hash32At returns LevelDB's hash of the n bytes at p.
func hash32At(p unsafe.Pointer, n int) uint32 {
	h := hash32Pairs(hash32Start(n), p, n)
	if n%8 == 0 {
		return h
	}
	return hash32Tail(h, p, n)
}

func hash32String(key string) uint32 {
	return hash32At(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// hash32At is made of three functions; the compiler inlines the first two. They read through
// a pointer, because a slice expression costs more than the hash of a word. They read only
// bytes 0 to n-1.

// hash32Start returns the state before the first of n bytes.
func hash32Start(n int) uint32 { return hash32Seed ^ uint32(n)*hash32Mul }

// hash32Pairs returns h after bytes 0 to n&^7-1, two words at a time.
func hash32Pairs(h uint32, p unsafe.Pointer, n int) uint32 {
	for i := 8; i <= n; i += 8 {
		words := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i-8))[:])
		h = mix32(mix32(h, uint32(words)), uint32(words>>32))
	}
	return h
}

// hash32Tail returns h after bytes n&^7 to n-1: up to one word, and then up to three bytes.
// The bytes are unsigned (some early ports took them as signed). It does not branch on
// their number: in a column of strings that number is random.
func hash32Tail(h uint32, p unsafe.Pointer, n int) uint32 {
	if n < 4 {
		return hash32Short(h, unsafe.Slice((*byte)(p), n))
	}
	half := n >> 2 & 1 // 1 if there is a word; if not, read any word and drop the result
	word := mix32(h, load32(p, n&^7&-half))
	if half != 0 {
		h = word
	}
	// The last n%4 bytes are the upper bytes of the last four.
	bytes := (h + uint32(uint64(load32(p, n-4))>>(32-n&3*8))) * hash32Mul
	bytes ^= bytes >> 24
	if n&3 != 0 {
		h = bytes
	}
	return h
}

// hash32Short returns h after a whole key of up to three bytes.
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

func (k *Keys) hash32Generic(hashes []uint32) {
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(hashes)) {
			hashes[i] = hash32(key)
		}
	case strs:
		for i, key := range elements[string](k, len(hashes)) {
			hashes[i] = hash32String(key)
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(hashes)) {
			hashes[i] = hash32Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(hashes)) {
			hashes[i] = hash32Uint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = hash32(k.data[i*k.width : (i+1)*k.width])
		}
	case offsets32:
		hashBetween(hashes, k.data, elements[int32](k, len(hashes)+1))
	case offsets64:
		hashBetween(hashes, k.data, elements[int64](k, len(hashes)+1))
	}
}

func hashBetween[E int32 | int64](hashes []uint32, data []byte, offsets []E) {
	for i := range hashes {
		hashes[i] = hash32(data[offsets[i]:offsets[i+1]])
	}
}

// referenceHash32 is LevelDB's Hash with the seed of its Bloom filter.
func referenceHash32(key []byte) uint32 {
	const seed, m = 0xbc9f1d34, 0xc6a4a793
	h := seed ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= m
		h ^= h >> 16
	}
	switch len(key) {
	case 3:
		h += uint32(key[2]) << 16
		fallthrough
	case 2:
		h += uint32(key[1]) << 8
		fallthrough
	case 1:
		h += uint32(key[0])
		h *= m
		h ^= h >> 24
	}
	return h
}
