package bloom_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lanebloom/bloom"
)

// This file implements a complete sorted table with a filter. It is small enough to copy. A sorted table is
// written once, in the order of its keys, and then read by key. A table consists of these parts:
//
//	data blocks, index, filter, footer
//
// A block consists of entries, and each entry has a key and a value. The index contains the last key and the
// position of every block. The footer has a fixed size. It contains the positions of the index and the
// filter.
const (
	blockSize  = 4096 // a block is complete when it has this many bytes
	footerSize = 5 * 8
	magic      = 0x656c6261742d626c // "lb-table"
)

var errCorrupt = errors.New("corrupt table")

// tableWriter writes a table.
type tableWriter struct {
	file         io.Writer
	filter       *bloom.Set
	block, index []byte
	last         []byte // the last key
	offset       uint64
}

// newTableWriter returns a writer whose filter is sized for an estimated number of keys. If you add more keys
// than estimated, lookups of absent keys read a block more often. A [bloom.Builder] does not need an
// estimate, but stores a hash of 8 bytes for each key.
func newTableWriter(file io.Writer, estimatedKeys int) (*tableWriter, error) {
	filter, err := bloom.Policy{BitsPerKey: 10}.NewSet(estimatedKeys)
	if err != nil {
		return nil, err
	}
	return &tableWriter{file: file, filter: filter}, nil
}

// Add writes an entry. You must add the keys in ascending order.
func (w *tableWriter) Add(key, value []byte) error {
	isFirst := w.offset == 0 && len(w.block) == 0
	if !isFirst && bytes.Compare(key, w.last) <= 0 {
		return fmt.Errorf("key %q after %q", key, w.last)
	}
	w.last = append(w.last[:0], key...)
	w.filter.Add(key)
	w.block = appendBytes(appendBytes(w.block, key), value)
	if len(w.block) < blockSize {
		return nil
	}
	return w.endBlock()
}

func (w *tableWriter) endBlock() error {
	w.index = appendBytes(w.index, w.last)
	w.index = binary.AppendUvarint(w.index, w.offset)
	w.index = binary.AppendUvarint(w.index, uint64(len(w.block)))
	_, err := w.write(w.block)
	w.block = w.block[:0]
	return err
}

// Close writes the last block, the index, the filter and the footer. It does not close the file.
func (w *tableWriter) Close() error {
	if len(w.block) > 0 {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	index, err := w.write(w.index)
	if err != nil {
		return err
	}
	encoded, err := w.filter.MarshalBinary() // the file records its format and has checksums
	if err != nil {
		return err
	}
	filter, err := w.write(encoded)
	if err != nil {
		return err
	}
	var footer []byte
	for _, word := range []uint64{index.offset, index.size, filter.offset, filter.size, magic} {
		footer = binary.LittleEndian.AppendUint64(footer, word)
	}
	_, err = w.write(footer)
	return err
}

func (w *tableWriter) write(data []byte) (span, error) {
	n, err := w.file.Write(data)
	written := span{w.offset, uint64(n)}
	w.offset += uint64(n)
	return written, err
}

// span is a part of a file.
type span struct{ offset, size uint64 }

// read reads a span. It returns an error if the span extends past end.
func (s span) read(file io.ReaderAt, end uint64) ([]byte, error) {
	if s.offset > end || s.size > end-s.offset {
		return nil, fmt.Errorf("%w: %d bytes at %d, of %d", errCorrupt, s.size, s.offset, end)
	}
	data := make([]byte, s.size)
	_, err := io.ReadFull(io.NewSectionReader(file, int64(s.offset), int64(s.size)), data)
	return data, err
}

// table reads a table file. It keeps the index and the filter in memory.
type table struct {
	file    io.ReaderAt
	blocks  []block
	dataEnd uint64
	filter  *bloom.Filter
}

type block struct {
	last []byte // the last key
	span
}

// openTable opens the table in a file of the given size.
func openTable(file io.ReaderAt, size int64) (*table, error) {
	if size < footerSize {
		return nil, fmt.Errorf("%w: %d bytes have no footer", errCorrupt, size)
	}
	end := uint64(size) - footerSize
	footer, err := span{end, footerSize}.read(file, uint64(size))
	if err != nil {
		return nil, err
	}
	var words [5]uint64
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(footer[8*i:])
	}
	index, filter := span{words[0], words[1]}, span{words[2], words[3]}
	if words[4] != magic || index.offset+index.size != filter.offset {
		return nil, fmt.Errorf("%w: footer %x", errCorrupt, footer)
	}

	t := &table{file: file, dataEnd: index.offset}
	entries, err := index.read(file, end)
	if err != nil {
		return nil, err
	}
	if t.blocks, err = parseIndex(entries); err != nil {
		return nil, err
	}
	encoded, err := filter.read(file, end)
	if err != nil {
		return nil, err
	}
	if t.filter, err = bloom.OpenBinary(encoded); err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	return t, nil
}

