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
	if kernel == Generic || d.n > maxKernelLines {
		return false
	}
	log := bits.Len64(d.n) - 1
	lines, recip, shift := uint32(d.n), uint32(min(1<<(32+log)/d.n, math.MaxUint32)), uint32(-log)
	if fours := len(hashes) / 4; far && fours > 0 {
		requestLine32NEON(d.base, lines, recip, shift, &hashes[0], fours)
	}
	hits = hits[:(len(hashes)+63)/64]
	var more [windowKeys / 64]uint64
	for done := 0; done < d.k; done += 8 {
		var steps [8]uint16
		for i := range steps {
			if done+i < d.k { // or else the first probe again
				steps[i] = uint16(done + i)
			}
		}
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

// testLine32NEON tests n hashes, 1 to windowKeys, by 8 probes. It reads on to the next
// multiple of 16 hashes. There are at most maxKernelLines lines. If 2^log is the largest
// power of two up to their number, recip is floor(2^(32+log)/lines), or 1 less for 2^log
// lines, and shift is -log.
//
//go:noescape
func testLine32NEON(base *byte, lines, recip, shift uint32, steps *uint16, hashes *uint32, n int, hits *uint64)

// requestLine32NEON requests the lines of the given number of 4 hashes, at least 1.
//
//go:noescape
func requestLine32NEON(base *byte, lines, recip, shift uint32, hashes *uint32, fours int)
