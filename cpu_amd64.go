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

var isAMD = cpuid.CPU.VendorID == cpuid.AMD || cpuid.CPU.VendorID == cpuid.Hygon

// slowPDEP reports whether PDEP takes hundreds of cycles, as on AMD's CPUs before Zen 3. A
// kernel that tests in stages uses PDEP after the last stage.
var slowPDEP = isAMD && cpuid.CPU.Family < 0x19

// init finds the kernels and their forms. cpuid reports AVX and AVX-512 only where the operating system
// saves their registers.
func init() {
	if cpuid.CPU.Supports(featuresAVX2...) {
		kernels = append([]Kernel{AVX2}, kernels...)
	}
	if cpuid.CPU.Supports(featuresAVX512...) {
		kernels = append([]Kernel{AVX512}, kernels...)
	}
	// Gathers take longer than their loads on AMD's CPUs. AVX2's kernels then load words one by one. On a
	// Zen 3, a gather of 8 words takes 11.4 cycles, and the loads take 7.9. Prototypes of a filter of 16 KiB
	// were 1.18 times as fast for absent keys, and 1.28 to 1.39 times as fast for present keys. On a Sapphire
	// Rapids, gathers are faster: -bench 'Gathers|Forms' has both.
	//
	// Gathers are slow on Intel's CPUs from Skylake to Ice Lake, too, if their microcode protects
	// against Downfall. No CPUID bit tells.
	slowGather = isAMD
	dense = form{denseBelow: windowKeys, denseBelowFar: windowKeys, loads: slowGather}
	staged = form{denseBelow: 64, denseBelowFar: 8, densePer256: 192, loads: slowGather}
	if slowPDEP {
		staged = dense
	}
}
