//go:build (amd64 || arm64) && !purego

package bloom

// longKey is the number of bytes from which on Go hashes a key.
const longKey = 1 << 15

const (
	// maxKernelBlocks is the number of blocks from which on Go tests a filter of the walk
	// split256, 4 GiB in all: offsets of blocks have 32 bits in the kernels.
	maxKernelBlocks = 1 << 27
	// requestBlocks is the number of blocks from which on the kernels of split256 request the
	// blocks of later keys, 1 MiB in all. In a nearer cache, that costs more than it saves.
	requestBlocks = 1 << 15
)
