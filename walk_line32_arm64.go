//go:build !purego

package bloom

import (
	"math"
	"math/bits"
)

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *line32) testAssembly(kernel Kernel, hashes []uint32, hits []uint64) bool {
	if len(hashes) < minKernelHashes {
		return false
	}
	return d.testForm(kernel, hashes, hits, d.n >= requestLines)
}

// testForm is testAssembly for any number of hashes, at least one. far says whether a kernel
// requests all lines first. Longer lines have larger numbers d.n, and Go tests them.
func (d *line32) testForm(kernel Kernel, hashes []uint32, hits []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelLines {
		return false
	}
	lines, recip, shift := d.divisor()
	d.request(hashes, far)
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	for done := 0; done < d.k; done += 8 {
		steps := d.steps(done)
		if done == 0 {
			testLine32NEON(d.base, lines, recip, shift, &steps[0], &hashes[0], len(hashes), &hits[0])
			continue
		}
		testLine32NEON(d.base, lines, recip, shift, &steps[0], &hashes[0], len(hashes), &more[0])
		for i := range hits {
			hits[i] &= more[i]
		}
	}
	return true
}

// has is test for a hash.
func (d *line32) has(h uint32) bool { return d.test(h) }

// addAssembly sets the bits of the hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (d *line32) addAssembly(kernel Kernel, hashes []uint32) bool {
	return d.addForm(kernel, hashes, d.n >= requestLines)
}

// addForm is addAssembly with far as for testForm.
func (d *line32) addForm(kernel Kernel, hashes []uint32, far bool) bool {
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
	lines, recip, shift := d.divisor()
	for done := 0; done < d.k; done += 8 {
		steps, pairs := d.steps(done), (min(d.k, 8)+1)/2
		addLine32NEON(d.base, lines, recip, shift, &steps[0], pairs, &hashes[0], len(hashes))
	}
	return true
}

// request requests the lines of the hashes, if the filter is far.
func (d *line32) request(hashes []uint32, far bool) {
	if fours := len(hashes) / 4; far && fours > 0 {
		lines, recip, shift := d.divisor()
		requestLine32NEON(d.base, lines, recip, shift, &hashes[0], fours)
	}
}

// divisor returns the number of lines, and what the functions in assembly divide by it with.
// If 2^log is the largest power of two up to the number, recip is floor(2^(32+log)/lines), or 1
// less for 2^log lines, and shift is -log.
func (d *line32) divisor() (lines, recip, shift uint32) {
	log := bits.Len64(d.n) - 1
	return uint32(d.n), uint32(min(1<<(32+log)/d.n, math.MaxUint32)), uint32(-log)
}
