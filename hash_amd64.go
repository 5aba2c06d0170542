//go:build !purego

package bloom

import "unsafe"

// long is the number of bytes from which on a key is left to Go.
const long = 1 << 15

// hash32Assembly hashes the rows of a column without null rows by the kernel's
// assembly, from the first row on, and returns how many: those that make whole
// vectors, up to a long key, of which Go hashes the vector, or until the call has
// taken long.
func (k *Keys) hash32Assembly(kernel Kernel, hashes []uint32) int {
	switch kernel {
	case AVX512:
		if vectors := len(hashes) / 16; vectors > 0 {
			return 16 * k.hash32AVX512(&hashes[0], vectors)
		}
	case AVX2:
		if vectors := len(hashes) / 8; vectors > 0 {
			return 8 * k.hash32AVX2(&hashes[0], vectors)
		}
	}
	return 0
}

// hash32AVX512 returns how many vectors of hashes it wrote.
func (k *Keys) hash32AVX512(hashes *uint32, vectors int) int {
	column, data := (*byte)(k.column), unsafe.SliceData(k.data)
	left := 0
	switch {
	case k.layout == byteSlices:
		left = hash32SlicesAVX512(column, hashes, vectors)
	case k.layout == strs:
		left = hash32StringsAVX512(column, hashes, vectors)
	case k.layout == uint32s:
		hash32Width4AVX512(column, hashes, vectors)
	case k.layout == uint64s:
		hash32Width8AVX512(column, hashes, vectors)
	case k.layout == offsets32:
		left = hash32Offsets32AVX512(data, (*int32)(k.column), hashes, vectors)
	case k.layout == offsets64:
		left = hash32Offsets64AVX512(data, (*int64)(k.column), hashes, vectors)
	case k.layout == fixedWidth && k.width == 4:
		hash32Width4AVX512(data, hashes, vectors)
	case k.layout == fixedWidth && k.width == 8:
		hash32Width8AVX512(data, hashes, vectors)
	case k.layout == fixedWidth && k.width < long:
		left = hash32FixedAVX512(data, k.width, hashes, vectors)
	default:
		return 0
	}
	return vectors - left
}

// hash32AVX2 returns how many vectors of hashes it wrote.
func (k *Keys) hash32AVX2(hashes *uint32, vectors int) int {
	column, data := (*byte)(k.column), unsafe.SliceData(k.data)
	left := 0
	switch {
	case k.layout == byteSlices:
		left = hash32SlicesAVX2(column, hashes, vectors)
	case k.layout == strs:
		left = hash32StringsAVX2(column, hashes, vectors)
	case k.layout == uint32s:
		hash32Width4AVX2(column, hashes, vectors)
	case k.layout == uint64s:
		hash32Width8AVX2(column, hashes, vectors)
	case k.layout == offsets32:
		left = hash32Offsets32AVX2(data, (*int32)(k.column), hashes, vectors)
	case k.layout == offsets64:
		left = hash32Offsets64AVX2(data, (*int64)(k.column), hashes, vectors)
	case k.layout == fixedWidth && k.width == 4:
		hash32Width4AVX2(data, hashes, vectors)
	case k.layout == fixedWidth && k.width == 8:
		hash32Width8AVX2(data, hashes, vectors)
	case k.layout == fixedWidth && k.width < long:
		left = hash32FixedAVX2(data, k.width, hashes, vectors)
	default:
		return 0
	}
	return vectors - left
}

// The functions in assembly write the hashes of as many keys as make the given
// number of vectors, at least 1. They work like hash32Rows. Those for keys of any
// length return how many vectors they left.
// Headers are those of slices or strings: an address, and 8 bytes on the length.
// Keys may lie on the stack, which can't move during a call.

//go:noescape
func hash32Width4AVX512(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32Width4AVX2(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32Width8AVX512(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32Width8AVX2(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32SlicesAVX512(headers *byte, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32StringsAVX512(headers *byte, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32SlicesAVX2(headers *byte, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32StringsAVX2(headers *byte, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32Offsets32AVX512(data *byte, offsets *int32, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32Offsets32AVX2(data *byte, offsets *int32, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32Offsets64AVX512(data *byte, offsets *int64, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32Offsets64AVX2(data *byte, offsets *int64, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32FixedAVX512(data *byte, width int, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32FixedAVX2(data *byte, width int, hashes *uint32, vectors int) (left int)

// hash64Assembly is like hash32Assembly.
func (k *Keys) hash64Assembly(kernel Kernel, h1, h2 []uint64) int {
	vectors := len(h1) / 16
	if kernel != AVX512 || vectors == 0 {
		return 0
	}
	column, data := (*byte)(k.column), unsafe.SliceData(k.data)
	left := 0
	switch {
	case k.layout == byteSlices:
		left = hash64SlicesAVX512(column, &h1[0], &h2[0], vectors)
	case k.layout == strs:
		left = hash64StringsAVX512(column, &h1[0], &h2[0], vectors)
	case k.layout == uint32s:
		hash64Width4AVX512(column, &h1[0], &h2[0], vectors)
	case k.layout == uint64s:
		hash64Width8AVX512(column, &h1[0], &h2[0], vectors)
	case k.layout == offsets32:
		left = hash64Offsets32AVX512(data, (*int32)(k.column), &h1[0], &h2[0], vectors)
	case k.layout == offsets64:
		left = hash64Offsets64AVX512(data, (*int64)(k.column), &h1[0], &h2[0], vectors)
	case k.layout == fixedWidth && k.width == 4:
		hash64Width4AVX512(data, &h1[0], &h2[0], vectors)
	case k.layout == fixedWidth && k.width == 8:
		hash64Width8AVX512(data, &h1[0], &h2[0], vectors)
	case k.layout == fixedWidth && k.width < long:
		left = hash64FixedAVX512(data, k.width, &h1[0], &h2[0], vectors)
	default:
		return 0
	}
	return 16 * (vectors - left)
}

// The hash64 functions write the two hashes of as many keys as make the given number
// of vectors of 16, at least 1. See the hash32 functions.

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
