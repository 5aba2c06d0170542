//go:build !purego

package bloom

import (
	"math/bits"
	"unsafe"
)

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d double32) testAssembly(kernel Kernel, hashes []uint32, hits []uint64, wasDense bool) bool {
	if len(hashes) < minKernelHashes {
		return false
	}
	if wasDense || slowPDEP {
		return d.testForm(kernel, hashes, hits, dense)
	}
	return d.testForm(kernel, hashes, hits, staged)
}

func (d double32) testForm(kernel Kernel, hashes []uint32, hits []uint64, f form) bool {
	// Kernels load aligned words, from the word in which the filter begins. The numbers of
	// the bits from there must be below 2^32.
	before := uint64(uintptr(unsafe.Pointer(d.base)) % 4)
	if kernel == Generic || d.n+before > 1<<29 {
		return false
	}
	bits, recip, shift, wrap := d.vectorWalk()
	hits = hits[:(len(hashes)+63)/64]
	below := f.denseBelow
	if d.n >= stageBytes {
		below = f.denseBelowFar
	}
	switch {
	case kernel == AVX512:
		testDouble32AVX512(d.base, bits, recip, shift, wrap, d.k, &hashes[0], len(hashes), &hits[0], below, f.densePer256)
	case f.loads:
		testDouble32LoadsAVX2(d.base, bits, recip, shift, wrap, d.k, &hashes[0], len(hashes), &hits[0], below, f.densePer256)
	default:
		testDouble32AVX2(d.base, bits, recip, shift, wrap, d.k, &hashes[0], len(hashes), &hits[0], below, f.densePer256)
	}
	return true
}

// placeAssembly is placeGeneric in the kernel's assembly, for as many of the first hashes as
// fill whole vectors. It returns their number.
func (d double32) placeAssembly(kernel Kernel, hashes, places []uint32) int {
	bits, recip, shift, wrap := d.vectorWalk()
	switch vectors := len(hashes) / 8; {
	case vectors >= 2 && kernel == AVX512:
		placeDouble32AVX512(bits, recip, shift, wrap, d.k, &hashes[0], vectors/2, &places[:vectors/2*16*d.k][0])
		return vectors / 2 * 16
	case vectors >= 1 && kernel == AVX2:
		placeDouble32AVX2(bits, recip, shift, wrap, d.k, &hashes[0], vectors, &places[:vectors*8*d.k][0])
		return vectors * 8
	}
	return 0
}

// vectorWalk returns the walk as the kernels take it. nBits is the number of bits, mod 2^32.
// recip is ceil(2^(31+log)/n) and shift is log + 2, where log is the binary logarithm of n,
// rounded up. wrap is 2^32 mod the number of bits.
func (d double32) vectorWalk() (nBits, recip, shift, wrap uint32) {
	log := bits.Len64(d.n - 1)
	// d.recip is 2^64/8n, rounded up. After the shift it must be rounded up again.
	recip = uint32((d.recip-1)>>(30-log) + 1)
	return uint32(8 * d.n), recip, uint32(log + 2), uint32(1 << 32 % (8 * d.n))
}

// The placeDouble32 functions are placeGeneric for the given number of vectors of hashes, at
// least 1. The places are in another order.
