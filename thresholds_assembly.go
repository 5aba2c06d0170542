//go:build (amd64 || arm64) && !purego

package bloom

// longKey is the number of bytes from which on Go hashes a key.
const longKey = 1 << 15