func parseIndex(entries []byte) (blocks []block, err error) {
	for len(entries) > 0 {
		var b block
		if b.last, entries, err = cutBytes(entries); err != nil {
			return nil, err
		}
		if b.offset, entries, err = cutUvarint(entries); err != nil {
			return nil, err
		}
		if b.size, entries, err = cutUvarint(entries); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// Get returns the value of a key. If the table contains the key, Get reads a block. If it does not, Get
// usually reads nothing, because the filter returns false. For about one in 105 absent keys, the filter
// returns true, and Get reads a block.
func (t *table) Get(key []byte) (value []byte, found bool, err error) {
	if !t.filter.MayContain(key) {
		return nil, false, nil
	}
	i, _ := slices.BinarySearchFunc(t.blocks, key, func(b block, key []byte) int {
		return bytes.Compare(b.last, key)
	})
	if i == len(t.blocks) {
		return nil, false, nil
	}
	entries, err := t.blocks[i].read(t.file, t.dataEnd)
	if err != nil {
		return nil, false, err
	}
	for len(entries) > 0 {
		var k []byte
		if k, entries, err = cutBytes(entries); err != nil {
			return nil, false, err
		}
		if value, entries, err = cutBytes(entries); err != nil {
			return nil, false, err
		}
		if bytes.Equal(k, key) {
			return value, true, nil
		}
	}
	return nil, false, nil
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func cutBytes(data []byte) (b, rest []byte, err error) {
	n, rest, err := cutUvarint(data)
	if err == nil && n > uint64(len(rest)) {
		err = fmt.Errorf("%w: %d bytes of %d", errCorrupt, n, len(rest))
	}
	if err != nil {
		return nil, nil, err
	}
	return rest[:n], rest[n:], nil
}

func cutUvarint(data []byte) (n uint64, rest []byte, err error) {
	n, width := binary.Uvarint(data)
	if width <= 0 {
		return 0, nil, fmt.Errorf("%w: no number in %x", errCorrupt, data)
	}
	return n, data[width:], nil
}

// countingReader counts reads.
type countingReader struct {
	io.ReaderAt
	reads int
}

func (c *countingReader) ReadAt(p []byte, offset int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, offset)
}

// writeTable writes a table of n even keys.
func writeTable(file io.Writer, n int) error {
	w, err := newTableWriter(file, n)
	if err != nil {
		return err
	}
	for i := range n {
		if err := w.Add(fmt.Appendf(nil, "key%06d", 2*i), fmt.Appendf(nil, "value %d", i)); err != nil {
			return err
		}
	}
	return w.Close()
}

// This example writes a table with a filter, and then looks up keys. The table contains half of these keys.
func Example_sortedTable() {
	const keys = 20_000
	var file bytes.Buffer
	if err := writeTable(&file, keys); err != nil {
		fmt.Println(err)
		return
	}

	reader := &countingReader{ReaderAt: bytes.NewReader(file.Bytes())}
	table, err := openTable(reader, int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	value, found, err := table.Get([]byte("key000042"))
	fmt.Printf("%s, %v, %v\n", value, found, err)

	for _, first := range []int{0, 1} { // the table contains the even keys only
		reader.reads = 0
		number := 0
		for i := range keys {
			_, found, err := table.Get(fmt.Appendf(nil, "key%06d", 2*i+first))
			if err != nil {
				fmt.Println(err)
				return
			}
			if found {
				number++
			}
		}
		fmt.Printf("%d of %d keys found, %d blocks read\n", number, keys, reader.reads)
	}
	// Output:
	// value 21, true, <nil>
	// 20000 of 20000 keys found, 20000 blocks read
	// 0 of 20000 keys found, 191 blocks read
}
