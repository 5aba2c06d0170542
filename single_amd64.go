//go:build !purego

package bloom

import "unsafe"

// singlesInAssembly says that testUint64 is faster than other ways to test a key of 8 bytes.
const singlesInAssembly = true

// The assembly knows where a scheme has its pair and its kernel.
var (
	_ [unsafe.Offsetof(scheme{}.pair) - 32]struct{}
	_ [32 - unsafe.Offsetof(scheme{}.pair)]struct{}
	_ [unsafe.Offsetof(scheme{}.kernel) - 33]struct{}
	_ [33 - unsafe.Offsetof(scheme{}.kernel)]struct{}
)

// has is test for a hash, with at most maxHasProbes probes. All kernels but Generic have it.
func (d *line512) has(h uint64) bool { return hasHashLine512AVX2(&d.base, h, 0, 0) }
