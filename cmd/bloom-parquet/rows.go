package main

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// work writes the rows to standard output.
func (f *filterCommand) work(s *cli.Streams) error {
	out := bufio.NewWriterSize(s.Out, 1<<16)
	passed, err := f.copyParquet(s, out)
	if err == nil {
		err = out.Flush()
	}
	if err == nil && passed == 0 {
		return cli.ErrNone
	}
	return err
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
	table, rows, err := f.checkParquet(inputs)
	if err != nil {
		return 0, err
	}
	first := table.first
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
	sink, err := f.newSink(s, out, table)
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

// checkParquet returns the schema of some files and the number of their rows. The first file is open. All
// must have the same columns.
func (f *filterCommand) checkParquet(inputs []string) (table *tableSchema, rows int64, err error) {
	var first *parquetFile
	defer func() {
		if err != nil && first != nil {
			first.close()
		}
	}()
	opened := ahead(slices.Values(inputs), func(name string) (*parquetFile, error) {
		file, err := openFile(name, f.Column)
		if err == nil {
			err = file.checkColumns(file.leaves()...)
		}
		return file, err
	})
	for file, err := range opened {
		if err != nil {
			return nil, 0, err
		}
		rows += file.NumRows()
		if first == nil {
			first, table = file, newTableSchema(file)
			if file.repeated(file.leaf) {
				return nil, 0, fmt.Errorf("%s: column %s is repeated, so a row can have several keys", file.name, f.Column)
			}
			continue
		}
		switch kind, want := file.column.Type().KeyKind(), first.column.Type().KeyKind(); {
		case kind != want:
			err = f.otherKind(kind, want)
		default:
			err = table.add(file)
		}
		if err = errors.Join(err, file.close()); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", file.name, err)
		}
	}
	return table, rows, nil
}

// openInputs yields the files with what says which of their row groups may have keys. known is what an index
// says of them.
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
		if err == nil || errors.Is(err, errStopped) || errors.As(err, new(*printError)) {
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
		return 0, failed(fmt.Errorf("the column has %d values, but the row group has %d rows", len(keep), g.rows()))
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

// tester returns the filter, or the keys, for a column of a type.
func (f *filterCommand) tester(s *cli.Streams, list *keyList, t bloomparquet.Type) (tester, error) {
	if list == nil {
		filter, err := f.open(s, t.KeyKind())
		if err == nil && isFloat(t) {
			return &floatTester{filter, t}, nil
		}
		return filter, err
	}
	values, err := list.values(t)
	if err != nil {
		return nil, errors.New(withoutPrefix(err))
	}
	return newExactKeys(t, values), nil
}

// readKeys reads the keys of --keys, if there are some.
func (f *filterCommand) readKeys(s *cli.Streams) (*keyList, error) {
	if f.filter != "" {
		return nil, nil
	}
	return f.read(s, string(f.Keys))
}

// warnNone warns if no row had a key. passed counts the printed rows, and all counts all rows.
func (f *filterCommand) warnNone(s *cli.Streams, list *keyList, passed, all int64) {
	found := passed
	if f.Invert {
		found = all - passed
	}
	if list != nil && found == 0 {
		list.warnNone(s, f.inputs, f.Column)
	}
}

// open reads the filter, a file of this library or bare bytes, for keys of a kind.
func (f *filterCommand) open(s *cli.Streams, kind bloom.KeyKind) (*bloom.Filter, error) {
	filter, err := f.Open(s, f.filter)
	if err == nil {
		err = filter.CheckKeys(f.filter, fmt.Sprintf("the keys of column %s are", f.Column), kind)
	}
	return filter.Filter, err
}

// otherKind is the error of a file whose column has keys of another kind than the first file's.
func (f *filterCommand) otherKind(kind, first bloom.KeyKind) error {
	return fmt.Errorf("the keys of column %s are of the kind %s, but the keys of %s are of the kind %s", f.Column, kind, f.inputs[0], first)
}

// newSink returns what writes the rows of a table.
func (f *filterCommand) newSink(s *cli.Streams, out *bufio.Writer, table *tableSchema) (rowSink, error) {
	first := table.first
	if f.As != "parquet" {
		return newTextSink(out, first, f.As == "csv")
	}
	schema, lost := table.toWrite()
	if len(lost) > 0 {
		s.Say("warning: these columns are written as bytes, without their type: %s", show.Short(strings.Join(lost, ", ")))
	}
	options, unbounded := append(first.options(), schema), first.leavesWithoutBounds()
	leaves := first.leavesWithFilters()
	if len(leaves) == 0 {
		return newParquetSink(out, table, options, unbounded), nil
	}
	file, err := temporaryFile()
	if err != nil {
		return nil, err
	}
	return &filteredSink{newParquetSink(file, table, options, unbounded), s, out, file, leaves}, nil
}
