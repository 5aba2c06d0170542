package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// parquetMagic is how a Parquet file begins.
const parquetMagic = "PAR1"

// parquetFile is a file that is open, and one of its columns.
type parquetFile struct {
	*parquet.File
	name   string // for messages
	in     *os.File
	column *bloomparquet.Column
	leaf   int    // of the column
	may    []bool // which row groups may have the keys of filter
	close  func() error

	lock    sync.Mutex
	columns []*bloomparquet.Column // the first ones of the file, for their bounds
}

// openFile opens a file and finds a column of it.
func openFile(name, column string) (*parquetFile, error) {
	f, err := openParquet(name)
	if err != nil {
		return nil, err
	}
	if err := f.find(column); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// openParquet opens a file.
func openParquet(name string) (*parquetFile, error) {
	file, err := cli.OpenAnywhere(name)
	if err != nil {
		return nil, err
	}
	f, err := openedParquet(name, file)
	if err != nil {
		file.Close()
	}
	return f, err
}

// openedParquet is openParquet for a file that is open.
func openedParquet(name string, file *os.File) (f *parquetFile, err error) {
	defer explain(name, &err)
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, cmp.Or(refuseArrow(file), err)
	}
	// The repetition of the root means nothing. Older arrow-go says that it is repeated, and parquet-go's
	// schema then has lists in place of its columns.
	opened.Metadata().Schema[0].RepetitionType.Valid = false
	return &parquetFile{File: opened, name: name, in: file, close: file.Close}, nil
}

// refuseArrow returns an error if a file is one of Arrow IPC (Feather version 2, too), or a stream of it.
func refuseArrow(file *os.File) error {
	var start [8]byte
	if _, err := file.ReadAt(start[:], 0); err != nil { // too short to be one
		return nil
	}
	if isStream := string(start[:4]) == "\xff\xff\xff\xff" && start[7] == 0; !isStream && string(start[:]) != "ARROW1\x00\x00" {
		return nil
	}
	return errors.New("this is Arrow IPC, and only Parquet is supported: write the table as Parquet, or filter it in a program with adapter/arrow (docs/arrow.md)")
}

// find finds a column.
func (f *parquetFile) find(column string) (err error) {
	defer explain(f.name, &err)
	if f.column, err = parquetgo.Open(f.File, column); err != nil {
		return err
	}
	if f.column, err = trusted.of(f.column); err != nil {
		return err
	}
	f.leaf = slices.IndexFunc(f.Schema().Columns(), func(path []string) bool { return strings.Join(path, ".") == column })
	return nil
}

// leaves returns the numbers of all columns.
func (f *parquetFile) leaves() []int {
	leaves := make([]int, len(f.Schema().Columns()))
	for i := range leaves {
		leaves[i] = i
	}
	return leaves
}

// inGroup returns an error of a row group with its name and that of the file.
func (f *parquetFile) inGroup(group int, err error) error {
	return fmt.Errorf("%s: row group %d: %s", f.name, group, withoutPrefix(err))
}

// repeated reports whether a leaf is in a repeated field.
func (f *parquetFile) repeated(leaf int) bool {
	column, ok := f.Schema().Lookup(f.Schema().Columns()[leaf]...)
	return !ok || column.MaxRepetitionLevel > 0
}

// temporaryFile returns a new file, which removeFile removes. Where an open file needs no name, it has none:
// no signal leaves it behind.
func temporaryFile() (*os.File, error) {
	file, err := os.CreateTemp("", "bloom-parquet-")
	if err == nil {
		_ = os.Remove(file.Name())
	}
	return file, err
}

func removeFile(file *os.File) {
	file.Close()
	_ = os.Remove(file.Name()) // after Close, where an open file keeps its name
}

// columnOf returns a column, or nil if its type has no values.
func (f *parquetFile) columnOf(leaf int) *bloomparquet.Column {
	f.lock.Lock()
	defer f.lock.Unlock()
	for len(f.columns) <= leaf {
		column, err := parquetgo.OpenAt(f.File, len(f.columns))
		if err != nil {
			column = nil
		}
		f.columns = append(f.columns, column)
	}
	return f.columns[leaf]
}

// typeIn returns the type of a column of a file.
func typeIn(name, column string) (t bloomparquet.Type, err error) {
	file, err := openFile(name, column)
	if err != nil {
		return t, err
	}
	return file.column.Type(), file.close()
}
