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
	if kernel == Generic || d.n > maxKernelLines {
		return false
	}
	if fours := len(hashes) / 4; far && fours > 0 {
		requestLine512NEON(d.base, uint32(d.n), &hashes[0], fours)
	}
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	factor := uint32(1)
	for done := 0; done < d.k; done += 8 {
		var factors [8]uint32
		for i := range factors {
			factors[i] = 1 // the first probe again
			if done+i < d.k {
				factors[i] = factor
				factor *= line512Mul
			}
		}
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

// testLine512NEON tests n hashes, 1 to windowKeys, by 8 probes. It reads on to the next
// multiple of 16 hashes. There are at most maxKernelLines lines.
//
//go:noescape
func testLine512NEON(base *byte, lines uint32, factors *uint32, hashes *uint64, n int, hits *uint64)

// requestLine512NEON requests the lines of the given number of 4 hashes, at least 1.
//
//go:noescape
func requestLine512NEON(base *byte, lines uint32, hashes *uint64, fours int)
