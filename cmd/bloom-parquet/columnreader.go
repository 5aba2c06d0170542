package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

const (
	rowsAtOnce   = 4096 // of those that are kept: their values are in memory at once
	rowsFarApart = 256  // that are not kept: it is faster to go on behind them than to read them
)

// windows returns where to stop so that there are no more than rowsAtOnce rows to keep before, and how many
// there are in all.
func windows(keep []bool) (ends []int, rows int) {
	for i, k := range keep {
		if !k {
			continue
		}
		if rows > 0 && rows%rowsAtOnce == 0 {
			ends = append(ends, i)
		}
		rows++
	}
	return append(ends, len(keep)), rows
}

// keptValues are values of a column, and the pages that they refer to.
type keptValues struct {
	values []parquet.Value
	pages  []parquet.Page
}

// keptMemory has memory for keptValues.
var keptMemory = sync.Pool{New: func() any { return new(keptValues) }}

// release gives the memory of the values back. The values of a column are released in their order: a page is
// with the last of its own.
func (v *keptValues) release() {
	for _, page := range v.pages {
		parquet.Release(page)
	}
	clear(v.pages)
	v.values, v.pages = v.values[:0], v.pages[:0]
	keptMemory.Put(v)
}

// columnReader reads the values of those rows of a column chunk that are kept.
type columnReader struct {
	path     []string
	pages    parquet.Pages
	bounds   *bounds
	repeated bool // whether a row may have several values, and lie on several pages
	keep     []bool
	levels   []int // the definition levels that values get in place of theirs; nil if they keep them
	row      int   // that begins with the next value

	page     parquet.Page // nil if the next one is to be read
	pageFrom int          // row that page begins with
	used     bool         // whether kept may refer to page
	spanEnd  int          // row behind the span that was read last
	values   parquet.ValueReader
	buffer   []parquet.Value
	next     int         // in buffer
	kept     *keptValues // what is read
}

func newColumnReader(g *rowGroup, leaf int, keep []bool, levels []int) *columnReader {
	return &columnReader{
		path: g.Schema().Columns()[leaf], pages: g.RowGroups()[g.group].ColumnChunks()[leaf].Pages(), bounds: g.boundsOf(leaf, g.group), repeated: g.repeated(leaf),
		keep: keep, levels: levels, buffer: make([]parquet.Value, 0, 1024), kept: keptMemory.Get().(*keptValues),
	}
}

func (c *columnReader) close() error {
	if c.page != nil {
		c.leave()
	}
	c.kept.release()
	return c.pages.Close()
}

// read returns the values of the rows before end that are kept. They are the caller's, who releases them.
func (c *columnReader) read(end int) (*keptValues, error) {
	for {
		for ; c.next < len(c.buffer); c.next++ {
			v := c.buffer[c.next]
			if !c.repeated || v.RepetitionLevel() == 0 {
				if c.row == end {
					return c.give(), nil
				}
				c.row++
			}
			if c.row > 0 && c.keep[c.row-1] {
				if err := c.bounds.check(v); err != nil {
					return nil, err
				}
				if c.levels != nil {
					v.SetDefinitionLevel(c.levels[v.DefinitionLevel()])
				}
				c.kept.values = append(c.kept.values, v)
			}
		}
		switch err := c.fill(); {
		case errors.Is(err, io.EOF):
			return c.give(), nil
		case err != nil:
			return nil, err
		}
	}
}

// give returns what is read.
func (c *columnReader) give() *keptValues {
	kept := c.kept
	c.kept = keptMemory.Get().(*keptValues)
	return kept
}

// fill reads the next values, and leaves out most of those that are not kept.
func (c *columnReader) fill() (err error) {
	c.next, c.buffer = 0, c.buffer[:0]
	for {
		for c.values != nil {
			n, err := c.values.ReadValues(c.buffer[:cap(c.buffer)])
			if c.buffer = c.buffer[:n]; errors.Is(err, io.EOF) {
				err, c.values = nil, nil
			}
			if n > 0 || err != nil {
				return err
			}
			if c.values != nil {
				return io.ErrNoProgress
			}
		}
		if c.page == nil {
			if c.page, err = c.pages.ReadPage(); err != nil {
				c.page = nil
				return err
			}
			c.pageFrom, c.used = c.row, false
		}
		data := c.page.Data()
		switch {
		case c.repeated, data.Kind() == encoding.Undefined: // parquet-go's pages of the type NULL cannot be cut
			c.whole()
		case c.used && c.row != c.spanEnd:
			return fmt.Errorf("a page has values up to row %d instead of row %d", c.row, c.spanEnd)
		default:
			c.span()
		}
	}
}

// leave goes on behind a page.
func (c *columnReader) leave() {
	if c.used {
		c.kept.pages = append(c.kept.pages, c.page)
	} else {
		parquet.Release(c.page)
	}
	c.page = nil
}

// whole takes all values of a page. If no row on the page is kept, it goes on with the next page. The first
// row may have begun on the page before.
func (c *columnReader) whole() {
	if c.used {
		c.leave()
		return
	}
	begun := c.row
	if !c.repeated {
		begun += int(c.page.NumRows())
	}
	for _, level := range c.page.RepetitionLevels() {
		if level == 0 {
			begun++
		}
	}
	for _, k := range c.keep[max(0, c.row-1):min(begun, len(c.keep))] {
		if k {
			c.values, c.used = c.page.Values(), true
			return
		}
	}
	c.row = begun
	c.leave()
}

// span takes the next kept rows of a page, up to a large gap. If the page has no more, it goes on with the
// next one.
func (c *columnReader) span() {
	end := min(c.pageFrom+int(c.page.NumRows()), len(c.keep))
	from := c.row
	for from < end && !c.keep[from] {
		from++
	}
	if from >= end {
		c.row = c.pageFrom + int(c.page.NumRows())
		c.leave()
		return
	}
	to, last := from+1, from
	for ; to < end && to-last <= rowsFarApart; to++ {
		if c.keep[to] {
			last = to
		}
	}
	part := c.page.Slice(int64(from-c.pageFrom), int64(last+1-c.pageFrom))
	c.row, c.spanEnd, c.values, c.used = from, last+1, part.Values(), true
	c.kept.pages = append(c.kept.pages, part)
}
