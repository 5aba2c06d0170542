package bloom

import (
	"encoding/binary"
	"unsafe"
)

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
