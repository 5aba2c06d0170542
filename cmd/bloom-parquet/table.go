package main

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// tablesOf returns the files of a file of keys, or of a folder, if they are Parquet, and else nil.
func tablesOf(name string) ([]string, error) {
	if name == "-" {
		return nil, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return parquetFiles([]string{name})
	case !info.Mode().IsRegular(): // a pipe: nothing can be read twice
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	ends := make([]byte, len(parquetMagic))
	if n, _ := file.ReadAt(ends, info.Size()-int64(len(ends))); n == len(ends) && string(ends) == parquetMagic {
		n, _ = file.ReadAt(ends, 0)
		if n == len(ends) && string(ends) == parquetMagic {
			return []string{name}, nil
		}
	}
	if err := refuseArrow(file); err != nil {
		return nil, fileError{name, err}
	}
	return nil, nil
}

// needsColumn is the error for a table of keys if no flag names the column.
func needsColumn(name string) error {
	_, err := typeIn(name, "")
	if err == nil { // it has a column without a name
		return fmt.Errorf("%s: name the column of the keys with --keys-column", name)
	}
	return fmt.Errorf("%w; name the column of the keys with --keys-column", err)
}

// keyTable has the different values of a column of keys.
type keyTable struct {
	from   bloomparquet.Type
	values [][]byte // PLAIN bytes
	seen   map[string]struct{}
	free   []byte
}

// readTable reads a column of one or several files. The values of all must be of one kind.
func readTable(names []string, column string) (*keyTable, error) {
	t := &keyTable{seen: map[string]struct{}{}}
	for i, name := range names {
		err := t.read(name, column, func(from bloomparquet.Type) error {
			switch {
			case i == 0:
				t.from = from
			case from.KeyKind() != t.from.KeyKind():
				return fmt.Errorf("the keys of column %s are of the kind %s, but the keys of %s are of the kind %s", column, from.KeyKind(), names[0], t.from.KeyKind())
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	t.seen = nil
	return t, nil
}

// add adds a value.
func (t *keyTable) add(value []byte) error {
	if _, seen := t.seen[string(value)]; seen {
		return nil
	}
	if len(t.free) < len(value) {
		t.free = make([]byte, max(len(value), 1<<16))
	}
	kept := t.free[:len(value):len(value)]
	t.free = t.free[copy(kept, value):]
	t.values, t.seen[unsafe.String(unsafe.SliceData(kept), len(kept))] = append(t.values, kept), struct{}{} // kept never changes
	return nil
}

// read adds the values of a column of a file. start is called before with its type.
func (t *keyTable) read(name, column string, start func(bloomparquet.Type) error) error {
	file, err := openValues(name, column)
	if err != nil {
		return err
	}
	defer file.close()
	if file.repeated(file.leaf) {
		return fmt.Errorf("%s: column %s is a list, but a key is a single value", name, column)
	}
	if err := start(file.column.Type()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for group := range file.RowGroups() {
		if err := file.eachValue(file.leaf, group, t.add); err != nil {
			return file.inGroup(group, err)
		}
	}
	return nil
}

// convert returns the values that a column of a type can have.
func (t *keyTable) convert(to bloomparquet.Type) ([][]byte, error) {
	convert, err := bloomparquet.Converter(to, t.from)
	if err != nil && t.from.KeyKind() == bloom.KindText {
		err = fmt.Errorf("%w; text of CSV and JSON is read as the column's type", err)
	}
	if err != nil || to == t.from {
		return t.values, err
	}
	values := make([][]byte, 0, len(t.values))
	var data []byte
	for _, value := range t.values {
		before := len(data)
		var ok bool
		if data, ok = convert(data, value); ok {
			values = append(values, data[before:len(data):len(data)])
		} else {
			data = data[:before]
		}
	}
	return values, nil
}
