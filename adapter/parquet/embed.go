package bloomparquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lanebloom/bloom"
)

// Errors of an [Embedder] and of [Sizing].
var (
	// ErrChunk means that the file has no such column chunk, or that the chunk is in a different file.
	ErrChunk = errors.New("parquet: no such column chunk")
	// ErrTooMany means that a filter for the keys would be larger than readers allow.
	ErrTooMany = errors.New("parquet: too many keys for a Bloom filter")
)

// Embedder copies a Parquet file and adds Bloom filters to the copy. It decodes no pages. It copies all
// bytes up to the footer, then writes the filters, and then writes a footer in which the column chunks
// refer to their filters. It also adds a mark to the key-value metadata, under [MarkKey]. The mark records
// that the filters are complete, regardless of which program wrote the pages. All other fields of the
// footer stay unchanged, including fields that this package does not know.
type Embedder struct {
	out    io.Writer
	in     io.ReadSeeker
	footer []byte
	start  int64 // of the footer in the file
	chunks [][]footerChunk
	mark   string // of the footer
	added  map[*footerChunk]placement
	at     int64 // in the output; 0 before the copy
	err    error // of writing
}

// NewEmbedder returns an Embedder that reads a file and writes to out. NewEmbedder reads the footer and
// writes nothing. The error is [ErrFooter] if there is no valid footer, and [ErrEncrypted] if the footer is
// encrypted or signed.
//
// The Embedder copies the file with [io.CopyN]. If file and out are both of type [*os.File], the operating
// system copies or shares the bytes where it can. If out is [io.Discard], the Embedder copies nothing, and
// [Embedder.Size] returns the size that the file would have.
func NewEmbedder(out io.Writer, file io.ReadSeeker) (*Embedder, error) {
	footer, start, err := readFooter(file)
	if err != nil {
		return nil, err
	}
	chunks, err := parseFooter(footer)
	if err != nil {
		return nil, err
	}
	mark, err := markOf(footer)
	if err != nil {
		return nil, err
	}
	return &Embedder{out: out, in: file, footer: footer, start: start, chunks: chunks, mark: mark, added: map[*footerChunk]placement{}}, nil
}

// HasFilter reports whether a column chunk of the input has a filter. Columns are the leaves of the schema,
// counted from 0. HasFilter returns an error if [Embedder.Add] cannot add a filter to the chunk. The error is
// [ErrChunk], [ErrEncrypted] or [ErrFooter].
func (e *Embedder) HasFilter(rowGroup, column int) (bool, error) {
	c, err := e.chunk(rowGroup, column)
	return err == nil && c.hasFilter(e.footer), err
}

func (e *Embedder) chunk(rowGroup, column int) (*footerChunk, error) {
	if rowGroup < 0 || rowGroup >= len(e.chunks) || column < 0 || column >= len(e.chunks[rowGroup]) {
		return nil, fmt.Errorf("%w: column %d of row group %d", ErrChunk, column, rowGroup)
	}
	switch c := &e.chunks[rowGroup][column]; {
	case c.encrypted:
		return nil, fmt.Errorf("%w: column %d of row group %d", ErrEncrypted, column, rowGroup)
	case c.elsewhere:
		return nil, fmt.Errorf("%w: column %d of row group %d is in another file", ErrChunk, column, rowGroup)
	case c.fields == nil:
		return nil, fmt.Errorf("%w: column %d of row group %d has no metadata", ErrFooter, column, rowGroup)
	default:
		return c, nil
	}
}

// Add writes the filter of a column chunk. The filter must have all values of the chunk, because readers
// skip a row group if its filter excludes the key that they look for. If the chunk already has a filter,
// the old filter stays in the file, but the new footer does not refer to it. Add returns the errors of
// [Embedder.HasFilter] and [AppendFilter], and errors from copying the file and from writing the filter.
func (e *Embedder) Add(rowGroup, column int, filter *bloom.Filter) error {
	c, err := e.chunk(rowGroup, column)
	if err != nil {
		return err
	}
	data, err := AppendFilter(nil, filter)
	if err != nil {
		return err
	}
	if err := e.copy(); err != nil {
		return err
	}
	e.added[c] = placement{e.at, int64(len(data)), c.place(e.footer).mark(filter.Bytes())}
	return e.write(data)
}

// copy copies all bytes up to the footer, once.
func (e *Embedder) copy() error {
	if e.at > 0 || e.err != nil {
		return e.err
	}
	e.at = e.start
	if e.out == io.Discard {
		return nil
	}
	if _, e.err = e.in.Seek(0, io.SeekStart); e.err == nil {
		_, e.err = io.CopyN(e.out, e.in, e.start)
	}
	if errors.Is(e.err, io.EOF) {
		e.err = fmt.Errorf("%w: the file was truncated while it was copied", ErrFooter)
	}
	return e.err
}

func (e *Embedder) write(data []byte) error {
	if e.err != nil {
		return e.err
	}
	n, err := e.out.Write(data)
	e.at, e.err = e.at+int64(n), err
	return err
}

// Close writes the footer. It does not close the file or the output.
func (e *Embedder) Close() error {
	if err := e.copy(); err != nil {
		return err
	}
	footer, marks := placeFilters(e.footer, e.added)
	if len(marks) > 0 {
		footer = withMark(footer, appendMark(e.mark, marks))
	}
	if uint64(len(footer)) > math.MaxUint32 {
		return fmt.Errorf("%w: it would have %d bytes", ErrFooter, len(footer))
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return e.write(append(footer, magic...))
}

// Size returns the number of bytes written so far.
func (e *Embedder) Size() int64 { return e.at }
