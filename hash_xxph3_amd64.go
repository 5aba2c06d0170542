//go:build !purego

package bloom

// xxph3Assembly is hash64Assembly for XXPH3, in AVX-512 alone. There is assembly for keys of
// 4 and 8 bytes. Go hashes others.
func (k *Keys) xxph3Assembly(_ Kernel, hashes []uint64) int {
	const lanes = 16
	vectors := len(hashes) / lanes
	switch layout, rows, _ := k.assemblyRows(); {
	case layout != uint32s && layout != uint64s:
		k.xxph3Generic(hashes)
		return len(hashes)
	case vectors == 0:
		return 0
	case layout == uint32s:
		xxph3Width4AVX512(rows, &hashes[0], vectors)
	default:
		xxph3Width8AVX512(rows, &hashes[0], vectors)
	}
	return lanes * vectors
}

// The xxph3 functions write the hashes of the keys of the given number of vectors of 16, at
// least 1.

//go:noescape
func xxph3Width4AVX512(keys *byte, hashes *uint64, vectors int)

//go:noescape
func xxph3Width8AVX512(keys *byte, hashes *uint64, vectors int)
