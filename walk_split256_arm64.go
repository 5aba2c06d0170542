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

// testForm is testAssembly for any number of hashes, at least one. far says whether a kernel
// requests all blocks first. The test alone would wait for the blocks of a few keys at a time.
func (d *split256) testForm(kernel Kernel, hashes, hits []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelBlocks {
		return false
	}
	d.request(hashes, far)
	hits = hits[:(len(hashes)+63)/64]
	testSplit256NEON(d.base, uint32(d.n), &hashes[0], len(hashes), &hits[0])
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
	d.request(hashes, far)
	if len(hashes) >= 4 {
		addSplit256NEON(d.base, uint32(d.n), &hashes[0], len(hashes))
		return true
	}
	for _, h := range hashes {
		d.add(h)
	}
	return true
}

// request requests the blocks of the hashes, if the filter is far.
func (d *split256) request(hashes []uint64, far bool) {
	if fours := len(hashes) / 4; far && fours > 0 {
		requestSplit256NEON(d.base, uint32(d.n), &hashes[0], fours)
	}
}
