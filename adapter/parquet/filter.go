package bloomparquet

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/lanebloom/bloom"
)

// Filter returns the filter of row group i. The error is one of the errors of this package, such as
// [ErrNoFilter], or an error from reading the file. Later calls do not overwrite the filter. It is never
// larger than the file.
func (c *Column) Filter(i int) (*bloom.Filter, error) {
	r := c.whole(i)
	return r.Filter, r.err
}

// whole returns the filter of a row group, if it is known to be whole.
func (c *Column) whole(i int) result {
	r := c.filter(i, new(buffer))
	if r.err == nil && r.unproven {
		if err := c.prove(i, r.Filter); err != nil {
			return result{err: err}
		}
		r.unproven = false
	}
	return r
}

// filter returns the filter of a row group: the one in memory, or one that it reads to a buffer. If it is
// unproven, prove has to be called before the filter excludes a key.
func (c *Column) filter(i int, memory *buffer) result {
	if c.loaded != nil {
		return c.loaded[i]
	}
	if c.index != nil {
		return result{err: fmt.Errorf("%w: the column is from an index", ErrNoFilter)}
	}
	return c.read(i, memory)
}

// Load reads all filters into memory. Call Load before you test several sets of keys against the column, so
// that each filter is read only once. Load itself reports no errors: if it cannot read a filter, [Keys.Prune]
// and [Column.Filter] report the error. Load has no effect on the columns of an [Index].
func (c *Column) Load() {
	if c.index != nil {
		return
	}
	loaded := make([]result, c.Len())
	for i := range loaded {
		loaded[i] = c.whole(i)
	}
	c.loaded = loaded
}

// read reads the filter of a row group into a buffer.
func (c *Column) read(i int, memory *buffer) result {
	blocks, err := c.readBlocks(i, memory)
	if err != nil {
		return result{err: err}
	}
	unproven, err := c.judge(i, blocks)
	if err != nil {
		return result{err: err}
	}
	filter, err := bloom.Open(bloom.Parquet, blocks)
	return result{filter, blocks, unproven, err}
}

// readBlocks reads the blocks of the filter of a row group: at once if the footer tells their
// size, and else after their header.
func (c *Column) readBlocks(i int, memory *buffer) ([]byte, error) {
	chunk, limit := &c.meta.Chunks[i], c.limits[i]
	offset, length := chunk.FilterOffset, chunk.FilterLength
	switch {
	case offset == 0:
		return nil, ErrNoFilter
	case chunk.Encrypted:
		return nil, ErrEncrypted
	case c.trustOf(i) == noTrust:
		return nil, c.distrust()
	case offset < 0 || offset >= c.meta.Size:
		return nil, fmt.Errorf("%w: it begins at byte %d of a file of %d bytes", errTruncated, offset, c.meta.Size)
	case limit == 0:
		return nil, fmt.Errorf("%w: several filters begin at byte %d", errOverlap, offset)
	case length > int64(maxHeader)+maxBlocks:
		return nil, fmt.Errorf("%w: the footer claims %d bytes", errSize, length)
	case length < 0 || length > limit-offset:
		return nil, fmt.Errorf("%w: the footer claims %d bytes at byte %d, but the next filter or the end of the file is at byte %d", errTruncated, length, offset, limit)
	}
	first := min(int64(maxHeader), limit-offset)
	if length != 0 {
		first = length
	}
	// A size of whole blocks leaves the size of the header, so that the blocks can be read to
	// where a cache line begins.
	data, err := c.readTo(memory, first, int(first%blockSize), offset)
	if err != nil {
		return nil, err
	}
	header, numBytes, err := parseHeader(data)
	total := int64(header) + int64(numBytes) // which an int of 32 bits may not hold
	switch {
	case err != nil:
		return nil, err
	case length != 0 && total != length:
		return nil, fmt.Errorf("%w: the header and the blocks have %d bytes, but the footer claims %d", errSize, total, length)
	case total > limit-offset:
		return nil, fmt.Errorf("%w: it has %d bytes at byte %d, but the next filter or the end of the file is at byte %d", errTruncated, total, offset, limit)
	case length != 0:
		return data[header:], nil
	}
	return c.readTo(memory, int64(numBytes), 0, offset+int64(header))
}

// readTo reads n bytes of the file into a buffer. A cache line begins at byte at of the buffer.
func (c *Column) readTo(memory *buffer, n int64, at int, offset int64) ([]byte, error) {
	if n > math.MaxInt-2*cacheLine {
		return nil, fmt.Errorf("%w: this program cannot allocate %d bytes", errSize, n)
	}
	return c.readAt(memory.aligned(int(n), at), offset)
}

// buffer is memory that is used again.
type buffer struct{ data []byte }

const cacheLine = 64

// aligned returns n bytes. A cache line begins at byte at of them, which is below 64, so that no block lies
// in two lines.
func (b *buffer) aligned(n, at int) []byte {
	if cap(b.data) < n+2*cacheLine {
		b.data = make([]byte, n+2*cacheLine)
	}
	data := b.data[:cap(b.data)]
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(data))) % cacheLine)
	return data[2*cacheLine-past-at:][:n:n]
}

// rateOf returns the share of absent keys to which a filter answers yes, as its set bits tell it.
func rateOf(blocks []byte) float64 {
	filter, err := bloom.Open(bloom.Parquet, blocks)
	if err != nil {
		return 1 // of no blocks
	}
	return filter.Stats().FalsePositiveRate
}
