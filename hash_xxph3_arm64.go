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

// The xxph3 functions write the hashes of n keys, at least one.

//go:noescape
func xxph3Width4NEON(keys *byte, hashes *uint64, n int)

//go:noescape
func xxph3Width8NEON(keys *byte, hashes *uint64, n int)

func xxph3StripesAssembly(sums *uint64, key *byte, n int) { xxph3StripesNEON(sums, key, n) }

// xxph3StripesNEON adds to the 8 sums, as xxph3Sums.add does.
//
//go:noescape
func xxph3StripesNEON(sums *uint64, key *byte, n int)
