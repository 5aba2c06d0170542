package bloomparquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lanebloom/bloom"
)

// Column represents a column of a file and the Bloom filters of that column. All methods except Load are
// safe for concurrent use.
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

// Open returns the column that m describes. It reads no filters. The error is [ErrType] if the format does
// not allow the type of the column.
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

// Meta returns the Meta with which the column was opened.
func (c *Column) Meta() Meta { return c.meta }

// Type returns the type of the column. [KeysOf] needs it.
func (c *Column) Type() Type { return c.meta.Type }

// Len returns the number of row groups.
func (c *Column) Len() int { return len(c.meta.Chunks) }

// Bounds returns the minimum and the maximum of row group i in PLAIN encoding. An empty slice means that
// the bound is not known. The result ok reports whether the bounds can exclude keys. It is false if the row
// group has no bounds, if their order is not known, if one of them is not a valid value, or if the minimum
// is above the maximum.
func (c *Column) Bounds(i int) (low, high []byte, ok bool) {
	chunk := &c.meta.Chunks[i]
	return chunk.Min, chunk.Max, c.meta.Type.span(chunk, "") != everything
}

// readAt fills data from the file.
func (c *Column) readAt(data []byte, offset int64) ([]byte, error) {
	n, err := c.meta.Input.ReadAt(data, offset)
	switch {
	case n == len(data):
		return data, nil
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: the file ends at byte %d", errTruncated, offset+int64(n))
	case err == nil:
		err = io.ErrNoProgress
	}
	return nil, fmt.Errorf("parquet: reading the file: %w", err)
}

// indexed is a column of a file in an index.
type indexed struct {
	rows  *bloom.InterleavedFile
	first int       // its first filter there
	rates []float64 // of the filters
}
