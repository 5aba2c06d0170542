//go:build !purego

package bloom

import (
	"github.com/klauspost/cpuid/v2"
)

// slowPDEP reports whether PDEP takes hundreds of cycles, as on AMD's CPUs before Zen 3. A
// kernel that tests in stages uses PDEP after the last stage.
var slowPDEP = (cpuid.CPU.VendorID == cpuid.AMD || cpuid.CPU.VendorID == cpuid.Hygon) && cpuid.CPU.Family < 0x19

// form says when a kernel stops testing in stages, which make one probe of all hashes, and
// makes all other probes of each hash at once. It does so if at most denseBelow hashes are
// left, or if more than densePer256/256 of them passed a stage.
type form struct{ denseBelow, densePer256 int }

var (
	staged = form{64, 192}
	dense  = form{windowKeys, 0}
)

// minReduceBits is the number of bits of a filter from which on the AVX-512 kernel computes
// the remainders of 64-bit hashes. Go computes those of smaller filters.
const minReduceBits = 1 << 14
