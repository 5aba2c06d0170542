//go:build !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *split256) testAssembly(kernel Kernel, hashes, hits []uint64) bool {
	if len(hashes) < minKernelHashes {
		return false
	}
	return d.testForm(kernel, hashes, hits, d.n >= requestBlocks)
}

// testForm is testAssembly for any number of hashes, at least one. far says whether the
// kernel requests lines before it needs them.
func (d *split256) testForm(kernel Kernel, hashes, hits []uint64, far bool) bool {
	hits = hits[:(len(hashes)+63)/64]
	switch {
	case d.n >= maxKernelBlocks:
		return false
	case kernel == AVX512:
		testSplit256AVX512(d.base, 32*d.n, &hashes[0], len(hashes), &hits[0], far)
	case kernel == AVX2:
		testSplit256AVX2(d.base, 32*d.n, &hashes[0], len(hashes), &hits[0], far)
	default:
		return false
	}
	return true
}

// addAssembly sets the bits of the hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (d *split256) addAssembly(kernel Kernel, hashes []uint64) bool {
	return d.addForm(kernel, hashes, d.n >= requestBlocks)
}

// addForm is addAssembly with far as for testForm.
func (d *split256) addForm(kernel Kernel, hashes []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelBlocks {
		return false
	}
	addSplit256AVX2(d.base, 32*d.n, &hashes[0], len(hashes), far)
	return true
}
