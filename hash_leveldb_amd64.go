//go:build !purego

package bloom

import (
	"unsafe"
)

// hash32Assembly hashes rows that can all be read, from the first on, and returns how many. AVX2
// hashes whole vectors of 8 keys. AVX-512 hashes whole vectors of integers, and all of 16 or more keys
// of any length. It stops before a vector, or a group of 32 or 64, with a key of longKey bytes or more.
// It also stops after so many bytes that a longer call would delay preemption. signs is signedBytes if
// the last bytes of a key are signed, and else 0.
func (k *Keys) hash32Assembly(kernel Kernel, hashes []uint32, signs uint32) int {
	log, wide := 3, kernel == AVX512 // 2^log keys in a vector
	if wide {
		log = 4
	}
	vectors, left := len(hashes)>>log, 0
	if vectors == 0 {
		return 0
	}
	if groups := k.hash32Groups(kernel, hashes, signs); groups > 0 {
		return 32 * groups
	}
	out := &hashes[0]
	switch layout, rows, data := k.assemblyRows(); {
	case wide && layout.stride(k.width) != 0:
		left = hash32RowsAVX512(rows, layout.stride(k.width), data, len(hashes), out, signs, fastGather)
		return len(hashes) - left
	case layout == byteSlices:
		left = hash32SlicesAVX2(rows, out, vectors, signs)
	case layout == strs:
		left = hash32StringsAVX2(rows, out, vectors, signs)
	case layout == uint32s && wide:
		hash32Width4AVX512(rows, out, vectors)
	case layout == uint32s:
		hash32Width4AVX2(rows, out, vectors)
	case layout == uint64s && wide:
		hash32Width8AVX512(rows, out, vectors)
	case layout == uint64s:
		hash32Width8AVX2(rows, out, vectors)
	case layout == offsets32:
		left = hash32Offsets32AVX2(data, (*int32)(unsafe.Pointer(rows)), out, vectors, signs)
	case layout == offsets64:
		left = hash32Offsets64AVX2(data, (*int64)(unsafe.Pointer(rows)), out, vectors, signs)
	case layout == fixedWidth:
		left = hash32FixedAVX2(rows, k.width, out, vectors, signs)
	default:
		return 0
	}
	return (vectors - left) << log
}

// hash32Groups is hash32Assembly for CPUs whose gathers are slow. It hashes groups of 32 strings or
// slices, and returns how many groups.
func (k *Keys) hash32Groups(kernel Kernel, hashes []uint32, signs uint32) int {
	groups := len(hashes) / 32
	if kernel != AVX2 || !staged.loads || groups == 0 {
		return 0
	}
	layout, rows, _ := k.assemblyRows()
	switch layout {
	case byteSlices, strs:
		return groups - hash32HeadersLoadsAVX2(rows, int(elementSize[layout]), &hashes[0], groups, signs)
	}
	return 0
}
