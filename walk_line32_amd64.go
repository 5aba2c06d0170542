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
// requests lines before it needs them. A call makes up to 8 probes. Longer lines have larger
// numbers d.n, and Go tests them.
func (d *line32) testForm(kernel Kernel, hashes []uint32, hits []uint64, far bool) bool {
	if kernel == Generic || d.n >= maxKernelLines {
		return false
	}
	recip, shift := d.divisor()
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	found := &hits[0]
	for done := 0; done < d.k; done += 8 {
		steps := d.steps(done)
		switch kernel {
		case AVX512:
			testLine32AVX512(d.base, d.n, recip, shift, &steps[0], &hashes[0], len(hashes), found, far)
		case AVX2:
			testLine32AVX2(d.base, d.n, recip, shift, &steps[0], &hashes[0], len(hashes), found, far)
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
func (d *line32) addAssembly(kernel Kernel, hashes []uint32) bool {
	return d.addForm(kernel, hashes, d.n >= requestLines)
}

// addForm is addAssembly with far as for testForm.
func (d *line32) addForm(kernel Kernel, hashes []uint32, far bool) bool {
	if kernel == Generic || d.n >= maxKernelLines {
		return false
	}
	recip, shift := d.divisor()
	for done := 0; done < d.k; done += 8 {
		steps, pairs := d.steps(done), (min(d.k, 8)+1)/2
		switch kernel {
		case AVX512:
			addLine32AVX512(d.base, d.n, recip, shift, &steps[0], pairs, &hashes[0], len(hashes), far)
		case AVX2:
			addLine32AVX2(d.base, d.n, recip, shift, &steps[0], pairs, &hashes[0], len(hashes), far)
		}
	}
	return true
}

// divisor returns what the functions in assembly divide by the number of lines with. If 2^log
// is the largest power of two up to the number, recip is floor(2^(32+log)/lines), or 1 less
// for 2^log lines, and shift is 32+log.
func (d *line32) divisor() (recip, shift uint64) {
	log := bits.Len64(d.n) - 1
	return min(1<<(32+log)/d.n, math.MaxUint32), uint64(32 + log)
}

// has is test for a hash, for lines of 64 bytes and at most maxHasProbes probes. All kernels
// but Generic have it.
func (d *line32) has(h uint32) bool { return hasHashLine32AVX2(&d.base, uint64(h), 0, 0) }
