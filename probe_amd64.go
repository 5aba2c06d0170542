//go:build !purego

package bloom

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// The features that probe_amd64.s uses.
var (
	featuresAVX2   = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
	featuresAVX512 = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX512DQ, cpuid.AVX512F, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
)

// slowPDEP: AMD's CPUs before Zen 3 take hundreds of cycles for PDEP, with which
// the stages end.
var slowPDEP = (cpuid.CPU.VendorID == cpuid.AMD || cpuid.CPU.VendorID == cpuid.Hygon) && cpuid.CPU.Family < 0x19

// detectKernels returns the kernels of this CPU, fastest first. cpuid reports
// AVX and AVX-512 only where the operating system saves their registers.
func detectKernels() []Kernel {
	kernels := []Kernel{Generic}
	if cpuid.CPU.Supports(featuresAVX2...) {
		kernels = append([]Kernel{AVX2}, kernels...)
	}
	if cpuid.CPU.Supports(featuresAVX512...) {
		kernels = append([]Kernel{AVX512}, kernels...)
	}
	return kernels
}

// form says when a kernel stops to test in stages, one probe of all hashes at
// a time, and makes all further probes of each hash at once: for up to few
// hashes, and when more than turn/256 of them passed a stage.
type form struct{ few, turn int }

var (
	staged = form{64, 192}
	dense  = form{window, 0}
)

// least is the number of hashes from which on the kernels are faster than Go.
const least = 8

// testAssembly is testGeneric by the kernel's assembly. It does nothing and
// returns false where Go is to do it.
func (d double32) testAssembly(kernel Kernel, hashes []uint32, hits []uint64, wasDense bool) bool {
	if len(hashes) < least {
		return false
	}
	if wasDense || slowPDEP {
		return d.testForm(kernel, hashes, hits, dense)
	}
	return d.testForm(kernel, hashes, hits, staged)
}

func (d double32) testForm(kernel Kernel, hashes []uint32, hits []uint64, f form) bool {
	// Words are aligned downwards; bits must be numbered below 2^32.
	before := uint64(uintptr(unsafe.Pointer(d.base)) % 4)
	if kernel == Generic || uint64(d.size)+before > 1<<29 {
		return false
	}
	bits, recip, shift, wrap := d.vectorWalk()
	hits = hits[:(len(hashes)+63)/64]
	switch kernel {
	case AVX512:
		testDouble32AVX512(d.base, bits, recip, shift, wrap, d.k, &hashes[0], len(hashes), &hits[0], f.few, f.turn)
	case AVX2:
		testDouble32AVX2(d.base, bits, recip, shift, wrap, d.k, &hashes[0], len(hashes), &hits[0], f.few, f.turn)
	}
	return true
}

// placeAssembly is placeGeneric by the kernel's assembly. It takes as many hashes
// as make whole vectors, from the first on, and returns their number.
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

// vectorWalk returns the walk as the kernels take it: the number of bits, mod
// 2^32; with log the binary logarithm of size, rounded up, the reciprocal
// ceil(2^(31+log)/size), and log + 2; and 2^32 mod the number of bits.
func (d double32) vectorWalk() (nBits, recip, shift, wrap uint32) {
	log := bits.Len(uint(d.size - 1))
	// d.recip is 2^64/(8·size) rounded up: shifted, it is to be rounded up again.
	recip = uint32((d.recip-1)>>(30-log) + 1)
	return uint32(8 * d.size), recip, uint32(log + 2), uint32(1 << 32 % (8 * uint64(d.size)))
}

// The testDouble32 functions are testGeneric for n hashes, 1 to window, with the
// numbers that testForm derives from the walk.

//go:noescape
func testDouble32AVX512(base *byte, bits, recip, shift, wrap uint32, probes int, hashes *uint32, n int, hits *uint64, few, turn int)

//go:noescape
func testDouble32AVX2(base *byte, bits, recip, shift, wrap uint32, probes int, hashes *uint32, n int, hits *uint64, few, turn int)

// The placeDouble32 functions are placeGeneric for the given number of vectors of
// hashes, at least 1, but for the order.

//go:noescape
func placeDouble32AVX512(bits, recip, shift, wrap uint32, probes int, hashes *uint32, vectors int, places *uint32)

//go:noescape
func placeDouble32AVX2(bits, recip, shift, wrap uint32, probes int, hashes *uint32, vectors int, places *uint32)

// reducible is the least number of bits of a filter by which AVX-512 reduces hashes.
const reducible = 1 << 14

// testFirst makes the first of the probes for all hashes and the others for those
// that pass.
func (d *double64) testFirst(kernel Kernel, h *hashes, hits []uint64, first int) {
	inverse := math.Float64bits(1/float64(d.bits)) - 1 // rounded down
	if kernel != AVX512 || d.bits < reducible {
		inverse = 0
		d.reduceGeneric(h.h1, h.starts)
		d.reduceGeneric(h.h2, h.steps)
	}
	switch bits := uint32(d.bits); kernel {
	case AVX512:
		testDouble64AVX512(d.base, bits, d.wrap(), inverse, d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
	case AVX2:
		testDouble64AVX2(d.base, bits, d.wrap(), d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
	}
}

// The testDouble64 functions are testGeneric for n hashes, 1 to window. They read on
// to the next 16 hashes. That of AVX-512 computes the remainders of hashes, unless the
// inverse of the number of bits, rounded down, as the bits of a float64, is 0.

//go:noescape
func testDouble64AVX2(base *byte, bits, wrap uint32, probes, first int, starts, steps *uint32, h1, h2 *uint64, n int, hits *uint64)

//go:noescape
func testDouble64AVX512(base *byte, bits, wrap uint32, inverse uint64, probes, first int, starts, steps *uint32, h1, h2 *uint64, n int, hits *uint64)
