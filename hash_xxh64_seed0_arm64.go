//go:build !purego

package bloom

import (
	"unsafe"
)

// xxh64Assembly is hash64Assembly for XXH64 with the seed 0.
func (k *Keys) xxh64Assembly(_ Kernel, hashes []uint64) int {
	n, left, out := len(hashes), 0, &hashes[0]
	switch layout, rows, data := k.assemblyRows(); layout {
	case byteSlices:
		left = xxh64HeadersNEON(rows, int(unsafe.Sizeof([]byte(nil))), out, n)
	case strs:
		left = xxh64HeadersNEON(rows, int(unsafe.Sizeof("")), out, n)
	case uint32s:
		xxh64Width4NEON(rows, out, n)
	case uint64s:
		xxh64Width8NEON(rows, out, n)
	case offsets32:
		left = xxh64Offsets32NEON(data, (*int32)(unsafe.Pointer(rows)), out, n)
	case offsets64:
		left = xxh64Offsets64NEON(data, (*int64)(unsafe.Pointer(rows)), out, n)
	case fixedWidth:
		left = xxh64FixedNEON(rows, k.width, out, n)
	default:
		return 0
	}
	return n - left
}
