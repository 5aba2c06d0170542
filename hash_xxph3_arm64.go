//go:build !purego

package bloom

// xxph3Assembly is hash64Assembly for XXPH3. There is assembly for keys of 4 and 8 bytes. Go
// hashes others.
func (k *Keys) xxph3Assembly(_ Kernel, hashes []uint64) int {
	switch layout, rows, _ := k.assemblyRows(); layout {
	case uint32s:
		xxph3Width4NEON(rows, &hashes[0], len(hashes))
	case uint64s:
		xxph3Width8NEON(rows, &hashes[0], len(hashes))
	default:
		k.xxph3Generic(hashes)
	}
	return len(hashes)
}

func xxph3StripesAssembly(sums *uint64, key *byte, n int) { xxph3StripesNEON(sums, key, n) }
