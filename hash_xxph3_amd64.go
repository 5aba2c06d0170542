//go:build !purego

package bloom

// xxph3Assembly is hash64Assembly for XXPH3. AVX-512 ends before 32 keys of which one has more
// than 128 bytes: Go hashes those. AVX2 has assembly for keys of 4 and 8 bytes. Go hashes others.
func (k *Keys) xxph3Assembly(kernel Kernel, hashes []uint64) int {
	const lanes = 16
	vectors := len(hashes) / lanes
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
	case uint32s:
		xxph3Width4AVX512(rows, &hashes[0], vectors)
		return lanes * vectors
	case uint64s:
		xxph3Width8AVX512(rows, &hashes[0], vectors)
		return lanes * vectors
	}
	if layout.stride(k.width) == 0 {
		return 0
	}
	return len(hashes) - xxph3RowsAVX512(rows, layout.stride(k.width), data, len(hashes), &hashes[0], fastGather)
}

func xxph3StripesAssembly(sums *uint64, key *byte, n int) { xxph3StripesAVX2(sums, key, n) }
