package bloom

import (
	"fmt"
	"math"
	"math/bits"
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

// hashes reports whether the kernel hashes keys itself, to 32 bits or wide ones. AVX2
// does not multiply 64 bits, and Go is faster.
func (k Kernel) hashes(wide bool) bool { return k != Generic && (k != AVX2 || !wide) }

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

// double64 is the walk of two 64-bit hashes through an array of bits: probe i tests
// bit (h1 + i·h2 mod 2^64) mod bits.
type double64 struct {
	base  *byte  // bit i is bit i%8, least significant first, of byte i/8
	bits  uint64 // 1 to 2^63
	recip uint64 // floor(2^72 / bits), or 0 for less than 512 bits
	k     int    // probes, at least 1
}

// newDouble64 returns the walk of k probes through the first n bits of an array.
// Without bits it finds none.
func newDouble64(array []byte, n uint64, k int) double64 {
	if n == 0 {
		return newDouble64(nothing[:], 8, 1)
	}
	d := double64{base: unsafe.SliceData(array), bits: n, k: k}
	if n >= 512 {
		d.recip, _ = bits.Div64(1<<8, 0, n)
	}
	return d
}

// size returns the length of the bit array in bytes.
func (d double64) size() uint64 { return (d.bits-1)/8 + 1 }

// testBatch is like that of double32. Kernels read on as well.
func (d *double64) testBatch(kernel Kernel, h *hashes, hits []uint64, dense bool) {
	if !d.testAssembly(kernel, h, hits, dense) {
		d.testGeneric(h.h1, h.h2, hits)
	}
}

// scheme is the walk of a filter: one of those above.
type scheme struct {
	double32
	wide double64 // if its k is not 0
}

func (s *scheme) isWide() bool { return s.wide.k != 0 }

// length returns the number of bytes that the walk reaches.
func (s *scheme) length() uint64 {
	if s.isWide() {
		return s.wide.size()
	}
	return uint64(s.size)
}

// probes returns the number of bits of a key.
func (s *scheme) probes() int {
	if s.isWide() {
		return s.wide.k
	}
	return s.k
}

// addHash sets the bits of one hash.
func (s *scheme) addHash(h Hash) {
	if s.isWide() {
		s.wide.add(h)
	} else {
		s.add(uint32(h.h1))
	}
}

// testHashes is testBatch.
func (s *scheme) testHashes(kernel Kernel, h *hashes, hits []uint64, dense bool) {
	if s.isWide() {
		s.wide.testBatch(kernel, h, hits, dense)
	} else {
		s.testBatch(kernel, h.narrow, hits, dense)
	}
}

// hashes are those of some keys: 32-bit ones, or the two of 64 bits. To copy so much
// for each step would cost small batches as much as the rest does.
type hashes struct {
	narrow []uint32
	h1, h2 []uint64

	// What h1 and h2 leave modulo the number of bits: room for it, where they are
	// to be tested. Kernels read on as well, so all of it must be below that number.
	starts, steps []uint32
}

func (h *hashes) len() int { return len(h.narrow) + len(h.h1) }

// slice returns hashes i to j-1.
func (h *hashes) slice(i, j int) hashes {
	if h.narrow != nil {
		return hashes{narrow: h.narrow[i:j]}
	}
	s := hashes{h1: h.h1[i:j], h2: h.h2[i:j]}
	if h.starts != nil {
		s.starts, s.steps = h.starts[i:j], h.steps[i:j]
	}
	return s
}
