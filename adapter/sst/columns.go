package bloomsst

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// columns is a block of Pebble's columnar layout: version, number of columns, number of rows, then of each
// column its type and where it begins, then the columns and a byte of padding.
type columns struct {
	data []byte
	rows int
	n    int
}

const (
	columnsHeader = 7
	columnHeader  = 5
	columnUints   = 2
	columnBytes   = 3
)

var errColumns = fmt.Errorf("%w: a malformed block of columns", ErrDamaged)

// newColumns reads the header of a block of at least so many columns. A row takes rowSize bytes of memory once it is read, and
// all rows take no more than limit: the rows of a column may have no byte in the block.
func newColumns(block []byte, least int, rowSize, limit uint64) (c columns, err error) {
	if len(block) < columnsHeader+1 || block[0] != 1 {
		return c, errColumns
	}
	rows, n := binary.LittleEndian.Uint32(block[3:]), int(binary.LittleEndian.Uint16(block[1:]))
	if n < least || len(block) < columnsHeader+n*columnHeader+1 || rows > math.MaxInt32 || uint64(rows)*rowSize > limit {
		return c, errColumns
	}
	return columns{block, int(rows), n}, nil
}

// column returns the bytes from the beginning of the block to the end of a column, and where the column begins.
func (c columns) column(i int, kind byte) (data []byte, at int, err error) {
	start := func(i int) uint64 {
		if i == c.n {
			return uint64(len(c.data) - 1)
		}
		return uint64(binary.LittleEndian.Uint32(c.data[columnsHeader+i*columnHeader+1:]))
	}
	from, to := start(i), start(i+1)
	if c.data[columnsHeader+i*columnHeader] != kind || from > to || to > uint64(len(c.data)-1) {
		return nil, 0, errColumns
	}
	return c.data[:to], int(from), nil
}

// integers returns n integers that begin at an offset, and where they end. Their places are aligned in the block.
func integers(data []byte, at, n int) (values []uint64, end int, err error) {
	if n == 0 {
		return nil, at, nil
	}
	if at >= len(data) {
		return nil, 0, errColumns
	}
	const differences = 0x80
	width, base := int(data[at]&^differences), uint64(0)
	at++
	if data[at-1]&differences != 0 {
		if len(data)-at < 8 {
			return nil, 0, errColumns
		}
		base = binary.LittleEndian.Uint64(data[at:])
		at += 8
	}
	if width != 0 {
		if width > 8 || bits.OnesCount(uint(width)) != 1 {
			return nil, 0, errColumns
		}
		at = (at + width - 1) &^ (width - 1)
	}
	if at > len(data) || n*width > len(data)-at {
		return nil, 0, errColumns
	}
	values = make([]uint64, n)
	for i := range values {
		var word [8]byte
		copy(word[:], data[at+i*width:][:width])
		values[i] = base + binary.LittleEndian.Uint64(word[:])
	}
	return values, at + n*width, nil
}

// strings returns a column of byte strings.
func (c columns) strings(i int) ([][]byte, error) {
	data, at, err := c.column(i, columnBytes)
	if err != nil || c.rows == 0 {
		return nil, err
	}
	ends, at, err := integers(data, at, c.rows+1)
	if err != nil {
		return nil, err
	}
	all := data[at:]
	list := make([][]byte, c.rows)
	for i := range list {
		from, to := ends[i], ends[i+1]
		if from > to || to > uint64(len(all)) {
			return nil, errColumns
		}
		list[i] = all[from:to]
	}
	return list, nil
}

// numbers returns a column of integers.
func (c columns) numbers(i int) ([]uint64, error) {
	data, at, err := c.column(i, columnUints)
	if err != nil {
		return nil, err
	}
	values, _, err := integers(data, at, c.rows)
	return values, err
}
