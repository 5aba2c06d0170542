//go:build !purego

package bloom

import (
	"unsafe"
)

// xxh64Assembly is hash32Assembly for XXH64 with the seed 0. AVX2 has assembly for keys of 4
// and 8 bytes. Go hashes others as fast as AVX2 could, which has no 64-bit multiplication.
func (k *Keys) xxh64Assembly(kernel Kernel, hashes []uint64) int {
	const lanes = 16 // in a vector of AVX-512; AVX2 hashes as many keys at a time
	vectors, left := len(hashes)/lanes, 0
	if vectors == 0 {
		return 0
	}
	layout, rows, data := k.assemblyRows()
	if kernel == AVX2 {
		switch layout {
		case uint32s:
			xxh64Width4AVX2(rows, &hashes[0], vectors)
		case uint64s:
			xxh64Width8AVX2(rows, &hashes[0], vectors)
		default:
			k.xxh64Generic(hashes)
			return len(hashes)
		}
		return lanes * vectors
	}
	switch layout {
	case byteSlices:
		left = xxh64SlicesAVX512(rows, &hashes[0], vectors)
	case strs:
		left = xxh64StringsAVX512(rows, &hashes[0], vectors)
	case uint32s:
		xxh64Width4AVX512(rows, &hashes[0], vectors)
	case uint64s:
		xxh64Width8AVX512(rows, &hashes[0], vectors)
	case offsets32:
		left = xxh64Offsets32AVX512(data, (*int32)(unsafe.Pointer(rows)), &hashes[0], vectors)
	case offsets64:
		left = xxh64Offsets64AVX512(data, (*int64)(unsafe.Pointer(rows)), &hashes[0], vectors)
	case fixedWidth:
		left = xxh64FixedAVX512(rows, k.width, &hashes[0], vectors)
	default:
		return 0
	}
	return lanes * (vectors - left)
}
