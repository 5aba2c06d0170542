//go:build !purego

package bloom

import (
	"math/bits"
)

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d double32) testAssembly(kernel Kernel, hashes []uint32, hits []uint64, wasDense bool) bool {
	if len(hashes) < minKernelHashes {
		return false
	}
	if wasDense {
		return d.testForm(kernel, hashes, hits, dense)
	}
	return d.testForm(kernel, hashes, hits, staged)
}

func (d double32) testForm(kernel Kernel, hashes []uint32, hits []uint64, f form) bool {
	if kernel == Generic || d.n < 2 {
		return false
	}
	size, recip, shift := d.vectorWalk()
	hits = hits[:(len(hashes)+63)/64]
	testDouble32NEON(d.base, size, recip, shift, d.k, &hashes[0], len(hashes), &hits[0], min(f.first, d.k))
	return true
}

// placeAssembly is placeGeneric in the kernel's assembly, for as many of the first hashes as
// fill whole vectors. It returns their number.
func (d double32) placeAssembly(kernel Kernel, hashes, places []uint32) int {
	vectors := len(hashes) / 8
	if kernel == Generic || d.n < 2 || vectors == 0 {
		return 0
	}
	size, recip, shift := d.vectorWalk()
	placeDouble32NEON(size, recip, shift, d.k, &hashes[0], vectors, &places[:vectors*8*d.k][0])
	return vectors * 8
}

// vectorWalk returns the walk as the kernels take it. size is the number of bytes, at least
// 2. If 2^log is the largest power of two up to size, recip is ceil(2^(31+log)/size) and
// shift is -log. If size is 2^log itself, recip is 2^30 and shift is 1-log.
func (d double32) vectorWalk() (size, recip, shift uint32) {
	log := bits.Len64(d.n) - 1
	if d.n == 1<<log {
		return uint32(d.n), 1 << 30, uint32(1 - log)
	}
	// d.recip is 2^64/(8·size), rounded up. After the shift it must be rounded up again.
	return uint32(d.n), uint32((d.recip-1)>>(30-log) + 1), uint32(-log)
}
