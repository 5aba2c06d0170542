package bloomparquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/lanebloom/bloom"
)

// Meta is what the footer of a file says of a column. The packages parquetgo and arrowgo
// take it from the file handles of two libraries.
type Meta struct {
	File   string // a name for messages
	Path   string // of the column in the schema, with dots
	Type   Type
	Input  io.ReaderAt // the file
	Size   int64       // of the file in bytes
	Chunks []Chunk     // one for each row group
	// CreatedBy is which program wrote the file, as the footer says.
	CreatedBy string
	// Origins is the value of [OriginsKey] in the key-value metadata of the footer.
	Origins string
	// Mark is the value of [MarkKey] in the key-value metadata of the footer.
	Mark string
	// Decompress returns the bytes of a page, of which there should be so many. Without it, no compressed dictionary is read. Goroutines
	// that share a [Column] call it at once.
	Decompress func(codec Codec, data []byte, size int) ([]byte, error)
}

// Chunk is what the footer of a file says of a column in one row group.
type Chunk struct {
	Rows int64 // of the row group
	// FilterOffset is where the header of the filter is in the file. 0 is no filter.
	FilterOffset int64
	// FilterLength is the size of header and blocks. Writers before version 2.10 of the
	// format did not tell it: 0.
	FilterLength int64
	// Min and Max are bounds of all values, PLAIN bytes without a length, in the order that the format defines for the type. They
	// need not be values of the column. An empty bound is not known. [Chunk.SetBounds] takes them from a footer.
	Min, Max []byte
	// Unordered says that the footer has bounds, but not in which order they are.
	Unordered bool
	// Encrypted says that the filter is encrypted.
	Encrypted bool
	// Pages says how the data pages are encoded.
	Pages Pages
	// Null says that all values are null, as the statistics say. Of a column inside a repeated field they are not relied on.
	Null bool
	// Place is where the data pages are. [Meta.Mark] refers to it.
	Place Place
	// DictionaryOffset is where the dictionary page is, or 0 if the footer does not say, and Codec the compression of all pages.
	DictionaryOffset int64
	Codec            Codec
}

// Statistics is what the footer of a file says of the values of a column in one row group: the fields of the same names in
// parquet.thrift. An empty field means that the footer does not have it.
type Statistics struct {
	MinValue, MaxValue []byte
	Min, Max           []byte // deprecated
}

// SetBounds sets the bounds that can be relied on. ordered says that the column_orders of the footer
// have a TypeDefinedOrder for the column: else nobody knows in which order its writer compared
// min_value and max_value. The deprecated fields min and max are compared as signed numbers: that is
// the order of signed types, and of no others. A column inside a repeated field must not get
// bounds: arrow-go writes wrong ones (rank.go).
func (c *Chunk) SetBounds(t Type, s Statistics, ordered bool) {
	value, deprecated := len(s.MinValue)+len(s.MaxValue) > 0, len(s.Min)+len(s.Max) > 0
	c.Min, c.Max, c.Unordered = nil, nil, false
	switch {
	case value && ordered:
		c.Min, c.Max = s.MinValue, s.MaxValue
	case deprecated && t.order() == signedOrder:
		c.Min, c.Max = s.Min, s.Max
	default:
		c.Unordered = value || deprecated
	}
}

// Column is a column of a file, with the filters of its row groups. All methods except Load and Named may be
// called from many goroutines at once.
type Column struct {
	meta   Meta
	limits []int64  // where the bytes of each filter end at the latest; 0 if they overlap
	loaded []result // of each row group, once they are in memory
	index  *indexed // that has the filters, or nil
	marks  map[marking]bool
}

// result is a filter, or why there is none.
type result struct {
	*bloom.Filter
	blocks   []byte // of the filter
	unproven bool   // whether prove tells if the filter is whole
	err      error
}

// NoColumnError says that a file has no column of a path.
type NoColumnError struct {
	Path    string
	Columns []string // the paths that the file has
}

func (e *NoColumnError) Error() string {
	const most = 40
	names, more := e.Columns, ""
	if len(names) == 0 {
		more = "none"
	}
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("parquet: no column %q: the file has %s%s", e.Path, strings.Join(quoted, ", "), more)
}

// FindColumn returns the number of the column that has a path, from 0, of a file whose columns have some paths. The error is a
// [NoColumnError] if there is none.
func FindColumn(paths []string, path string) (leaf int, err error) {
	leaf = slices.Index(paths, path)
	switch {
	case leaf < 0:
		return 0, &NoColumnError{path, paths}
	case slices.Contains(paths[leaf+1:], path):
		return 0, fmt.Errorf("parquet: several columns %q", path)
	}
	return leaf, nil
}

// Open returns the column of a footer. It reads no filter.
func Open(m Meta) (*Column, error) {
	if err := m.Type.check(); err != nil {
		return nil, fmt.Errorf("column %s: %w", m.Path, err)
	}
	c := &Column{meta: m, limits: limits(m.Chunks, m.Size), marks: map[marking]bool{}}
	for _, entry := range parseMark(m.Mark) {
		c.marks[entry] = true
	}
	return c, nil
}

