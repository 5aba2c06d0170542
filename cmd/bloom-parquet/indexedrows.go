package main

import (
	"slices"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// indexedRowGroups says which row groups of a file may have keys, by an index.
type indexedRowGroups struct {
	may  []bool
	kind bloom.KeyKind
	file bloomparquet.IndexedFile
}

// askIndex returns what an index contains about its files, and the files to read: the first one, for its
// schema, and each that has a row group that may have a key.
func (f *filterCommand) askIndex(s *cli.Streams, list *keyList) (known map[string]*indexedRowGroups, inputs []string, err error) {
	x, err := f.indexFlag.open(s, f.Column, f.inputs)
	if x == nil || err != nil {
		return nil, f.inputs, err
	}
	defer x.Close()
	known = map[string]*indexedRowGroups{}
	answers := x.answers(list, f.inputs)
	defer answers.stop()
	for i, name := range f.inputs {
		column := x.column(name)
		if column == nil {
			inputs = append(inputs, name)
			continue
		}
		groups, err := answers.prune(column)
		if err != nil {
			return nil, nil, explained(name, err)
		}
		k := &indexedRowGroups{make([]bool, column.Len()), column.Type().KeyKind(), x.files[name]}
		for group := range groups {
			if group.Err != nil {
				return nil, nil, x.failed(group)
			}
			k.may[group.Index] = group.Count > 0
		}
		if i > 0 && !slices.Contains(k.may, true) {
			known[name] = k
			continue
		}
		inputs = append(inputs, name)
		changed, err := x.footerChanged(s, name, len(f.inputs))
		if err != nil {
			return nil, nil, explained(name, err)
		}
		if !changed {
			known[name] = k
		}
	}
	return known, inputs, nil
}

// narrow leaves out the row groups of a file that have no key by the index. It returns an error if the file
// is not the one that the index knows.
func (k *indexedRowGroups) narrow(file *parquetFile) error {
	info, err := file.in.Stat()
	if err != nil {
		return err
	}
	if same, _ := k.file.Same(info, nil); !same || len(file.may) != len(k.may) {
		return errChanged
	}
	for i, may := range k.may {
		file.may[i] = file.may[i] && may
	}
	return nil
}
