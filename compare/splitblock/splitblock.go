// Package splitblock makes and reads Parquet's split block Bloom filters with the Go
// libraries that write them into files. A filter here is the bare blocks: it has no
// Thrift header.
package splitblock

import "errors"

// Key is the type of a column's keys: BYTE_ARRAY, INT32 or INT64 in Parquet.
type Key interface{ []byte | int32 | int64 }

// Library builds and tests filters of columns of one type.
type Library[K Key] interface {
	// CreateFilter returns the filter of keys, or ErrSize.
	CreateFilter(keys []K, bitsPerKey int) ([]byte, error)
	// KeyMayMatch returns the answer for each key.
	KeyMayMatch(filter []byte, keys []K) ([]bool, error)
}

// ErrSize says that a library writes no filter of the size that the keys want.
var ErrSize = errors.New("splitblock: no filter of this size")

// bytesPerBlock is the size of a block.
const bytesPerBlock = 32

// blocks returns the number of blocks for n keys, at least one.
func blocks(n, bitsPerKey int) int {
	const bits = 8 * bytesPerBlock
	return max(1, (n*bitsPerKey+bits-1)/bits)
}
