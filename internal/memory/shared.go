package memory

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Bytes are shared if goroutines set their bits meanwhile, by atomic operations on words of 32 bits. These words begin at the
// first byte of a slice here, whose address is a multiple of 4. The last word may reach past the slice, as in memory of Aligned.

// word returns the word of shared bytes that begins at byte i.
func word(shared []byte, i int) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(shared)), i)))
}

// CopyShared copies shared bytes to dst, which is as long or longer. The copy has all bits that were set before.
func CopyShared(dst, shared []byte) {
	for i := 0; i < len(shared); i += 4 {
		var bytes [4]byte
		binary.NativeEndian.PutUint32(bytes[:], word(shared, i))
		copy(dst[i:len(shared)], bytes[:])
	}
}

// OnesShared counts the set bits of shared bytes, whose number is a multiple of 4.
func OnesShared(shared []byte) (n int) {
	for i := 0; i < len(shared); i += 4 {
		n += bits.OnesCount32(word(shared, i))
	}
	return n
}
