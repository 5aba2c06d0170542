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
	vectors := len(hashes) / 8
	if kernel == Generic || vectors == 0 {
		return 0
	}
	return 8 * k.hash32NEON(&hashes[0], vectors)
}

// hash32NEON returns how many vectors of hashes it wrote.
func (k *Keys) hash32NEON(hashes *uint32, vectors int) int {
	column, data := (*byte)(k.column), unsafe.SliceData(k.data)
	left := 0
	switch {
	case k.layout == byteSlices:
		left = hash32HeadersNEON(column, int(unsafe.Sizeof([]byte(nil))), hashes, vectors)
	case k.layout == strs:
		left = hash32HeadersNEON(column, int(unsafe.Sizeof("")), hashes, vectors)
	case k.layout == uint32s:
		hash32Width4NEON(column, hashes, vectors)
	case k.layout == uint64s:
		hash32Width8NEON(column, hashes, vectors)
	case k.layout == offsets32:
		left = hash32Offsets32NEON(data, (*int32)(k.column), hashes, vectors)
	case k.layout == offsets64:
		left = hash32Offsets64NEON(data, (*int64)(k.column), hashes, vectors)
	case k.layout == fixedWidth && k.width == 4:
		hash32Width4NEON(data, hashes, vectors)
	case k.layout == fixedWidth && k.width == 8:
		hash32Width8NEON(data, hashes, vectors)
	case k.layout == fixedWidth && k.width > 8 && k.width < long:
		left = hash32FixedNEON(data, k.width, hashes, vectors)
	default:
		return 0
	}
	return vectors - left
}

// The functions in assembly write the hashes of as many keys as make the given
// number of vectors of 8, at least 1. They work like hash32Rows. Those for keys of
// any length return how many vectors they left.
// Headers are those of slices or strings: an address, and 8 bytes on the length.
// Keys may lie on the stack, which can't move during a call.

//go:noescape
func hash32Width4NEON(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32Width8NEON(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32HeadersNEON(headers *byte, stride int, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32Offsets32NEON(data *byte, offsets *int32, hashes *uint32, vectors int) (left int)

//go:noescape
func hash32Offsets64NEON(data *byte, offsets *int64, hashes *uint32, vectors int) (left int)

// hash32FixedNEON takes keys of at least 8 bytes.
//
//go:noescape
func hash32FixedNEON(data *byte, width int, hashes *uint32, vectors int) (left int)

// hash64Assembly is like hash32Assembly.
func (k *Keys) hash64Assembly(kernel Kernel, h1, h2 []uint64) int {
	n := len(h1)
	if kernel == Generic {
		return 0
	}
	column, data := (*byte)(k.column), unsafe.SliceData(k.data)
	left := 0
	switch {
	case k.layout == byteSlices:
		left = hash64HeadersNEON(column, int(unsafe.Sizeof([]byte(nil))), &h1[0], &h2[0], n)
	case k.layout == strs:
		left = hash64HeadersNEON(column, int(unsafe.Sizeof("")), &h1[0], &h2[0], n)
	case k.layout == uint32s:
		hash64Width4NEON(column, &h1[0], &h2[0], n)
	case k.layout == uint64s:
		hash64Width8NEON(column, &h1[0], &h2[0], n)
	case k.layout == offsets32:
		left = hash64Offsets32NEON(data, (*int32)(k.column), &h1[0], &h2[0], n)
	case k.layout == offsets64:
		left = hash64Offsets64NEON(data, (*int64)(k.column), &h1[0], &h2[0], n)
	case k.layout == fixedWidth && k.width == 4:
		hash64Width4NEON(data, &h1[0], &h2[0], n)
	case k.layout == fixedWidth && k.width == 8:
		hash64Width8NEON(data, &h1[0], &h2[0], n)
	case k.layout == fixedWidth && k.width < long:
		left = hash64FixedNEON(data, k.width, &h1[0], &h2[0], n)
	default:
		return 0
	}
	return n - left
}

// The hash64 functions write the two hashes of n keys, at least one. Those for keys of
// any length return how many they left. See the hash32 functions.

//go:noescape
func hash64Width4NEON(keys *byte, h1, h2 *uint64, n int)

//go:noescape
func hash64Width8NEON(keys *byte, h1, h2 *uint64, n int)

//go:noescape
func hash64HeadersNEON(headers *byte, stride int, h1, h2 *uint64, n int) (left int)

//go:noescape
func hash64Offsets32NEON(data *byte, offsets *int32, h1, h2 *uint64, n int) (left int)

//go:noescape
func hash64Offsets64NEON(data *byte, offsets *int64, h1, h2 *uint64, n int) (left int)

//go:noescape
func hash64FixedNEON(data *byte, width int, h1, h2 *uint64, n int) (left int)
