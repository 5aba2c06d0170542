package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

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

// options gives a file the metadata of the one that was read.
func (f *parquetFile) options() (options []parquet.WriterOption) {
	for _, kv := range f.Metadata().KeyValueMetadata {
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

// leavesWithoutBounds returns the numbers of the columns that are written without bounds, for parquet-go
// v0.32.0 writes wrong ones: it compares decimals in bytes as if they had no sign, and beside NaN in a
// dictionary the bounds of floats leave other values out.
func (f *parquetFile) leavesWithoutBounds() (leaves []int) {
	for _, leaf := range f.leaves() {
		column := f.columnOf(leaf)
		if column == nil {
			continue
		}
		if t := column.Type(); isFloat(t) || t.Logical == bloomparquet.Decimal && t.Physical >= bloomparquet.ByteArray {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

// parquetSink writes a Parquet file.
type parquetSink struct {
	w         *parquet.Writer //nolint:staticcheck // its successor has the type of a row
	to        *turnout        // what w writes to
	table     *tableSchema
	unbounded []int // leaves without bounds
	rows      int   // of the row group that is not yet written
}

// turnout is a writer to another one, which may change.
type turnout struct{ io.Writer }

func newParquetSink(out io.Writer, table *tableSchema, options []parquet.WriterOption, unbounded []int) *parquetSink {
	to := &turnout{out}
	return &parquetSink{w: parquet.NewWriter(to, options...), to: to, table: table, unbounded: unbounded}
}

// rowsOfGroup is after how many rows a row group ends.
const rowsOfGroup = 1 << 20

func (p *parquetSink) take(g *rowGroup, keep []bool, then handOn) error {
	ends, rows := windows(keep)
	for i := range g.RowGroups()[g.group].ColumnChunks() {
		if err := p.takeColumn(i, newColumnReader(g, i, keep, p.table.levels(g.parquetFile, i)), ends, rows, then); err != nil {
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

// close writes what is left: the page index, and the footer without some bounds.
func (p *parquetSink) close() error {
	if err := p.w.Flush(); err != nil {
		return err
	}
	out, tail := p.to.Writer, new(bytes.Buffer)
	p.to.Writer = tail
	if err := p.w.Close(); err != nil {
		return err
	}
	data, err := withoutBounds(tail.Bytes(), p.unbounded)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// withoutBounds returns the end of a file with a footer that has no bounds of some columns. Then it has none
// of pages either.
func withoutBounds(data []byte, leaves []int) ([]byte, error) {
	if len(leaves) == 0 {
		return data, nil
	}
	end := len(data) - 8 // of the footer, which its length and a magic word follow
	start := end - int(binary.LittleEndian.Uint32(data[end:]))
	var footer format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[start:end], &footer); err != nil {
		return nil, err
	}
	for _, group := range footer.RowGroups {
		for _, leaf := range leaves {
			s := &group.Columns[leaf].MetaData.Statistics
			s.Min, s.Max, s.MinValue, s.MaxValue = nil, nil, nil, nil
		}
		for i := range group.Columns { // parquet-go cannot read an index that has gaps (file.go:451)
			group.Columns[i].ColumnIndexOffset, group.Columns[i].ColumnIndexLength = 0, 0
		}
	}
	encoded, err := thrift.Marshal(new(thrift.CompactProtocol), &footer)
	if err != nil {
		return nil, err
	}
	data = binary.LittleEndian.AppendUint32(append(data[:start:start], encoded...), uint32(len(encoded)))
	return append(data, parquetMagic...), nil
}

// filteredSink writes a Parquet file to a temporary one, and copies it with filters of some columns. Those of
// parquet-go lack values if a dictionary has 1 GiB.
type filteredSink struct {
	*parquetSink
	s      *cli.Streams
	out    io.Writer
	file   *os.File
	leaves []int
}

func (p *filteredSink) close() error {
	defer removeFile(p.file)
	if err := p.parquetSink.close(); err != nil {
		return err
	}
	const name = "the selected rows"
	file, err := openedParquet(name, p.file)
	if err != nil {
		return err
	}
	rate := cli.Rate(usualRate)
	w := &embedding{embedCommand: &embedCommand{Rate: &rate}, file: file, say: func(string, ...any) {}}
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
