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

// The hash64 functions write the two hashes of the keys of the given number of vectors of
// 16, at least 1. The comment above the hash32 functions tells the rest.

//go:noescape
func hash64Width4AVX512(keys *byte, h1, h2 *uint64, vectors int)

//go:noescape
func hash64Width8AVX512(keys *byte, h1, h2 *uint64, vectors int)

//go:noescape
func hash64SlicesAVX512(headers *byte, h1, h2 *uint64, vectors int) (left int)

//go:noescape
func hash64StringsAVX512(headers *byte, h1, h2 *uint64, vectors int) (left int)

//go:noescape
func hash64Offsets32AVX512(data *byte, offsets *int32, h1, h2 *uint64, vectors int) (left int)

//go:noescape
func hash64Offsets64AVX512(data *byte, offsets *int64, h1, h2 *uint64, vectors int) (left int)

//go:noescape
func hash64FixedAVX512(data *byte, width int, h1, h2 *uint64, vectors int) (left int)
