//go:build !purego

package bloom

import (
	"github.com/klauspost/cpuid/v2"
)

// The features that probe_amd64.s uses.
var (
	featuresAVX2   = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
	featuresAVX512 = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512F, cpuid.AVX512VL, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
)

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

// hasKernel reports whether the kernel has assembly for the hash. AVX2 has no 64-bit
// multiplication, so Go computes XXH64 with two seeds faster.
func (h hashKind) hasKernel(k Kernel) bool {
	switch h {
	case hashLevelDB, hashLevelDBSigned, hashXXH64, hashXXPH3:
		return k != Generic
	case hashXXH64x2:
		return k == AVX512
	}
	return false
}
