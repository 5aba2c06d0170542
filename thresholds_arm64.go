//go:build !purego

package bloom

// form says how many first probes a kernel makes of all hashes. It then compacts the hashes
// that pass and makes their other probes. If first is the number of probes, it compacts none.
type form struct{ first int }

var (
	staged = form{2}
	dense  = form{maxProbes}
)

const (
	// maxKernelBlocks is the number of blocks, of 4 GiB, from which on Go tests a filter of the
	// walk split256: offsets of blocks have 32 bits in the kernels.
	maxKernelBlocks = 1 << 27
	// requestBlocks is the number of blocks, of 1 MiB, from which on the kernels of split256
	// first request the blocks of a window. Most CPUs have a second-level cache of that size.
	requestBlocks = 1 << 15
)
