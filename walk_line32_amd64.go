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
	log := bits.Len64(d.n) - 1
	recip, shift := min(1<<(32+log)/d.n, math.MaxUint32), uint64(32+log)
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	found := &hits[0]
	for done := 0; done < d.k; done += 8 {
		var steps [8]uint32
		for i := range steps {
			if done+i < d.k { // or else the first probe again
				steps[i] = uint32(done + i)
			}
		}
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

// The functions in assembly test n hashes, 1 to windowKeys, by 8 probes. They read on to the
// next multiple of 8 hashes. There are fewer than maxKernelLines lines. If 2^log is the
// largest power of two up to their number, recip is floor(2^(32+log)/lines), or 1 less for
// 2^log lines, and shift is 32+log.

//go:noescape
func testLine32AVX512(base *byte, lines, recip, shift uint64, steps *uint32, hashes *uint32, n int, hits *uint64, far bool)

//go:noescape
func testLine32AVX2(base *byte, lines, recip, shift uint64, steps *uint32, hashes *uint32, n int, hits *uint64, far bool)
