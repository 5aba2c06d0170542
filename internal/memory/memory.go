// Package memory allocates the bytes of filters: on cache lines, and in huge pages.
package memory

import (
	"slices"
	"unsafe"
)

const CacheLine = 64 // bytes, on most machines

// Far is the number of bytes from which on an allocation has huge pages.
const Far = 4 << 20

// HugePage is the size of a huge page on most machines.
const HugePage = 2 << 20

// Extend appends n zero bytes to dst. It asks for huge pages if it must allocate for Far
// bytes or more: probes read a filter at random, and with small pages each read that misses the caches
// also waits for the page tables.
func Extend(dst []byte, n int) []byte {
	length := len(dst)
	if n < Far || cap(dst)-length >= n {
		dst = slices.Grow(dst, n)[:length+n]
		clear(dst[length:])
		return dst
	}
	buffer := make([]byte, length+n)
	adviseHugePages(buffer)
	copy(buffer, dst)
	return buffer
}

// Aligned returns zero bytes for an encoded filter: those before its bits, and those from the
// first bit on. The bits begin at the start of a cache line. A word at any multiple of 4 bytes
// from the first bit lies in the allocation.
//
// Go's allocations of 1 KiB and more begin at a cache line. Some extra bytes may cost as much
// as a tenth of building the filter: an allocation of 16 KiB takes two pages, and one of a byte
// more is one of four in nine pages.
func Aligned(before, after int) []byte {
	size := before + (after+3)&^3
	if before == 0 && size >= 1<<10 {
		if buffer := Extend(nil, size); uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))%CacheLine == 0 {
			return buffer[:after]
		}
	}
	buffer := Extend(nil, size+CacheLine)
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(buffer[before:]))) % CacheLine)
	return buffer[(CacheLine-past)%CacheLine:][:before+after]
}

// HugeWords returns a buffer of n zero words. It asks for huge pages and begins at the start
// of one, unless the buffer is smaller than a huge page.
func HugeWords(n int) []uint32 {
	if 4*n < HugePage {
		return make([]uint32, n)
	}
	buffer := make([]byte, 4*n+2*HugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buffer))) % HugePage)
	adviseHugePages(buffer[skip : skip+(4*n+HugePage-1)/HugePage*HugePage])
	return unsafe.Slice((*uint32)(unsafe.Pointer(&buffer[skip])), n)
}
