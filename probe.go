package bloom

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Kernel is an implementation of the batch loops. Every kernel gives the same
// bits; they differ in speed and in the CPU they need.
type Kernel uint8

const (
	// Generic is portable Go. Every CPU has it.
	Generic Kernel = iota
	// AVX2 tests 8 keys at a time, on amd64.
	AVX2
	// AVX512 tests 16 keys at a time, on amd64.
	AVX512
	// NEON tests 16 keys at a time, on arm64.
	NEON
)

// String returns the kernel's name, such as "generic".
func (k Kernel) String() string {
	switch k {
	case Generic:
		return "generic"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return fmt.Sprintf("Kernel(%d)", uint8(k))
}

// kernels is what Kernels returns.
var kernels = detectKernels()

// Kernels returns the kernels that this CPU runs, fastest first. [Generic] is
// always the last.
func Kernels() []Kernel { return slices.Clone(kernels) }

// double32 is the walk of one 32-bit hash through an array of bits: probe i
// tests bit (h + i·rotr(h, 17)) mod 8·size, all sums mod 2^32.
//
// It is four words, a slice taken apart, because the compiler keeps those in
// registers: the hot paths pass it by value.
type double32 struct {
	base  *byte  // bit i is bit i%8, least significant first, of byte i/8
	size  int    // bytes, 1 to 2^29
	recip uint64 // ceil(2^64 / (8·size))
	k     int    // probes, at least 1
}

// newDouble32 returns the walk of k probes through bits, which must not be
// empty. A hash reaches the first 2^32 bits only, so no more are kept: below,
// a remainder by 2^32 is what a remainder by any larger size would be.
func newDouble32(bits []byte, k int) double32 {
	size := min(len(bits), 1<<29)
	return double32{
		base:  unsafe.SliceData(bits),
		size:  size,
		recip: math.MaxUint64/(8*uint64(size)) + 1,
		k:     k,
	}
}

// testBatch sets bit i of hits for every hash i that may be in the filter, and
// clears the other bits of the words it writes: one for every 64 hashes. That
// the hashes before were dense in hits is a hint.
//
// There are 1 to window hashes. Kernels read on to the next multiple of 16,
// less than which the capacity of the slice must not be, and drop the outcome.
func (d double32) testBatch(kernel Kernel, hashes []uint32, hits []uint64, dense bool) {
	if !d.testAssembly(kernel, hashes, hits, dense) {
		d.testGeneric(hashes, hits, dense)
	}
}
