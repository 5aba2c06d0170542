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

// hash32Bytes returns LevelDB's hash of key.
func hash32Bytes(key []byte) uint32 { return hash32At(unsafe.Pointer(unsafe.SliceData(key)), len(key)) }

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
			hashes[i] = hash32Bytes(key)
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
			hashes[i] = hash32Bytes(k.data[i*k.width : (i+1)*k.width])
		}
	case offsets32:
		hashBetween(hashes, k.data, elements[int32](k, len(hashes)+1))
	case offsets64:
		hashBetween(hashes, k.data, elements[int64](k, len(hashes)+1))
	}
}

func hashBetween[E int32 | int64](hashes []uint32, data []byte, offsets []E) {
	for i := range hashes {
		hashes[i] = hash32Bytes(data[offsets[i]:offsets[i+1]])
	}
}

// hash32Fitting is hash32 by the kernel that suits the CPU.
func hash32Fitting(kernel Kernel, layout layout, rows *byte, stride int, data *byte, hashes []uint32, signs uint32) (left int, ok bool) {
	n := len(hashes)
	if kernel == AVX2 && slowGather() && n >= 32 {
		if left, ok := hash32Loads(kernel, layout, rows, stride, n, &hashes[0], signs); ok && left < n {
			return left, true
		}
	}
	return hash32(kernel, layout, rows, stride, data, n, &hashes[0], signs)
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

// The signed hash is LevelDB's, with one difference: it sign-extends the last one to three
// bytes of a key before it adds them, as early LevelDB did where char is signed. RocksDB and
// Pebble still do. For keys whose length is a multiple of 4 the two hashes are the same.

// hash32SignedAt returns the signed hash of the n bytes at p.
func hash32SignedAt(p unsafe.Pointer, n int) uint32 {
	h := hash32Pairs(hash32Start(n), p, n)
	if n%8 == 0 {
		return h
	}
	return hash32SignedTail(h, p, n)
}

// hash32SignedTail is hash32Tail with signed bytes.
func hash32SignedTail(h uint32, p unsafe.Pointer, n int) uint32 {
	if n < 4 {
		return hash32SignedShort(h, unsafe.Slice((*byte)(p), n))
	}
	half := n >> 2 & 1
	word := mix32(h, load32(p, n&^7&-half))
	if half != 0 {
		h = word
	}
	bytes := (h + signed32(uint32(uint64(load32(p, n-4))>>(32-n&3*8)))) * hash32Mul
	bytes ^= bytes >> 24
	if n&3 != 0 {
		h = bytes
	}
	return h
}

// hash32SignedShort is hash32Short with signed bytes.
func hash32SignedShort(h uint32, key []byte) uint32 {
	if len(key) == 0 {
		return h
	}
	word := uint32(0)
	for i, b := range key {
		word |= uint32(b) << (8 * i)
	}
	h = (h + signed32(word)) * hash32Mul
	return h ^ h>>24
}

// signed32 returns the sum of up to three bytes, each sign-extended and then shifted to its
// place. As a signed number, a byte is less by twice its highest bit.
func signed32(bytes uint32) uint32 { return bytes - bytes&signedBytes<<1 }

// signedBytes has the highest bits of three bytes.
const signedBytes = 0x808080

// hash32SignedGeneric writes the hash of each row.
func (k *Keys) hash32SignedGeneric(hashes []uint32) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = hash32SignedAt(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = hash32SignedAt(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case fixedWidth: // uint32s and uint64s have whole words
		for i := range hashes {
			hashes[i] = hash32SignedAt(unsafe.Pointer(&k.data[i*k.width]), k.width)
		}
	case offsets32:
		signedBetween(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		signedBetween(hashes, k.data, elements[int64](k, n+1))
	}
}

func signedBetween[E int32 | int64](hashes []uint32, data []byte, offsets []E) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = hash32SignedAt(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}

// wholeWords reports whether the layout says that every row is a multiple of 4 bytes long.
// Then hashRows takes LevelDB's hash, which is the same.
func (k *Keys) wholeWords() bool {
	return k.layout == uint32s || k.layout == uint64s || k.layout == fixedWidth && k.width%4 == 0
}

// referenceSigned32 is RocksDB's BloomHash (util/hash.cc and util/hash.h).
func referenceSigned32(key []byte) uint32 {
	const seed, m = 0xbc9f1d34, 0xc6a4a793
	signed := func(b byte) uint32 { return uint32(int32(int8(b))) }
	h := seed ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= m
		h ^= h >> 16
	}
	switch len(key) {
	case 3:
		h += signed(key[2]) << 16
		fallthrough
	case 2:
		h += signed(key[1]) << 8
		fallthrough
	case 1:
		h += signed(key[0])
		h *= m
		h ^= h >> 24
	}
	return h
}
