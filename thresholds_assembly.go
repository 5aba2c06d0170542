//go:build (amd64 || arm64) && !purego

package bloom

// maxKernelBits is the most bits, 256 MiB, of a filter of the walk double64 that the kernels
// test. Go tests larger filters.
const maxKernelBits = 1 << 31

// longKey is the number of bytes from which on Go hashes a key.
const longKey = 1 << 15
