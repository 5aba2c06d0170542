package bloomsst

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// file reads the blocks of a table.
type file struct {
	r      io.ReaderAt
	size   int64
	tail   []byte // the last bytes of the file
	footer footer

	dictionary []byte         // of compressed data blocks, or nil
	spent      *atomic.Uint64 // counts the bytes that were decompressed, if all blocks together have to keep to the limit
}

// tailSize is how much of the end of a file is read first. It usually has the footer, the metaindex and the
// properties.
const tailSize = 8 << 10

// headroom is how much memory a block may take when it is decompressed, besides the size of its file.
const headroom = 16 << 20

// readTail reads up to n bytes from the end of the file.
func (f *file) readTail(n int64) (err error) {
	if f.size < 0 {
		return fmt.Errorf("%w: the size is %d bytes", ErrTable, f.size)
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
