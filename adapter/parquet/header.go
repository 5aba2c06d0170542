package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// A filter in a file begins with a header: the struct BloomFilterHeader of parquet.thrift in
// Thrift's compact protocol. Its field 1 is the size of the blocks, an i32. The fields 2, 3 and
// 4 are unions of one empty struct each. The members that the format has are the first ones.
const (
	headerSize  = 0x15 // field 1 is an i32
	headerUnion = "\x1c\x1c\x00\x00"
	headerEnd   = 0
	// The smallest header has a size of one byte, the largest one of five.
	minHeader = 1 + 1 + 3*len(headerUnion) + 1
	maxHeader = 1 + 5 + 3*len(headerUnion) + 1
	blockSize = 32
	// The most bytes of blocks that the header can tell.
	maxBlocks = int64(math.MaxInt32) / blockSize * blockSize
)

// unions are what the unions of a header tell, in order.
var unions = [...]error{errAlgorithm, errHash, errCompression}

// appendHeader appends the header of a filter of numBytes bytes to dst. It panics if these are not whole
// blocks of 32 bytes, or more than the format allows: 2^31 - 1.
func appendHeader(dst []byte, numBytes int) []byte {
	if numBytes < blockSize || numBytes%blockSize != 0 || int64(numBytes) > math.MaxInt32 {
		panic(fmt.Sprintf("parquet: a filter cannot have %d bytes", numBytes))
	}
	dst = binary.AppendVarint(append(dst, headerSize), int64(numBytes))
	for range unions {
		dst = append(dst, headerUnion...)
	}
	return append(dst, headerEnd)
}

// AppendFilter appends the header and the blocks of a filter to dst, as Parquet files store them, and
// returns the extended slice. It returns an error if the filter does not have the format [bloom.Parquet] or
// is too large.
func AppendFilter(dst []byte, filter *bloom.Filter) ([]byte, error) {
	blocks := filter.Bytes()
	if filter.Format() != bloom.Parquet || len(blocks) < blockSize || int64(len(blocks)) > math.MaxInt32 {
		return dst, fmt.Errorf("%w: a Parquet file cannot contain this filter: %v", errSize, filter)
	}
	return append(appendHeader(dst, len(blocks)), blocks...), nil
}

// parseHeader returns the length of the header that data begins with, and the size of the
// blocks after it. It takes the bytes of appendHeader and no others.
func parseHeader(data []byte) (length, numBytes int, err error) {
	if len(data) < minHeader {
		return 0, 0, fmt.Errorf("%w: it has only %d bytes", errTruncated, len(data))
	}
	size, n := binary.Varint(data[1:min(len(data), 1+5)])
	if data[0] != headerSize || n <= 0 {
		return 0, 0, fmt.Errorf("%w: it begins with %x", errHeader, data[:minHeader])
	}
	rest := data[1+n:]
	for _, unknown := range unions {
		if len(rest) < len(headerUnion) {
			return 0, 0, fmt.Errorf("%w: its header is incomplete", errTruncated)
		}
		if string(rest[:len(headerUnion)]) != headerUnion {
			return 0, 0, fmt.Errorf("%w: %x", unknown, rest[:len(headerUnion)])
		}
		rest = rest[len(headerUnion):]
	}
	if size < blockSize || size%blockSize != 0 || size > math.MaxInt32 {
		return 0, 0, fmt.Errorf("%w: the header claims %d bytes", errSize, size)
	}
	header := appendHeader(make([]byte, 0, maxHeader), int(size))
	if len(rest) == 0 {
		return 0, 0, fmt.Errorf("%w: its header is incomplete", errTruncated)
	}
	if !bytes.HasPrefix(data, header) {
		return 0, 0, fmt.Errorf("%w: %x", errHeader, data[:min(len(data), maxHeader)])
	}
	return len(header), int(size), nil
}