// limits returns where each filter ends at the latest: where the next one begins, or the file
// ends. So all filters together are no larger than the file, whatever its footer says.
func limits(chunks []Chunk, size int64) []int64 {
	order := make([]int, len(chunks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(chunks[i].FilterOffset, chunks[j].FilterOffset) })
	ends := make([]int64, len(chunks))
	next := size
	for at := len(order) - 1; at >= 0; {
		// Of filters that begin at the same byte, none is read.
		offset, first := chunks[order[at]].FilterOffset, at
		for first > 0 && chunks[order[first-1]].FilterOffset == offset {
			first--
		}
		if first == at {
			ends[order[at]] = next
		}
		next, at = min(next, offset), first-1
	}
	return ends
}

// Meta returns what the column was opened with.
func (c *Column) Meta() Meta { return c.meta }

// Type returns the type of the column: keys are made for it.
func (c *Column) Type() Type { return c.meta.Type }

// Named gives the file a name for messages, and returns the column.
func (c *Column) Named(file string) *Column {
	c.meta.File = file
	return c
}

// Len returns the number of row groups.
func (c *Column) Len() int { return len(c.meta.Chunks) }

// Bounds returns the minimum and the maximum of a row group, PLAIN bytes of which an empty one is not
// known. It returns false if they exclude no key: there are none, their order is not known,
// or they are no values or the wrong way round.
func (c *Column) Bounds(i int) (low, high []byte, ok bool) {
	chunk := &c.meta.Chunks[i]
	return chunk.Min, chunk.Max, c.meta.Type.span(chunk, "") != everything
}

// Filter returns the filter of a row group. The error is one of this package, such as
// [ErrNoFilter], or that of reading the file. The filter reads from memory of its own, which is
// no larger than the file.
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

// filter returns the filter of a row group: the one in memory, or one that it reads to a buffer. If it is unproven, prove has to be
// called before the filter excludes a key.
func (c *Column) filter(i int, memory *buffer) result {
	if c.loaded != nil {
		return c.loaded[i]
	}
	if c.index != nil {
		return result{err: fmt.Errorf("%w: an index has it", ErrNoFilter)}
	}
	return c.read(i, memory)
}

// Load reads all filters into memory. A column that several sets of keys are tested against is
// faster then. The filters that cannot be read are as they are without Load. The filters of an [Index] stay there.
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
		return nil, fmt.Errorf("%w: it begins at byte %d of %d", ErrTruncated, offset, c.meta.Size)
	case limit == 0:
		return nil, fmt.Errorf("%w: several begin at byte %d", ErrOverlap, offset)
	case length > int64(maxHeader)+maxBlocks:
		return nil, fmt.Errorf("%w: the footer says %d bytes", ErrSize, length)
	case length < 0 || length > limit-offset:
		return nil, fmt.Errorf("%w: the footer says %d bytes at byte %d, and the next filter or the end of the file is at %d", ErrTruncated, length, offset, limit)
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
		return nil, fmt.Errorf("%w: header and blocks have %d bytes, and the footer says %d", ErrSize, total, length)
	case total > limit-offset:
		return nil, fmt.Errorf("%w: %d bytes at byte %d, and the next filter or the end of the file is at %d", ErrTruncated, total, offset, limit)
	case length != 0:
		return data[header:], nil
	}
	return c.readTo(memory, int64(numBytes), 0, offset+int64(header))
}

// readTo reads n bytes of the file into a buffer. A cache line begins at byte at of the buffer.
func (c *Column) readTo(memory *buffer, n int64, at int, offset int64) ([]byte, error) {
	if n > math.MaxInt-2*cacheLine {
		return nil, fmt.Errorf("%w: this program cannot hold %d bytes", ErrSize, n)
	}
	return c.readAt(memory.aligned(int(n), at), offset)
}

// readAt fills data from the file.
func (c *Column) readAt(data []byte, offset int64) ([]byte, error) {
	n, err := c.meta.Input.ReadAt(data, offset)
	switch {
	case n == len(data):
		return data, nil
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: the file ends at byte %d", ErrTruncated, offset+int64(n))
	case err == nil:
		err = io.ErrNoProgress
	}
	return nil, fmt.Errorf("parquet: reading the Bloom filter: %w", err)
}

// buffer is memory that is used again.
type buffer struct{ data []byte }

const cacheLine = 64

// aligned returns n bytes. A cache line begins at byte at of them, which is below 64, so that no block lies in two lines.
func (b *buffer) aligned(n, at int) []byte {
	if cap(b.data) < n+2*cacheLine {
		b.data = make([]byte, n+2*cacheLine)
	}
	data := b.data[:cap(b.data)]
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(data))) % cacheLine)
	return data[2*cacheLine-past-at:][:n:n]
}
