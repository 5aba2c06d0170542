//go:build !purego

package bloom

import (
	"unsafe"
)

// hash64Assembly is hash32Assembly for XXH64 with the seeds 0 and 1. It also hashes the last
// keys, which do not fill a vector.
func (k *Keys) hash64Assembly(_ Kernel, h1, h2 []uint64) int {
	n, left := len(h1), 0
	switch layout, rows, data := k.assemblyRows(); layout {
	case byteSlices:
		left = hash64HeadersNEON(rows, int(unsafe.Sizeof([]byte(nil))), &h1[0], &h2[0], n)
	case strs:
		left = hash64HeadersNEON(rows, int(unsafe.Sizeof("")), &h1[0], &h2[0], n)
	case uint32s:
		hash64Width4NEON(rows, &h1[0], &h2[0], n)
	case uint64s:
		hash64Width8NEON(rows, &h1[0], &h2[0], n)
	case offsets32:
		left = hash64Offsets32NEON(data, (*int32)(unsafe.Pointer(rows)), &h1[0], &h2[0], n)
	case offsets64:
		left = hash64Offsets64NEON(data, (*int64)(unsafe.Pointer(rows)), &h1[0], &h2[0], n)
	case fixedWidth:
		left = hash64FixedNEON(rows, k.width, &h1[0], &h2[0], n)
	default:
		return 0
	}
	return n - left
}
