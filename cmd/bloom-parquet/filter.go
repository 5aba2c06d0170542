package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/filterfile"
	"github.com/lanebloom/bloom/internal/outputfile"
)

type filterCommand struct {
	Column string  `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested ones."`
	Format *string `placeholder:"NAME" help:"Format of a filter of bare bytes (parquet). A file that says its format must agree."`
	Raw    bool    `help:"Take the bytes as a bare filter, whatever they look like."`
	Invert bool    `short:"v" help:"Write the rows that are certainly not in the filter."`
	Output string  `short:"o" required:"" placeholder:"FILE" help:"Write the rows to this file."`
	Filter string  `arg:"" help:"The filter: of bloom-parquet build, or of the same column's type."`
	Input  string  `arg:"" help:"Parquet file to filter, or a file of Arrow IPC."`
}

// Help is what bloom-parquet filter --help says, too.
func (f *filterCommand) Help() string {
	return `Rows are written with all of their columns. The schema, the compression and the metadata of the file stay. Columns that had Bloom filters get them. From a file of Arrow IPC, one of Arrow IPC is written, with the schema and its metadata. A row whose key is null is not in the filter: it is written only with -v.
The column must have the type of the column that the filter was built from: a filter knows bytes, and the number 1 has others as INT32, INT64 and text.
Bare bytes that look like text, like a compressed file, like a Parquet file or like a filter of another format are refused unless --raw insists.
Some rows pass whose keys were not added to the filter: false positives. A join with the output, which is small, removes them.
` + outputfile.Help
}

// Run writes the rows of a file that pass. A process apart reads it.
func (f *filterCommand) Run(s *streams) error {
	if isApart() {
		return f.copy(s)
	}
	if err := s.outputs().Check(f.Output, f.Input, f.Filter); err != nil {
		return err
	}
	none := false
	err := s.outputs().Write(f.Output, func(w io.Writer) error {
		err := apart(s, w, []string{f.Input})
		if none = errors.Is(err, errNone); none {
			return nil // a file without rows
		}
		return err
	}, f.Input, f.Filter)
	if err == nil && none {
		return errNone
	}
	return err
}

// copy writes the rows to standard output.
func (f *filterCommand) copy(s *streams) error {
	filter, err := f.open(s)
	if err != nil {
		return err
	}
	arrows, err := isArrow(f.Input)
	if err != nil {
		return err
	}
	passed := int64(0)
	if arrows {
		passed, err = f.copyArrow(s.out, filter)
	} else {
		passed, err = f.copyParquet(s, s.out, filter)
	}
	if err == nil && passed == 0 {
		return errNone
	}
	return err
}

// open reads the filter: a file of this library, or bare bytes.
func (f *filterCommand) open(s *streams) (*bloom.Filter, error) {
	options := filterfile.Options{Format: bloom.Parquet, Asked: f.Format != nil, Raw: f.Raw}
	if options.Asked {
		var err error
		if options.Format, err = bloom.ParseFormat(*f.Format); err != nil {
			return nil, fmt.Errorf("--format: %s", withoutPrefix(err))
		}
	}
	filter, doubt, err := options.Read(f.Filter, outputfile.Read)
	if doubt != "" {
		s.warn("warning: %s: %s", f.Filter, doubt)
	}
	return filter.Filter, err
}

// copyParquet writes the rows of a Parquet file that pass, and returns their number.
func (f *filterCommand) copyParquet(s *streams, out io.Writer, filter *bloom.Filter) (passed int64, err error) {
	file, err := openFile(f.Input, f.Column)
	if err != nil {
		return 0, err
	}
	defer file.close()
	defer func() {
		if p := recover(); p != nil { // parquet-go panics for some bytes that are not of the format
			err = fmt.Errorf("%s: malformed: %v", f.Input, p)
		}
	}()
	if leaf, ok := file.Schema().Lookup(file.Schema().Columns()[file.leaf]...); !ok || leaf.MaxRepetitionLevel > 0 {
		return 0, fmt.Errorf("%s: column %s is repeated: a row has many keys", f.Input, f.Column)
	}
	debug.SetPanicOnFault(true)
	w := parquet.NewWriter(out, f.options(file)...)
	progress, done := bar(s, "filtering", file.NumRows())
	defer done()
	for i, group := range file.RowGroups() {
		rows, err := f.test(file, i, filter)
		if err != nil {
			return 0, fmt.Errorf("%s: row group %d: %s", f.Input, i, withoutPrefix(err))
		}
		if int64(len(rows)) != group.NumRows() {
			return 0, fmt.Errorf("%s: row group %d: the column has %d values, and the row group %d rows", f.Input, i, len(rows), group.NumRows())
		}
		n, err := copyRows(w, group, rows)
		if err != nil {
			return 0, fmt.Errorf("%s: row group %d: %w", f.Input, i, err)
		}
		passed += n
		progress(group.NumRows())
	}
	return passed, w.Close()
}

// options makes a file like the one that was read.
func (f *filterCommand) options(file *parquetFile) []parquet.WriterOption {
	options := []parquet.WriterOption{file.Schema(), parquet.MaxRowsPerRowGroup(1 << 20)}
	meta := file.Metadata()
	for _, kv := range meta.KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	if len(meta.RowGroups) > 0 {
		var filters []parquet.BloomFilterColumn
		for i, path := range file.Schema().Columns() {
			if meta.RowGroups[0].Columns[i].MetaData.BloomFilterOffset > 0 {
				filters = append(filters, parquet.SplitBlockFilter(10, path...))
			}
		}
		options = append(options, parquet.BloomFilters(filters...))
	}
	return options
}

// test returns which rows of a row group to write.
func (f *filterCommand) test(file *parquetFile, group int, filter *bloom.Filter) (rows []bool, err error) {
	var hits []uint64
	err = eachPage(file, group, func(p *pageKeys) error {
		hits = append(hits[:0], make([]uint64, (p.keys.Len()+63)/64)...)
		filter.MayContainBatch(p.keys, hits)
		key := 0
		for _, null := range p.isNull {
			in := false
			if !null {
				in = hits[key/64]>>(key%64)&1 != 0
				key++
			}
			rows = append(rows, in != f.Invert)
		}
		return nil
	})
	return rows, err
}

// copyRows writes some rows of a row group. It reads past no more than it must: where many rows
// are left out, it goes on behind them.
func copyRows(w *parquet.Writer, group parquet.RowGroup, keep []bool) (n int64, err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	buffer := make([]parquet.Row, 256)
	const far = 1000 // rows that are faster read than sought past
	at, next := 0, 0
	for {
		for next < len(keep) && !keep[next] {
			next++
		}
		if next == len(keep) {
			return n, nil
		}
		if next-at > far {
			if err := rows.SeekToRow(int64(next)); err != nil {
				return n, err
			}
			at = next
		}
		read, err := rows.ReadRows(buffer)
		if read == 0 && err != nil {
			return n, fmt.Errorf("reading row %d: %w", at, err)
		}
		kept := buffer[:0:0]
		for i, row := range buffer[:read] {
			if keep[at+i] {
				kept = append(kept, row)
			}
		}
		if _, err := w.WriteRows(kept); err != nil {
			return n, err
		}
		n += int64(len(kept))
		at += read
		next = max(next, at)
	}
}
