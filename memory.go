package bloom

import (
	"slices"
	"unsafe"
)

// hugeFrom is the number of bytes from which on extend asks for huge pages. Probes read a
// filter at random. With small pages, each read that misses the caches also waits for the
// page tables.
const hugeFrom = 32 << 20

// hugePage is the size of a huge page on most machines.
const hugePage = 2 << 20

// extend appends n zero bytes to dst. It asks for huge pages if it must allocate for hugeFrom
// bytes or more.
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

// newEncoded returns zero bytes for an encoded filter: those before its bits, and those from the
// first bit on. The bits begin at the start of a cache line. The allocation goes on for a word
// at least, so that a word at any multiple of 4 bytes from the first bit lies in it.
func newEncoded(before, after int) []byte {
	buffer := extend(nil, before+after+2*cacheLine)
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(buffer[before:]))) % cacheLine)
	return buffer[(cacheLine-past)%cacheLine:][:before+after]
}

// hugeWords returns a buffer of n zero words. It asks for huge pages and begins at the start
// of one, unless the buffer is smaller than a huge page.
func hugeWords(n int) []uint32 {
	if 4*n < hugePage {
		return make([]uint32, n)
	}
	buffer := make([]byte, 4*n+2*hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buffer))) % hugePage)
	adviseHugePages(buffer[skip : skip+(4*n+hugePage-1)/hugePage*hugePage])
	return unsafe.Slice((*uint32)(unsafe.Pointer(&buffer[skip])), n)
}
