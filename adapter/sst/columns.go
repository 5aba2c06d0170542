package bloomsst

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// columns is a block of Pebble's columnar layout: version, number of columns, number of rows, then of each
// column its type and where it begins, then the columns and a byte of padding. Before the version, a data block has a header of
// its own.
type columns struct {
	data   []byte
	header int // where the version is
	rows   int
	n      int
}

const (
	columnsHeader = 7
	columnHeader  = 5
	columnUints   = 2
	columnBytes   = 3
	columnPrefix  = 4
)

var errColumns = fmt.Errorf("%w: malformed column block", ErrDamaged)

// newColumns reads the header of a block of at least least columns. A row takes rowSize bytes of memory once
// it is read, and all rows take no more than limit: the rows of a column may have no byte in the block.
func newColumns(block []byte, least int, rowSize, limit uint64) (c columns, err error) {
	if c, err = columnsAt(block, 0, least); err == nil && uint64(c.rows)*rowSize > limit {
		err = errColumns
	}
	return c, err
}

// columnsAt reads the header of a block of at least least columns, after the first at bytes of the block.
func columnsAt(block []byte, at, least int) (c columns, err error) {
	if len(block) < at+columnsHeader+1 || block[at] != 1 {
		return c, errColumns
	}
	rows, n := binary.LittleEndian.Uint32(block[at+3:]), int(binary.LittleEndian.Uint16(block[at+1:]))
	if n < least || len(block) < at+columnsHeader+n*columnHeader+1 || rows > math.MaxInt32 {
		return c, errColumns
	}
	return columns{block, at, int(rows), n}, nil
}

// column returns the bytes from the beginning of the block to the end of a column, and where the column begins.
func (c columns) column(i int, kind byte) (data []byte, at int, err error) {
	start := func(i int) uint64 {
		if i == c.n {
			return uint64(len(c.data) - 1)
		}
		return uint64(binary.LittleEndian.Uint32(c.data[c.header+columnsHeader+i*columnHeader+1:]))
	}
	from, to := start(i), start(i+1)
	if c.data[c.header+columnsHeader+i*columnHeader] != kind || from > to || to > uint64(len(c.data)-1) {
		return nil, 0, errColumns
	}
	return c.data[:to], int(from), nil
}

// integers are stored in a number of bytes each, as differences to a base.
type integers struct {
	data  []byte
	width int
	base  uint64
}

// at returns integer i.
func (x integers) at(i int) uint64 {
	var word [8]byte
	copy(word[:], x.data[i*x.width:][:x.width])
	return x.base + binary.LittleEndian.Uint64(word[:])
}

// parseIntegers returns n integers that begin at an offset, and where they end. Their places are aligned in the block.
func parseIntegers(data []byte, at, n int) (x integers, end int, err error) {
	if n == 0 {
		return x, at, nil
	}
	if at >= len(data) {
		return x, 0, errColumns
	}
	const differences = 0x80
	encoding := data[at]
	at++
	if encoding&differences != 0 {
		if len(data)-at < 8 {
			return x, 0, errColumns
		}
		x.base = binary.LittleEndian.Uint64(data[at:])
		at += 8
	}
	if x.width = int(encoding &^ differences); x.width != 0 {
		if x.width > 8 || bits.OnesCount(uint(x.width)) != 1 {
			return x, 0, errColumns
		}
		at = (at + x.width - 1) &^ (x.width - 1)
	}
	if at > len(data) || n*x.width > len(data)-at {
		return x, 0, errColumns
	}
	end = at + n*x.width
	x.data = data[at:end]
	return x, end, nil
}

// byteStrings are, one after the other.
type byteStrings struct {
	ends integers // the first one is where the first string begins
	all  []byte
}

// at returns string i.
func (s byteStrings) at(i int) ([]byte, error) {
	from, to := s.ends.at(i), s.ends.at(i+1)
	if from > to || to > uint64(len(s.all)) {
		return nil, errColumns
	}
	return s.all[from:to], nil
}

// parseByteStrings returns n strings that begin at an offset.
func parseByteStrings(data []byte, at, n int) (s byteStrings, err error) {
	s.ends, at, err = parseIntegers(data, at, n+1)
	if err == nil {
		s.all = data[at:]
	}
	return s, err
}

// bytes returns a column of byte strings.
func (c columns) bytes(i int) (s byteStrings, err error) {
	data, at, err := c.column(i, columnBytes)
	if err != nil || c.rows == 0 {
		return s, err
	}
	return parseByteStrings(data, at, c.rows)
}

// strings returns the byte strings of a column.
func (c columns) strings(i int) ([][]byte, error) {
	s, err := c.bytes(i)
	if err != nil || c.rows == 0 {
		return nil, err
	}
	list := make([][]byte, c.rows)
	for i := range list {
		if list[i], err = s.at(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// integers returns a column of integers.
func (c columns) integers(i int) (x integers, err error) {
	data, at, err := c.column(i, columnUints)
	if err != nil {
		return x, err
	}
	x, _, err = parseIntegers(data, at, c.rows)
	return x, err
}

// prefixes calls each with the byte strings of a column that stores them without what they share, until it returns false: what all
// share comes first, then for each bundle what its strings share and the rest of each. An empty rest stands for the string before.
func (c columns) prefixes(i int, each func(row int, s []byte) bool) error {
	data, at, err := c.column(i, columnPrefix)
	if err != nil || c.rows == 0 {
		return err
	}
	if at >= len(data) || data[at] > 31 {
		return errColumns
	}
	bundle := 1 << data[at]
	all, err := parseByteStrings(data, at+1, c.rows+(c.rows-1)/bundle+1)
	if err != nil {
		return err
	}
	shared := all.ends.at(0)
	if shared > uint64(len(all.all)) {
		return errColumns
	}
	key, next, inBundle := append([]byte{}, all.all[:shared]...), 0, 0
	for row := range c.rows {
		if row%bundle == 0 {
			part, err := all.at(next)
			if err != nil {
				return err
			}
			next++
			key = append(key[:shared], part...)
			inBundle = len(key)
		}
		rest, err := all.at(next)
		if err != nil {
			return err
		}
		next++
		if len(rest) > 0 {
			key = append(key[:inBundle], rest...)
		}
		if !each(row, key) {
			return nil
		}
	}
	return nil
}
