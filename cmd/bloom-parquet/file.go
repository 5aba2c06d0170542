package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

// parquetFile is a file that is open, and one of its columns.
type parquetFile struct {
	*parquet.File
	column *bloomparquet.Column
	leaf   int // of the column
	close  func() error
}

// openFile opens a file and finds a column of it.
func openFile(name, column string) (f *parquetFile, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		// parquet-go panics for some footers that are not of the format.
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed: %v", p)
		}
		if err != nil {
			file.Close()
			err = fmt.Errorf("%s: %s", name, withoutPrefix(err))
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	f = &parquetFile{File: opened, close: file.Close}
	if f.column, err = parquetgo.Open(opened, column); err != nil {
		return nil, err
	}
	f.column.Named(name)
	for i, path := range opened.Schema().Columns() {
		if strings.Join(path, ".") == column {
			f.leaf = i
		}
	}
	return f, nil
}
