//go:build (amd64 || arm64) && !purego

package bloom

// maxKernelBits is the most bits, 256 MiB, of a filter of the walk double64 that the kernels
// test. Go tests larger filters.
const maxKernelBits = 1 << 31

// minKernelHashes is the number of hashes from which on the kernels are faster than Go.
const minKernelHashes = 8

// longKey is the number of bytes from which on Go hashes a key.
const longKey = 1 << 15

// requestBytes is the size of a filter of one line for each key from which on the kernels
// request the lines of later keys. The instructions cost more than they save where the lines
// are in the caches nearby.
const requestBytes = 1 << 20

// maxSplitBytes is the size of the largest filter whose blocks the kernels of split256 reach.
const maxSplitBytes = 1<<32 - 32
