//go:build !purego

package bloom

// singlesInAssembly says that testUint64 is faster than other ways to test a key of 8 bytes.
const singlesInAssembly = true

// has is test for a hash, with at most maxHasProbes probes. All kernels but Generic have it.
func (d *line512) has(h uint64) bool { return hasHashLine512AVX2(&d.base, h, 0, 0) }

// has is test for a hash, for lines of 64 bytes and at most maxHasProbes probes. All kernels but Generic
// have it.
func (d *line32) has(h uint32) bool { return hasHashLine32AVX2(&d.base, uint64(h), 0, 0) }
