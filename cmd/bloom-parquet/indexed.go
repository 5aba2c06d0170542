package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// indexFlag names an index that is asked before the files.
type indexFlag struct {
	Index cli.Input `placeholder:"FILE" help:"For the files that have not changed since bloom-parquet index wrote this index, read the index instead."`
}

// tableIndex is an index that is asked before the files. A nil one knows no file.
type tableIndex struct {
	*bloomparquet.Index
	name    string
	columns map[string]*bloomparquet.Column // of the files that are as they were, by their names on the command line
	files   map[string]bloomparquet.IndexedFile
	in      *os.File
}

// indexHelp is the part of the help that the commands that ask an index share.
const indexHelp = ` With --index, the index replaces the filters and bounds of all files that have not changed. If a file is not in the index, or has a different size or modification time, the file itself is read, and a message reports this.`

// open opens the index of a column, and finds out which files are as they were. It returns nil if there is no
// index.
func (f indexFlag) open(s *cli.Streams, column string, files []string) (x *tableIndex, err error) {
	if f.Index == "" {
		return nil, nil
	}
	if trusted != "both" {
		return nil, errors.New("an index contains both filters and bounds, so --index cannot be used with --trust " + string(trusted))
	}
	file, err := cli.OpenAnywhere(string(f.Index))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
			err = fmt.Errorf("%s: %s", f.Index, withoutPrefix(err))
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	x = &tableIndex{name: string(f.Index), columns: map[string]*bloomparquet.Column{}, files: map[string]bloomparquet.IndexedFile{}, in: file}
	if x.Index, err = bloomparquet.OpenIndex(file, info.Size()); err != nil {
		return nil, err
	}
	return x, x.find(s, column, files)
}

// find finds the files that are as they were, and says which ones are not, or are not in the index.
func (x *tableIndex) find(s *cli.Streams, column string, files []string) error {
	type entry struct {
		file   bloomparquet.IndexedFile
		column *bloomparquet.Column
	}
	known := map[string]entry{}
	for f, c := range x.Files() {
		known[f.Name] = entry{f, c}
		if path := c.Meta().Path; path != column {
			return fmt.Errorf("the index has column %s, not column %s", show.Name(path), show.Name(column))
		}
	}
	var changed, unknown []string
	for _, name := range files {
		path, err := pathIn(filepath.Dir(x.name), name)
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			continue // to open it tells
		}
		indexed, ok := known[path]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		switch same, _ := indexed.file.Same(info, nil); { // no error, for nothing is read
		case same:
			x.columns[name], x.files[name] = indexed.column, indexed.file
		case info.ModTime().After(indexed.file.Modified):
			changed = append(changed, name+" (newer)")
		case info.ModTime().Before(indexed.file.Modified):
			changed = append(changed, name+" (older)")
		default:
			changed = append(changed, name+" (different size)")
		}
	}
	x.say(s, changed, len(files), "have changed since the index was written")
	x.say(s, unknown, len(files), "are not in the index")
	return nil
}

// footerChanged says whether a file of the same size and time has another footer than the one that is
// indexed. It is asked itself then.
func (x *tableIndex) footerChanged(s *cli.Streams, name string, files int) (bool, error) {
	file, err := cli.OpenAnywhere(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	same, err := x.files[name].Same(info, file)
	if err != nil || same {
		return false, err
	}
	delete(x.columns, name)
	x.say(s, []string{name + " (different footer)"}, files, "have changed since the index was written")
	return true, nil
}

// say warns of what is wrong with some of all files.
func (x *tableIndex) say(s *cli.Streams, some []string, all int, what string) {
	const most = 3
	n, more := len(some), ""
	if n == 0 {
		return
	}
	if n > most {
		some, more = some[:most], fmt.Sprintf(" and %d more", n-most)
	}
	s.Say("%s: %d of %d files %s, so the files themselves are read: %s%s", x.name, n, all, what, strings.Join(some, ", "), more)
}

// column returns the column of a file, or nil if the file is to be asked itself.
func (x *tableIndex) column(name string) *bloomparquet.Column {
	if x == nil {
		return nil
	}
	return x.columns[name]
}

// indexAnswers are the answers of an index for keys. It asks for many files together.
type indexAnswers struct {
	*tableIndex
	list  *keyList
	files []string
	next  map[bloomparquet.Type]func() (bloomparquet.RowGroup, bool)
	stops []func()
}

// answers returns the answers for keys. Call their prune for each of the files, in this order.
func (x *tableIndex) answers(list *keyList, files []string) *indexAnswers {
	return &indexAnswers{tableIndex: x, list: list, files: files, next: map[bloomparquet.Type]func() (bloomparquet.RowGroup, bool){}}
}

// stop ends the asking.
func (a *indexAnswers) stop() {
	for _, stop := range a.stops {
		stop()
	}
}

// prune returns the row groups of a file.
func (a *indexAnswers) prune(c *bloomparquet.Column) (iter.Seq[bloomparquet.RowGroup], error) {
	t := c.Type()
	next := a.next[t]
	if next == nil {
		keys, err := a.list.of(t)
		if err != nil {
			return nil, err
		}
		var columns []*bloomparquet.Column
		for _, name := range a.files {
			if c := a.column(name); c != nil && c.Type() == t {
				columns = append(columns, c)
			}
		}
		groups, err := keys.keys.Prune(columns...)
		if err != nil {
			return nil, err
		}
		var stop func()
		next, stop = iter.Pull(groups)
		a.next[t], a.stops = next, append(a.stops, stop)
	}
	return func(yield func(bloomparquet.RowGroup) bool) {
		more := true
		for range c.Len() { // those of the next file follow
			if group, ok := next(); ok && more {
				more = yield(group)
			}
		}
	}, nil
}

// indexError is an error of an index. Nothing else is asked then.
type indexError struct{ error }

// failed returns the error of a row group of the index.
func (x *tableIndex) failed(group bloomparquet.RowGroup) error {
	return indexError{errors.New(x.name + ": " + withoutPrefix(group.Err))}
}

// Close closes the file.
func (x *tableIndex) Close() error {
	if x == nil {
		return nil
	}
	return x.in.Close()
}

// pathIn returns the name that a file has in an index in a folder: the way from there to it.
func pathIn(folder, name string) (string, error) {
	folder, err1 := filepath.Abs(folder)
	path, err2 := filepath.Abs(name)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	if way, err := filepath.Rel(folder, path); err == nil { // there is none to another disk of Windows
		path = way
	}
	return filepath.ToSlash(path), nil
}
