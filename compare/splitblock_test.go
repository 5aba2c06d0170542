package compare

import "errors"

// columnKey is the type of a column's keys: BYTE_ARRAY, INT32 or INT64 in Parquet.
type columnKey interface{ []byte | int32 | int64 }

// witnessOf builds and tests filters of columns of one type. A filter of Parquet is the bare blocks here: it has no Thrift header.
type witnessOf[K columnKey] interface {
	// CreateFilter returns the filter of keys, or errSize.
	CreateFilter(keys []K, bitsPerKey int) ([]byte, error)
	// KeyMayMatch returns the answer for each key.
	KeyMayMatch(filter []byte, keys []K) ([]bool, error)
}

// errSize says that a library writes no filter of the size that the keys want.
var errSize = errors.New("no filter of this size")

// bytesPerBlock is the size of a block.
const bytesPerBlock = 32

// blocks returns the number of blocks for n keys, at least one.
func blocks(n, bitsPerKey int) int {
	const bits = 8 * bytesPerBlock
	return max(1, (n*bitsPerKey+bits-1)/bits)
}
