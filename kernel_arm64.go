//go:build !purego

package bloom

import (
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

// hasKernel reports whether the kernel has assembly for the hash.
func (h hashKind) hasKernel(k Kernel) bool {
	return k == NEON
}
