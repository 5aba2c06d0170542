package main

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

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

// checkParquet returns the schema of some files, of which the first is open, and the number of rows of all. They must have the same
// columns.
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
				return nil, 0, fmt.Errorf("%s: column %s is repeated: a row has many keys", file.name, f.Column)
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
