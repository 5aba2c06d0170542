//go:build !purego

package bloom

import (
	"github.com/klauspost/cpuid/v2"
)

// The features that probe_arm64.s uses.
var featuresNEON = []cpuid.FeatureID{cpuid.ASIMD}

// init finds the kernels.
func init() {
	if cpuid.CPU.Supports(featuresNEON...) {
		kernels = append([]Kernel{NEON}, kernels...)
	}
}
