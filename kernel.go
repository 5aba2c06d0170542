package bloom

import (
	"fmt"
	"slices"
)

// Kernel is an implementation of the batch loops. All kernels give the same answers. They
// differ in speed and in the CPU that they need.
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

// kernels is what Kernels returns. The init functions of cpu_amd64.go and cpu_arm64.go put theirs before
// Generic, and set the variables of thresholds.go. Go runs them after it has initialized all variables of
// the package. So do not initialize another variable with one of these: it would miss what this CPU has.
var kernels = []Kernel{Generic}

// Kernels returns the kernels that this CPU runs, fastest first. [Generic] is
// always the last.
func Kernels() []Kernel { return slices.Clone(kernels) }

// check returns ErrKernel for a kernel that this CPU does not run.
func (k Kernel) check() error {
	if !slices.Contains(kernels, k) {
		return fmt.Errorf("%w: %v", ErrKernel, k)
	}
	return nil
}
