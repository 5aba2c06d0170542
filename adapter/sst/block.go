package bloomsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// trailerSize is the number of bytes after each block: its compression and its checksum.
const trailerSize = 5

// tailSize is how much of the end of a file is read first. It usually has the footer, the metaindex and the
// properties.
const tailSize = 8 << 10

// headroom is how much memory a block may take when it is decompressed, besides the size of its file.
const headroom = 16 << 20

// file reads the blocks of a table.
type file struct {
	r      io.ReaderAt
	size   int64
	tail   []byte // the last bytes of the file
	footer footer

	dictionary []byte         // of compressed data blocks, or nil
	spent      *atomic.Uint64 // counts the bytes that were decompressed, if all blocks together have to keep to the limit
}

// readTail reads up to n bytes from the end of the file.
func (f *file) readTail(n int64) (err error) {
	if f.size < 0 {
		return fmt.Errorf("%w: a size of %d bytes", ErrTable, f.size)
	}
	n = min(f.size, n)
	f.tail, err = f.read(uint64(f.size-n), uint64(n))
	return err
}

// inTail reports whether a block was read with the end of the file.
func (f *file) inTail(h handle) bool { return h.offset >= uint64(f.size)-uint64(len(f.tail)) }

// read returns bytes that lie in the file, from the tail if that has them.
func (f *file) read(offset, n uint64) ([]byte, error) {
	if from := uint64(f.size) - uint64(len(f.tail)); offset >= from {
		at := offset - from
		return f.tail[at : at+n : at+n], nil
	}
	if n > math.MaxInt {
		return nil, fmt.Errorf("%w: a block of %d bytes is too large for this system", ErrVersion, n)
	}
	data := make([]byte, n)
	if got, err := f.r.ReadAt(data, int64(offset)); got < len(data) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("bloomsst: reading %d bytes at %d: %w", n, offset, err)
	}
	return data, nil
}

// block returns the contents of a block, which what names in errors. It verifies the checksum.
func (f *file) block(h handle, what string) ([]byte, error) { return f.changedBlock(h, what, nil) }

// changedBlock returns the contents of a block as block does. If its checksum is wrong, undo restores the
// block as it was before an engine changed it.
func (f *file) changedBlock(h handle, what string, undo func(block []byte)) ([]byte, error) {
	end := uint64(f.footer.at)
	if h.offset > end || h.size > end-h.offset || end-h.offset-h.size < trailerSize {
		return nil, fmt.Errorf("%w: %s has %d bytes at %d, and the footer begins at %d", ErrDamaged, what, h.size, h.offset, end)
	}
	data, err := f.read(h.offset, h.size+trailerSize)
	if err != nil {
		return nil, err
	}
	sound := f.isSound(data, h)
	if !sound && undo != nil && data[h.size] == storedBlock {
		data = bytes.Clone(data)
		undo(data[:h.size])
		sound = f.isSound(data, h)
	}
	if !sound {
		return nil, fmt.Errorf("%w: the checksum of %s", ErrDamaged, what)
	}
	contents, err := f.decompress(data[:h.size:h.size], data[h.size])
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, what)
	}
	return contents, nil
}

// isSound reports whether a block, with its trailer, has the checksum that it stores.
func (f *file) isSound(data []byte, h handle) bool {
	checked, stored := data[:h.size+1], binary.LittleEndian.Uint32(data[h.size+1:])
	c := f.footer.checksum
	return c == sumNone || c.of(checked)+f.footer.context(int64(h.offset)) == stored
}
