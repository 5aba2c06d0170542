package bloom

import (
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

// The signed hash is LevelDB's, with one difference: it sign-extends the last one to three
// bytes of a key before it adds them, as early LevelDB did where char is signed. RocksDB and
// Pebble still do. For keys whose length is a multiple of 4 the two hashes are the same.

// Which of the two hashes: the bits of the last three bytes that are signs.
const (
	unsignedBytes = 0
	signedBytes   = 0x808080
)

// hash32At returns a hash of the n bytes at p. It reads them through a pointer, because a slice
// expression costs more than the hash of a word, and only bytes 0 to n-1.
//
// Where keys lie far away in memory, the CPU waits for the bytes of as many keys as it has room for their
// instructions. So these are few, in one function without a call. Where lengths are mixed, a branch on them
// is mispredicted: there is none on whether n%8 is above 4. A load of 8 bytes is in two lines more often than
// one of 4.
func hash32At(p unsafe.Pointer, n int, signs uint32) uint32 {
	if n == 8 { // common, and half as many instructions
		return hash32Uint64(load64(p, 0))
	}
	h := hash32Seed ^ uint32(n)*hash32Mul
	for i := 8; i <= n; i += 8 {
		h = (h + load32(p, i-8)) * hash32Mul // mix32: inlined, it costs four more instructions
		h = ((h ^ h>>16) + load32(p, i-4)) * hash32Mul
		h ^= h >> 16
	}
	switch {
	case n%8 == 0:
		return h
	case n%4 == 0:
		return mix32(h, load32(p, n-4))
	}
	var rest uint64 // the last n%8 bytes
	switch {
	case n > 8:
		rest = load64(p, n-8) >> (uint(-8*n) & 63)
	case n > 4:
		rest = uint64(load32(p, 0)) | uint64(load32(p, n-4))>>(uint(-8*n)&31)<<32
	default:
		middle, last := n/2, n-1 // bytes that may be the same
		rest = uint64(*(*byte)(p)) | uint64(*(*byte)(unsafe.Add(p, middle)))<<(8*middle&63) | uint64(*(*byte)(unsafe.Add(p, last)))<<(8*last&63)
	}
	word := mix32(h, uint32(rest))
	if n&4 != 0 {
		h = word
		rest >>= 32
	}
	h = (h + uint32(rest) - uint32(rest)&signs<<1) * hash32Mul // as a signed number, a byte is less by twice its sign
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

// hash32Generic writes the hash of each row.
func (k *Keys) hash32Generic(hashes []uint32, signs uint32) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = hash32At(unsafe.Pointer(unsafe.SliceData(key)), len(key), signs)
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = hash32At(unsafe.Pointer(unsafe.StringData(key)), len(key), signs)
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = hash32Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = hash32Uint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = hash32At(unsafe.Pointer(&k.data[i*k.width]), k.width, signs)
		}
	case offsets32:
		hash32Between(hashes, k.data, elements[int32](k, n+1), signs)
	case offsets64:
		hash32Between(hashes, k.data, elements[int64](k, n+1), signs)
	}
}

func hash32Between[E int32 | int64](hashes []uint32, data []byte, offsets []E, signs uint32) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = hash32At(unsafe.Pointer(unsafe.SliceData(key)), len(key), signs)
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

// wholeWords reports whether the layout says that every row is a multiple of 4 bytes long.
// Then hashRows takes LevelDB's hash, which is the same.
func (k *Keys) wholeWords() bool {
	return k.layout == uint32s || k.layout == uint64s || k.layout == fixedWidth && k.width%4 == 0
}
