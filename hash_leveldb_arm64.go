//go:build !purego

package bloom

import (
	"unsafe"
)

// hash32Assembly hashes rows that can all be read, from the first on, and
// returns how many. It hashes whole vectors of 8 keys. It stops before a vector with a key
// of longKey bytes or more. It also stops after so many bytes that a longer call would delay
// preemption. signs is signedBytes if the last bytes of a key are signed, and else 0.
func (k *Keys) hash32Assembly(_ Kernel, hashes []uint32, signs uint32) int {
	const lanes = 8
	vectors, left := len(hashes)/lanes, 0
	if vectors == 0 {
		return 0
	}
	out := &hashes[0]
	switch layout, rows, data := k.assemblyRows(); {
	case layout == byteSlices:
		left = hash32HeadersNEON(rows, int(unsafe.Sizeof([]byte(nil))), out, vectors, signs)
	case layout == strs:
		left = hash32HeadersNEON(rows, int(unsafe.Sizeof("")), out, vectors, signs)
	case layout == uint32s:
		hash32Width4NEON(rows, out, vectors)
	case layout == uint64s:
		hash32Width8NEON(rows, out, vectors)
	case layout == offsets32:
		left = hash32Offsets32NEON(data, (*int32)(unsafe.Pointer(rows)), out, vectors, signs)
	case layout == offsets64:
		left = hash32Offsets64NEON(data, (*int64)(unsafe.Pointer(rows)), out, vectors, signs)
	case layout == fixedWidth && k.width > 8:
		left = hash32FixedNEON(rows, k.width, out, vectors, signs)
	default:
		return 0
	}
	return lanes * (vectors - left)
}

// The functions in assembly write the hashes of the keys of the given number of vectors
// of 8, at least 1. They work like hash32Generic. The functions for keys of any length return
// how many vectors are left. Headers are those of slices or strings: an address, and the
// length 8 bytes after it. Keys may lie on the stack, which can't move during a call.

//go:noescape
func hash32Width4NEON(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32Width8NEON(keys *byte, hashes *uint32, vectors int)

//go:noescape
func hash32HeadersNEON(headers *byte, stride int, hashes *uint32, vectors int, signs uint32) (left int)

//go:noescape
func hash32Offsets32NEON(data *byte, offsets *int32, hashes *uint32, vectors int, signs uint32) (left int)

//go:noescape
func hash32Offsets64NEON(data *byte, offsets *int64, hashes *uint32, vectors int, signs uint32) (left int)

// hash32FixedNEON takes keys of at least 8 bytes.
//
//go:noescape
func hash32FixedNEON(data *byte, width int, hashes *uint32, vectors int, signs uint32) (left int)
