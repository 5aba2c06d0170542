package bloom

import (
	"fmt"
	"slices"
)

// Kernel is an implementation of the loops that process batches. All kernels give the same answers. Kernels
// differ in speed and in the CPU features that they require.
type Kernel uint8

const (
	// Generic is written in portable Go and runs on every CPU.
	Generic Kernel = iota
	// AVX2 tests 8 keys at a time on amd64.
	AVX2
	// AVX512 tests 16 keys at a time on amd64.
	AVX512
	// NEON tests 16 keys at a time on arm64.
	NEON
)

// String returns the kernel's name, such as "generic".
func (k Kernel) String() string {
	if k > NEON {
		return fmt.Sprintf("Kernel(%d)", uint8(k))
	}
	return [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}[k]
}

// kernels is what Kernels returns. The init functions of cpu_amd64.go and cpu_arm64.go put theirs before
// Generic, and set the variables of thresholds.go. Go runs them after it has initialized all variables of
// the package. So do not initialize another variable with one of these: it would miss what this CPU has.
var kernels = []Kernel{Generic}

// Kernels returns the kernels that this CPU can run, the fastest first. [Generic] is always last.
func Kernels() []Kernel { return slices.Clone(kernels) }

// check returns ErrKernel for a kernel that this CPU does not run.
func (k Kernel) check() error {
	if !slices.Contains(kernels, k) {
		return fmt.Errorf("%w: %v", ErrKernel, k)
	}
	return nil
}

// What kernels take. These limits are no choices: past them, kernels would be wrong.
const (
	// maxHasProbes is the largest number of probes that assembly tests of a single key in the
	// lines of RocksDB and Pebble: those of one vector.
	maxHasProbes = 8
	// sliceLines is the number of lines of a slice that requestSlices requests.
	sliceLines = 4
	// minSetHashes is the number of hashes from which on kernels set bits of lines.
	minSetHashes = 4
	// maxLinesBytes is the size from which on Go serves a filter of lines or blocks: their offsets have 32 bits in the
	// kernels.
	maxLinesBytes = 1 << 32
	// Kernels test filters of at most maxKernelBits bits, 256 MiB, in schemes with a full remainder for each probe. Go tests larger
	// ones.
	maxKernelBits = 1 << 31
	// AVX-512's tests of columns divide 64-bit hashes by the number of bits in floating point. In filters below minReduceBitsFull
	// bits, they first divide by a multiple of that number.
	minReduceBitsFull = 1 << 15
	// maxFullProbes is the most probes with a full remainder each that the kernels make.
	maxFullProbes = 32
)

// What this CPU is good at. An init function sets it.
var (
	gathers  bool // AVX-512's kernels gather words, and do not load them one by one
	slowPDEP bool // no kernel of amd64 tests in stages: those need PDEP after the last
)
