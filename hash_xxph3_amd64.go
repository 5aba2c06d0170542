//go:build !purego

package bloom

import "unsafe"

// xxph3Assembly is hash64Assembly for XXPH3. AVX-512 ends before 16 keys of which one has more
// than 128 bytes: Go hashes those. AVX2 has assembly for keys of 4 and 8 bytes. Go hashes others.
func (k *Keys) xxph3Assembly(kernel Kernel, hashes []uint64) int {
	const lanes = 16
	vectors, left := len(hashes)/lanes, 0
	if vectors == 0 {
		return 0
	}
	layout, rows, data := k.assemblyRows()
	if kernel == AVX2 {
		switch layout {
		case uint32s:
			xxph3Width4AVX2(rows, &hashes[0], vectors)
		case uint64s:
			xxph3Width8AVX2(rows, &hashes[0], vectors)
		default:
			k.xxph3Generic(hashes)
			return len(hashes)
		}
		return lanes * vectors
	}
	switch layout {
	case byteSlices:
		left = xxph3SlicesAVX512(rows, &hashes[0], vectors)
	case strs:
		left = xxph3StringsAVX512(rows, &hashes[0], vectors)
	case uint32s:
		xxph3Width4AVX512(rows, &hashes[0], vectors)
	case uint64s:
		xxph3Width8AVX512(rows, &hashes[0], vectors)
	case offsets32:
		left = xxph3Offsets32AVX512(data, (*int32)(unsafe.Pointer(rows)), &hashes[0], vectors)
	case offsets64:
		left = xxph3Offsets64AVX512(data, (*int64)(unsafe.Pointer(rows)), &hashes[0], vectors)
	case fixedWidth:
		left = xxph3FixedAVX512(rows, k.width, &hashes[0], vectors)
	default:
		return 0
	}
	return lanes * (vectors - left)
}

func xxph3StripesAssembly(sums *uint64, key *byte, n int) { xxph3StripesAVX2(sums, key, n) }
