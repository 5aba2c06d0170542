package bloom

import (
	"slices"
	"unsafe"
)

const cacheLine = 64 // bytes, on most machines

// hugePage is the size of a huge page on most machines.
const hugePage = 2 << 20

// extend appends n zero bytes to dst. It asks for huge pages if it must allocate for farBytes
// bytes or more: probes read a filter at random, and with small pages each read that misses the caches
// also waits for the page tables.
func extend(dst []byte, n int) []byte {
	length := len(dst)
	if n < farBytes || cap(dst)-length >= n {
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
// first bit on. The bits begin at the start of a cache line. A word at any multiple of 4 bytes
// from the first bit lies in the allocation.
//
// Go's allocations of 1 KiB and more begin at a cache line. Some extra bytes may cost as much
// as a tenth of building the filter: an allocation of 16 KiB takes two pages, and one of a byte
// more is one of four in nine pages.
func newEncoded(before, after int) []byte {
	size := before + (after+3)&^3
	if before == 0 && size >= 1<<10 {
		if buffer := extend(nil, size); uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))%cacheLine == 0 {
			return buffer[:after]
		}
	}
	buffer := extend(nil, size+cacheLine)
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
