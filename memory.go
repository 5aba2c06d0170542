package bloom

import (
	"slices"
	"unsafe"
)

// hugeFrom is the number of bytes from which on a buffer asks for huge pages. A
// filter is read at random, and with small pages each read beyond the caches
// waits for a walk through the page tables as well.
const hugeFrom = 32 << 20

// hugePage is the size of a huge page on most machines.
const hugePage = 2 << 20

// extend appends n zero bytes to dst.
func extend(dst []byte, n int) []byte {
	length := len(dst)
	if n < hugeFrom || cap(dst)-length >= n {
		dst = slices.Grow(dst, n)[:length+n]
		clear(dst[length:])
		return dst
	}
	buffer := make([]byte, length+n)
	adviseHugePages(buffer)
	copy(buffer, dst)
	return buffer
}

// hugeWords returns a buffer of n zero words that begins with a huge page.
func hugeWords(n int) []uint32 {
	buffer := make([]byte, 4*n+2*hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buffer))) % hugePage)
	adviseHugePages(buffer[skip : skip+(4*n+hugePage-1)/hugePage*hugePage])
	return unsafe.Slice((*uint32)(unsafe.Pointer(&buffer[skip])), n)
}
