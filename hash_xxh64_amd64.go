//go:build !purego

package bloom

import (
	"unsafe"
)

// hash64Assembly is hash32Assembly for XXH64 with the seeds 0 and 1, in AVX-512 alone.
func (k *Keys) hash64Assembly(_ Kernel, h1, h2 []uint64) int {
	const lanes = 16
	vectors, left := len(h1)/lanes, 0
	if vectors == 0 {
		return 0
	}
	switch layout, rows, data := k.assemblyRows(); layout {
	case byteSlices:
		left = hash64SlicesAVX512(rows, &h1[0], &h2[0], vectors)
	case strs:
		left = hash64StringsAVX512(rows, &h1[0], &h2[0], vectors)
	case uint32s:
		hash64Width4AVX512(rows, &h1[0], &h2[0], vectors)
	case uint64s:
		hash64Width8AVX512(rows, &h1[0], &h2[0], vectors)
	case offsets32:
		left = hash64Offsets32AVX512(data, (*int32)(unsafe.Pointer(rows)), &h1[0], &h2[0], vectors)
	case offsets64:
		left = hash64Offsets64AVX512(data, (*int64)(unsafe.Pointer(rows)), &h1[0], &h2[0], vectors)
	case fixedWidth:
		left = hash64FixedAVX512(rows, k.width, &h1[0], &h2[0], vectors)
	default:
		return 0
	}
	return lanes * (vectors - left)
}
