//go:build !purego

package bloom

import (
	"github.com/klauspost/cpuid/v2"
)

// The features that probe_amd64.s uses.
var (
	featuresAVX2   = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.BMI2, cpuid.CMOV, cpuid.FMA3, cpuid.POPCNT}
	featuresAVX512 = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512F, cpuid.AVX512VL, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
)

var isAMD = cpuid.CPU.VendorID == cpuid.AMD || cpuid.CPU.VendorID == cpuid.Hygon

// init finds the kernels, and what the CPU is good at. cpuid reports AVX and AVX-512 only where the operating system
// saves their registers.
func init() {
	if cpuid.CPU.Supports(featuresAVX2...) {
		kernels = append([]Kernel{AVX2}, kernels...)
	}
	if cpuid.CPU.Supports(featuresAVX512...) {
		kernels = append([]Kernel{AVX512}, kernels...)
	}
	setOneKeys()
	gathers = gathersWell(cpuid.CPU)
	slowPDEP = isAMD && cpuid.CPU.Family < 0x19 // before Zen 3, hundreds of cycles
}

// gathersWell reports whether a gather of the CPU's is known to take less time than its loads. That is so on those models of
// Intel's that have timed both, which Downfall spares. Its mitigation makes gathers slow on all models from Skylake to
// Rocket Lake, and they are slow on AMD's CPUs.
func gathersWell(cpu cpuid.CPUInfo) bool {
	const sapphireRapids, emeraldRapids = 143, 207
	return cpu.VendorID == cpuid.Intel && cpu.Family == 6 && (cpu.Model == sapphireRapids || cpu.Model == emeraldRapids)
}
