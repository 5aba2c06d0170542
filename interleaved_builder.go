package bloom

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// InterleavedBuilder writes a file of any number of interleaved filters in bounded memory. In memory, it keeps
// only one block of filters, plus the number of keys and the label of every filter. The size of a block is at
// most 64 MiB, unless 512 filters need more. The builder writes full blocks to a temporary file. On systems
// where an open file needs no name, the builder removes the name at once, so the file disappears even if the
// program crashes. Close removes the temporary file.
//
// An InterleavedBuilder is not safe for concurrent use.
type InterleavedBuilder struct {
	unstored

	// If Progress is not nil, WriteTo and WriteFile call it for each part of the bit slices. The first
	// argument is the position of the end of this part, in bytes from the start of the bit slices. The second
	// argument is the number of bytes in all bit slices.
	Progress func(written, size int64)

	block   *Interleaved // the last one, which is not full
	waiting []*Filter    // those of the block that are not yet put in
	all     interleaving
	labels  Labels
	full    *os.File // the full blocks, or nil
	blocks  int      // their number
}

// builderMemory is the bytes of a block, unless 512 filters have more.
const builderMemory = 64 << 20

// NewInterleavedBuilder returns an empty builder. The argument is an example filter. The file will contain
// filters of the same shape, but not the example itself. The error is [ErrShape] or [ErrCapacity], as in
// [NewInterleaved].
func NewInterleavedBuilder(like *Filter) (*InterleavedBuilder, error) {
	return newInterleavedBuilder(like, builderMemory)
}

// newInterleavedBuilder is NewInterleavedBuilder with blocks of the given bytes.
func newInterleavedBuilder(like *Filter, memory int) (*InterleavedBuilder, error) {
	x, err := NewInterleaved(like, 0)
	if err != nil {
		return nil, err
	}
	bytes := int(x.depth/8) + 1
	block, err := NewInterleaved(like, max(memory/bytes/columnsAtOnce, 1)*columnsAtOnce)
	if err != nil {
		return nil, err
	}
	return &InterleavedBuilder{block: block, all: x.interleaving}, nil
}

// Add adds filter f with the given label. The label may be empty. Do not change the filter until 512 more
// filters have been added or the file has been written. The error is [ErrShape], [ErrKind] or [ErrCapacity],
// as in [Interleaved.Put], or an error from the temporary file. After an error from the temporary file, the
// builder cannot be used.
func (b *InterleavedBuilder) Add(f *Filter, label string) error {
	if err := b.all.checkFilter(f); err != nil {
		return err
	}
	if _, err := b.all.empty.kind.and(f.kind); err != nil {
		return err
	}
	keys, known := f.KeyCount()
	if !known {
		keys = unknownKeys
	}
	b.waiting, b.labels.keys, b.labels.labels = append(b.waiting, f), append(b.labels.keys, keys), append(b.labels.labels, label)
	if b.all.filters++; b.all.filters%columnsAtOnce != 0 {
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	if b.all.filters%b.block.filters == 0 {
		return b.save()
	}
	return nil
}

// flush puts the waiting filters in the block.
func (b *InterleavedBuilder) flush() error {
	first := (b.all.filters - len(b.waiting)) % b.block.filters
	err := b.block.Put(first, b.waiting...)
	clear(b.waiting)
	b.waiting = b.waiting[:0]
	return err
}

// save writes a full block to the temporary file, and clears it.
func (b *InterleavedBuilder) save() (err error) {
	if b.full == nil {
		if b.full, err = os.CreateTemp("", "bloom-*.interleaved"); err != nil {
			return err
		}
		_ = os.Remove(b.full.Name()) // nothing stays behind, where an open file needs no name; elsewhere Close removes it
	}
	if _, err = b.full.Write(b.block.slices); err != nil {
		return err
	}
	b.blocks++
	clear(b.block.slices)
	return nil
}

// SetMetadata sets the metadata that WriteTo and WriteFile write to the file. The metadata can be any bytes.
// SetMetadata does not copy data.
func (b *InterleavedBuilder) SetMetadata(data []byte) { b.labels.metadata = data }

// WriteTo writes the file to w (see [Interleaved.WriteTo]). You can add more filters afterwards.
func (b *InterleavedBuilder) WriteTo(w io.Writer) (int64, error) {
	if err := b.flush(); err != nil {
		return 0, err
	}
	x := b.all
	x.stride = strideOf(x.filters)
	x.room = 8 * (x.stride - sliceSum)
	var part []byte
	return x.writeFile(w, &b.labels, func(p uint64, buffer []byte) error {
		from, n := p*uint64(b.block.stride), uint64(len(buffer)/x.stride*b.block.stride)
		if uint64(len(part)) < n {
			part = make([]byte, n)
		}
		for i := range b.blocks {
			if err := readAt(b.full, part[:n], int64(uint64(i*len(b.block.slices))+from)); err != nil {
				return err
			}
			b.splice(buffer, x.stride, i, part[:n])
		}
		b.splice(buffer, x.stride, b.blocks, b.block.slices[from:][:n])
		if b.Progress != nil {
			b.Progress(int64(p+uint64(len(buffer)/x.stride))*int64(x.stride), int64(x.depth)*int64(x.stride))
		}
		return nil
	})
}

// splice copies the slices of block i that part has to their places in slices of stride bytes.
func (b *InterleavedBuilder) splice(to []byte, stride, i int, part []byte) {
	filters := b.block.filters // a multiple of 512
	n := (min(b.all.filters-i*filters, filters) + 7) / 8
	for ; n > 0 && len(to) > 0; to, part = to[stride:], part[b.block.stride:] {
		copy(to[i*filters/8:], part[:n])
	}
}

// WriteFile writes the file to path atomically. It writes a new file in the same directory, and then renames
// that file to path.
func (b *InterleavedBuilder) WriteFile(path string) (err error) {
	file, err := os.OpenFile(fmt.Sprintf("%s.%016x", path, rand.Uint64()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = b.WriteTo(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}

// Close removes the temporary file.
func (b *InterleavedBuilder) Close() error {
	if b.full == nil {
		return nil
	}
	err := b.full.Close()
	_ = os.Remove(b.full.Name())
	b.full = nil
	return err
}
