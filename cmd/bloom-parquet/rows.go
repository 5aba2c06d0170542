package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// rowSink takes the rows of row groups that are kept.
type rowSink interface {
	// take reads rows of a row group, on any goroutine, and hands on the steps that write them.
	take(g *rowGroup, keep []bool, then handOn) error
	close() error
}

// copyParquet writes the rows of Parquet files that pass, and returns their number.
func (f *filterCommand) copyParquet(s *cli.Streams, out *bufio.Writer) (passed int64, err error) {
	list, err := f.readKeys(s)
	if err != nil {
		return 0, err
	}
	known, inputs, err := f.askIndex(s, list)
	if err != nil {
		return 0, err
	}
	first, rows, err := f.checkParquet(inputs)
	if err != nil {
		return 0, err
	}
	defer first.close()
	for _, name := range f.inputs { // also those that are not read
		if k := known[name]; k != nil && k.kind != first.column.Type().KeyKind() {
			return 0, fmt.Errorf("%s: %w", name, f.otherKind(k.kind, first.column.Type().KeyKind()))
		}
	}
	wanted, err := f.tester(s, list, first.column.Type())
	if err != nil {
		return 0, err
	}
	sink, err := f.newSink(s, out, first)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.inputs[0], err)
	}
	progress, done := s.Bar("filtering", rows)
	defer done()
	err = eachRowGroup(f.openInputs(inputs, known, list), func(g *rowGroup, then handOn) error {
		n, err := f.copyGroup(g, wanted, sink, then)
		if err != nil {
			return err
		}
		return then(func() error {
			passed += n
			progress(int(g.rows()))
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	f.warnNone(s, list, passed, rows)
	return passed, sink.close()
}

// newSink returns what writes rows like those of a file.
func (f *filterCommand) newSink(s *cli.Streams, out *bufio.Writer, first *parquetFile) (rowSink, error) {
	if f.As != "parquet" {
		return newTextSink(out, first, f.As == "csv")
	}
	leaves := first.leavesWithFilters()
	if len(leaves) == 0 {
		return &parquetSink{w: parquet.NewWriter(out, first.options()...)}, nil
	}
	return newFilteredSink(s, out, first, leaves)
}

// checkParquet returns the first of some files, which is open, and the number of rows of all. They
// must have the same columns.
func (f *filterCommand) checkParquet(inputs []string) (first *parquetFile, rows int64, err error) {
	defer func() {
		if err != nil && first != nil {
			first.close()
		}
	}()
	opened := ahead(slices.Values(inputs), func(name string) (*parquetFile, error) {
		file, err := openFile(name, f.Column)
		if err == nil {
			err = file.checkCodecs(file.leaves()...)
		}
		return file, err
	})
	for file, err := range opened {
		if err != nil {
			return first, 0, err
		}
		rows += file.NumRows()
		if first == nil {
			first = file
			if file.repeated(file.leaf) {
				return first, 0, fmt.Errorf("%s: column %s is repeated: a row has many keys", file.name, f.Column)
			}
			continue
		}
		switch kind, want := file.column.Type().KeyKind(), first.column.Type().KeyKind(); {
		case kind != want:
			err = f.otherKind(kind, want)
		case !parquet.EqualNodes(first.Schema(), file.Schema()):
			err = fmt.Errorf("the columns differ from those of %s", f.inputs[0])
		}
		if err = errors.Join(err, file.close()); err != nil {
			return first, 0, fmt.Errorf("%s: %w", file.name, err)
		}
	}
	return first, rows, nil
}

// repeated reports whether a leaf is in a repeated field.
func (f *parquetFile) repeated(leaf int) bool {
	column, ok := f.Schema().Lookup(f.Schema().Columns()[leaf]...)
	return !ok || column.MaxRepetitionLevel > 0
}

// options makes a file like the one that was read.
func (f *parquetFile) options() []parquet.WriterOption {
	options := []parquet.WriterOption{f.Schema()}
	meta := f.Metadata()
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key == bloomparquet.MarkKey || kv.Key == bloomparquet.OriginsKey { // they are for the filters of the file that was read
			continue
		}
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	return options
}

// leavesWithFilters returns the numbers of the columns that have Bloom filters.
func (f *parquetFile) leavesWithFilters() (leaves []int) {
	groups := f.Metadata().RowGroups
	for leaf := range f.Schema().Columns() {
		if len(groups) > 0 && groups[0].Columns[leaf].MetaData.BloomFilterOffset > 0 {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

// openInputs yields the files with what says which of their row groups may have keys. known is what an index says of them.
func (f *filterCommand) openInputs(inputs []string, known map[string]*indexedRowGroups, list *keyList) iter.Seq2[*parquetFile, error] {
	return ahead(slices.Values(inputs), func(name string) (file *parquetFile, err error) {
		defer recovered(name, &err)
		if file, err = openFile(name, f.Column); err != nil {
			return nil, err
		}
		if file.may, err = f.groupsOf(file, list); err == nil && known[name] != nil {
			if err = known[name].narrow(file); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		return file, err
	})
}

// groupsOf returns which row groups may have rows to write.
func (f *filterCommand) groupsOf(file *parquetFile, list *keyList) ([]bool, error) {
	may := make([]bool, len(file.RowGroups()))
	if list == nil || f.Invert {
		for i := range may {
			may[i] = true
		}
		return may, nil
	}
	keys, err := list.of(file.column.Type())
	if err != nil {
		return nil, err
	}
	groups, err := keys.keys.Prune(file.column)
	if err != nil {
		return nil, err
	}
	for group := range groups {
		may[group.Index] = group.Count > 0 // if its filter cannot be read, all keys within the bounds count
	}
	return may, nil
}

// copyGroup hands on the rows of a row group that pass, and returns their number.
func (f *filterCommand) copyGroup(g *rowGroup, wanted tester, sink rowSink, then handOn) (passed int64, err error) {
	if !g.may[g.group] {
		return 0, nil
	}
	failed := func(err error) error {
		if err == nil || errors.Is(err, errStopped) {
			return err
		}
		return g.inGroup(g.group, err)
	}
	defer recovered(g.name, &err)
	keep, err := f.test(g, wanted)
	if err != nil {
		return 0, failed(err)
	}
	if int64(len(keep)) != g.rows() {
		return 0, failed(fmt.Errorf("the column has %d values, and the row group %d rows", len(keep), g.rows()))
	}
	for _, k := range keep {
		if k {
			passed++
		}
	}
	if passed == 0 {
		return 0, nil
	}
	return passed, failed(sink.take(g, keep, func(step func() error) error {
		return then(func() error { return failed(guarded(step)) })
	}))
}

// test returns which rows of a row group to write.
func (f *filterCommand) test(g *rowGroup, wanted tester) ([]bool, error) {
	column, ok := g.Schema().Lookup(g.Schema().Columns()[g.leaf]...)
	if !ok {
		return nil, errors.New("malformed: there is no such column")
	}
	t := &pageTester{wanted: wanted, invert: f.Invert, most: byte(column.MaxDefinitionLevel)}
	err := g.eachPage(g.leaf, g.group, t.test)
	return t.keep, err
}

// parquetSink writes a Parquet file.
type parquetSink struct {
	w    *parquet.Writer //nolint:staticcheck // its successor has the type of a row
	rows int             // of the row group that is not yet written
}

const (
	rowsOfGroup  = 1 << 20 // after so many rows a row group ends
	rowsAtOnce   = 4096    // that are kept, of which the values are in memory at once
	rowsFarApart = 256     // that are not kept: it is faster to go on behind them than to read them

	rowsFilterRate = 0.01 // of the filters of a file of rows
)

func (p *parquetSink) take(g *rowGroup, keep []bool, then handOn) error {
	ends, rows := windows(keep)
	for i := range g.RowGroups()[g.group].ColumnChunks() {
		if err := p.takeColumn(i, newColumnReader(g, i, keep), ends, rows, then); err != nil {
			if errors.Is(err, errStopped) {
				return err
			}
			return fmt.Errorf("column %s: %w", strings.Join(g.Schema().Columns()[i], "."), err)
		}
	}
	return then(func() error {
		if p.rows += rows; p.rows < rowsOfGroup {
			return nil
		}
		p.rows = 0
		return p.w.Flush()
	})
}

func (p *parquetSink) takeColumn(i int, column *columnReader, ends []int, rows int, then handOn) (err error) {
	defer func() { err = errors.Join(err, column.close()) }()
	for _, end := range ends {
		values, err := column.read(end)
		if err != nil {
			return err
		}
		last := end == ends[len(ends)-1]
		err = then(func() error {
			defer values.release()
			n, err := p.w.ColumnWriters()[i].WriteRowValues(values.values)
			if rows -= n; err == nil && last && rows != 0 {
				err = fmt.Errorf("column %s: %d values are missing", strings.Join(column.path, "."), rows)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetSink) close() error { return p.w.Close() }

// filteredSink writes a Parquet file to a temporary one, and copies it with filters of some columns. Those of parquet-go lack
// values if a dictionary has 1 GiB.
type filteredSink struct {
	parquetSink
	s      *cli.Streams
	out    io.Writer
	file   *os.File
	leaves []int
}

func newFilteredSink(s *cli.Streams, out io.Writer, like *parquetFile, leaves []int) (*filteredSink, error) {
	file, err := temporaryFile()
	if err != nil {
		return nil, err
	}
	return &filteredSink{parquetSink{w: parquet.NewWriter(file, like.options()...)}, s, out, file, leaves}, nil
}

func (p *filteredSink) close() error {
	defer removeFile(p.file)
	if err := p.w.Close(); err != nil {
		return err
	}
	const name = "the rows that pass"
	file, err := openedParquet(name, p.file)
	if err != nil {
		return err
	}
	w := &embedding{embedCommand: &embedCommand{Rate: rowsFilterRate}, file: file, say: func(string, ...any) {}}
	for _, leaf := range p.leaves {
		column, err := parquetgo.OpenAt(file.File, leaf)
		if err != nil {
			return err
		}
		w.columns = append(w.columns, &embedColumn{Column: column, leaf: leaf})
	}
	_, err = w.write(p.s, p.out)
	return err
}

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

// release gives the memory of the values back. The values of a column are released in their order: a page is with the last of its own.
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
	row      int // that begins with the next value

	page     parquet.Page // nil if the next one is to be read
	pageFrom int          // row that page begins with
	used     bool         // whether kept may refer to page
	spanEnd  int          // row behind the span that was read last
	values   parquet.ValueReader
	buffer   []parquet.Value
	next     int         // in buffer
	kept     *keptValues // what is read
}

func newColumnReader(g *rowGroup, leaf int, keep []bool) *columnReader {
	return &columnReader{
		path: g.Schema().Columns()[leaf], pages: g.RowGroups()[g.group].ColumnChunks()[leaf].Pages(), bounds: g.boundsOf(leaf, g.group), repeated: g.repeated(leaf),
		keep: keep, buffer: make([]parquet.Value, 0, 1024), kept: keptMemory.Get().(*keptValues),
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
			return fmt.Errorf("a page has values up to row %d, and not up to row %d", c.row, c.spanEnd)
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

// whole takes all values of a page. If no row on the page is kept, it goes on with the next page. The first row may have begun on
// the page before.
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

// span takes the next kept rows of a page, up to a large gap. If the page has no more, it goes on with the next one.
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
