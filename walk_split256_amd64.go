//go:build !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *split256) testAssembly(kernel Kernel, hashes, hits []uint64) bool {
	if len(hashes) < minKernelHashes || kernel == Generic {
		return false
	}
	hits = hits[:(len(hashes)+63)/64]
	switch kernel {
	case AVX512:
		testSplit256AVX512(d.base, d.n, &hashes[0], len(hashes), &hits[0])
	case AVX2:
		testSplit256AVX2(d.base, d.n, &hashes[0], len(hashes), &hits[0])
	}
	return true
}

// addAssembly sets the bits of the hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (d *split256) addAssembly(kernel Kernel, hashes []uint64) bool { return false }

// The testSplit256 functions are testGeneric for n hashes, 1 to windowKeys. They read on to
// the next multiple of 8 hashes.

//go:noescape
func testSplit256AVX512(base *byte, blocks uint64, hashes *uint64, n int, hits *uint64)

//go:noescape
func testSplit256AVX2(base *byte, blocks uint64, hashes *uint64, n int, hits *uint64)
