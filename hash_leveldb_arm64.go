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
