//go:build !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *line512) testAssembly(kernel Kernel, hashes, hits []uint64) bool {
	if len(hashes) < minKernelHashes {
		return false
	}
	return d.testForm(kernel, hashes, hits, d.n >= requestLines)
}

// testForm is testAssembly for any number of hashes, at least one. far says whether a kernel
// requests lines before it needs them. A call makes up to 8 probes.
func (d *line512) testForm(kernel Kernel, hashes, hits []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelLines {
		return false
	}
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	factor, found := uint32(1), &hits[0]
	for done := 0; done < d.k; done += 8 {
		var factors [8]uint32
		for i := range factors {
			factors[i] = 1 // the first probe again
			if done+i < d.k {
				factors[i] = factor
				factor *= line512Mul
			}
		}
		switch kernel {
		case AVX512:
			testLine512AVX512(d.base, 64*d.n, &factors[0], &hashes[0], len(hashes), found, far)
		case AVX2:
			testLine512AVX2(d.base, 64*d.n, &factors[0], &hashes[0], len(hashes), found, far)
		}
		if done > 0 {
			for i := range hits {
				hits[i] &= more[i]
			}
		}
		found = &more[0]
	}
	return true
}

// The functions in assembly test n hashes, 1 to windowKeys, by 8 probes. They read on to the
// next multiple of 8 hashes. There are fewer than maxKernelLines lines.

//go:noescape
func testLine512AVX512(base *byte, bytes uint64, factors *uint32, hashes *uint64, n int, hits *uint64, far bool)

//go:noescape
func testLine512AVX2(base *byte, bytes uint64, factors *uint32, hashes *uint64, n int, hits *uint64, far bool)
