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
// requests all lines first.
func (d *line512) testForm(kernel Kernel, hashes, hits []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelLines {
		return false
	}
	d.request(hashes, far)
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	for done := 0; done < d.k; done += 8 {
		factors := d.factors(done)
		if done == 0 {
			testLine512NEON(d.base, uint32(d.n), &factors[0], &hashes[0], len(hashes), &hits[0])
			continue
		}
		testLine512NEON(d.base, uint32(d.n), &factors[0], &hashes[0], len(hashes), &more[0])
		for i := range hits {
			hits[i] &= more[i]
		}
	}
	return true
}

// has is test for a hash.
func (d *line512) has(h uint64) bool { return d.test(h) }

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
	d.request(hashes, far)
	if len(hashes) < 4 {
		for _, h := range hashes {
			d.add(h)
		}
		return true
	}
	for done := 0; done < d.k; done += 8 {
		factors, pairs := d.factors(done), (min(d.k, 8)+1)/2
		addLine512NEON(d.base, uint32(d.n), &factors[0], pairs, &hashes[0], len(hashes))
	}
	return true
}

// request requests the lines of the hashes, if the filter is far.
func (d *line512) request(hashes []uint64, far bool) {
	if fours := len(hashes) / 4; far && fours > 0 {
		requestLine512NEON(d.base, uint32(d.n), &hashes[0], fours)
	}
}
