package bloomsst

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// block returns the contents of a block, which what names in errors. It verifies the checksum.
func (f *file) block(h handle, what string) ([]byte, error) { return f.changedBlock(h, what, nil) }

// changedBlock returns the contents of a block as block does. If its checksum is wrong, undo restores the
// block as it was before an engine changed it.
func (f *file) changedBlock(h handle, what string, undo func(block []byte)) ([]byte, error) {
	end := uint64(f.footer.at)
	if h.offset > end || h.size > end-h.offset || end-h.offset-h.size < trailerSize {
		return nil, fmt.Errorf("%w: %s has %d bytes at offset %d, but the footer begins at %d", ErrDamaged, what, h.size, h.offset, end)
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
		return nil, fmt.Errorf("%w: the checksum of %s is wrong", ErrDamaged, what)
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
