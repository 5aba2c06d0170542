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
	found := &hits[0]
	for done := 0; done < d.k; done += 8 {
		factors := d.factors(done)
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

// addAssembly sets the bits of the hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (d *line512) addAssembly(kernel Kernel, hashes []uint64) bool {
	return d.addForm(kernel, hashes, d.n >= requestLines)
}

// addForm is addAssembly with far as for testForm.
func (d *line512) addForm(kernel Kernel, hashes []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelLines {
		return false
	}
	for done := 0; done < d.k; done += 8 {
		factors, pairs := d.factors(done), (min(d.k, 8)+1)/2
		switch kernel {
		case AVX512:
			addLine512AVX512(d.base, 64*d.n, &factors[0], pairs, &hashes[0], len(hashes), far)
		case AVX2:
			addLine512AVX2(d.base, 64*d.n, &factors[0], pairs, &hashes[0], len(hashes), far)
		}
	}
	return true
}

// has is test for a hash, with at most maxHasProbes probes. All kernels but Generic have it.
func (d *line512) has(h uint64) bool { return hasHashLine512AVX2(&d.base, h, 0, 0) }
