//go:build !purego

package bloom

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"
)

// The features that probe_arm64.s uses.
var featuresNEON = []cpuid.FeatureID{cpuid.ASIMD}

// detectKernels returns the kernels of this CPU, fastest first.
func detectKernels() []Kernel {
	if cpuid.CPU.Supports(featuresNEON...) {
		return []Kernel{NEON, Generic}
	}
	return []Kernel{Generic}
}

// form says how many probes a kernel makes for all hashes, before it goes on with
// those that pass: if that is all probes, it need not move them together.
type form struct{ first int }

var (
	staged = form{2}
	dense  = form{maxProbes}
)

// least is the number of hashes from which on the kernel is faster than Go.
const least = 8

// testAssembly is testGeneric by the kernel's assembly. It does nothing and
// returns false where Go is to do it.
func (d double32) testAssembly(kernel Kernel, hashes []uint32, hits []uint64, wasDense bool) bool {
	if len(hashes) < least {
		return false
	}
	if wasDense {
		return d.testForm(kernel, hashes, hits, dense)
	}
	return d.testForm(kernel, hashes, hits, staged)
}

func (d double32) testForm(kernel Kernel, hashes []uint32, hits []uint64, f form) bool {
	if kernel == Generic || d.size < 2 {
		return false
	}
	size, recip, shift := d.vectorWalk()
	hits = hits[:(len(hashes)+63)/64]
	testDouble32NEON(d.base, size, recip, shift, d.k, &hashes[0], len(hashes), &hits[0], min(f.first, d.k))
	return true
}

// placeAssembly is placeGeneric by the kernel's assembly. It takes as many hashes
// as make whole vectors, from the first on, and returns their number.
func (d double32) placeAssembly(kernel Kernel, hashes, places []uint32) int {
	vectors := len(hashes) / 8
	if kernel == Generic || d.size < 2 || vectors == 0 {
		return 0
	}
	size, recip, shift := d.vectorWalk()
	placeDouble32NEON(size, recip, shift, d.k, &hashes[0], vectors, &places[:vectors*8*d.k][0])
	return vectors * 8
}

// vectorWalk returns the walk as the kernels take it, for a size of at least 2: the
// size; with 2^log ≤ size the power of two below, ceil(2^(31+log)/size) and -log; or,
// if they are equal, 2^30 and 1-log.
func (d double32) vectorWalk() (size, recip, shift uint32) {
	log := bits.Len(uint(d.size)) - 1
	if d.size == 1<<log {
		return uint32(d.size), 1 << 30, uint32(1 - log)
	}
	// d.recip is 2^64/(8·size) rounded up: shifted, it is to be rounded up again.
	return uint32(d.size), uint32((d.recip-1)>>(30-log) + 1), uint32(-log)
}

// testDouble32NEON is testGeneric for n hashes, 1 to window, of which the first of
// the probes, 1 to all, are made together. It reads on to the next 16 hashes.
//
//go:noescape
func testDouble32NEON(base *byte, size, recip, shift uint32, probes int, hashes *uint32, n int, hits *uint64, first int)

// placeDouble32NEON is placeGeneric for the given number of vectors of 8 hashes, at
// least 1, but for the order.
//
//go:noescape
func placeDouble32NEON(size, recip, shift uint32, probes int, hashes *uint32, vectors int, places *uint32)

// testFirst makes the first of the probes for all hashes and the others for those
// that pass. NEON multiplies no 64 bits, so Go computes the remainders.
func (d *double64) testFirst(_ Kernel, h *hashes, hits []uint64, first int) {
	d.reduceGeneric(h.h1, h.starts)
	d.reduceGeneric(h.h2, h.steps)
	testDouble64NEON(d.base, uint32(d.bits), d.wrap(), d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
}

// testDouble64NEON is testGeneric for n hashes, 1 to window, with the numbers that
// testFirst derives from the walk. It reads on to the next 8 hashes.
//
//go:noescape
func testDouble64NEON(base *byte, bits, wrap uint32, probes, first int, starts, steps *uint32, h1, h2 *uint64, n int, hits *uint64)
