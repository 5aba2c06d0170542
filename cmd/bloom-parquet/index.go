package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

type indexCommand struct {
	Column string     `required:"" placeholder:"NAME" help:"Column that contains the keys. Separate the names of nested columns with dots."`
	Rate   cli.Rate   `default:"0.01" placeholder:"P" help:"Largest average false-positive rate (0.01)."`
	Output cli.Output `required:"" short:"o" placeholder:"FILE" help:"Write the index to this file."`
	trustFlag
	Files []cli.Input `arg:"" help:"Parquet files, or folders that contain Parquet files."`
}

// Help returns the text that bloom-parquet index --help prints below the flags.
func (c *indexCommand) Help() string {
	return `Use: An index is one file that contains the filters of one column for all row groups of many files. prune --index and filter --index read the index instead of opening every file. For each file, the index records the size, the modification time and a checksum of the footer. If a file has changed since then, or is not in the index, the commands read the file itself, and a message reports this. The paths are relative to the index, so you can move the index and the files together.

Filters: Two filters fit together if their sizes differ by a factor that is a power of two. index copies the largest group of filters that fit together. For the other row groups, it reads the column and builds new filters. All filters in the index get the same size. It is the smallest size at which the average false-positive rate is at most --rate. If the average rate of the files' filters is already higher than --rate, the average rate in the index may be higher too, but is at most 1.1 times the average rate of the files' filters. A file that cannot be read is left out of the index. An error names the file, and the exit status is 2.

` + foldersHelp + `

` + outputfile.Help
}

// Run writes the index of all files.
func (c *indexCommand) Run(s *cli.Streams) error { return read(s, c) }

func (c *indexCommand) prepare(*cli.Streams) (r reading, err error) {
	c.apply()
	c.Files, err = parquetFiles(c.Files)
	return reading{inputs: cli.Names(c.Files), output: string(c.Output), none: cli.ErrReported}, err
}

// work writes the index to standard output. The error is cli.ErrNone if some files are not in it.
func (c *indexCommand) work(s *cli.Streams) error {
	x, err := bloomparquet.NewIndexer(float64(c.Rate))
	if err != nil {
		return fmt.Errorf("--rate: %s", withoutPrefix(err))
	}
	defer x.Close()
	files, lost, err := c.addFiles(s, x)
	if err != nil {
		return err
	}
	read, unread, err := c.addValues(s, x, files)
	if err != nil {
		return err
	}
	if len(files) == unread {
		return cli.ErrReported
	}
	size, err := x.WriteTo(s.Out)
	if err != nil {
		return errors.New(withoutPrefix(err))
	}
	s.SayRest()
	s.Say("%s: the index contains %d of %d files; the values of %d row groups were read", c.Output, len(files)-unread, len(files)+lost, read)
	filters, bytes := x.Shape()
	s.Say("%s: %d bytes: each of the %d filters has %d bytes, even for a small row group, and their number is rounded up to a multiple of 64", c.Output, size, filters, bytes)
	if lost+unread > 0 {
		return cli.ErrNone
	}
	return nil
}

// openIndexed opens a file and returns what an index in a folder says of it.
func openIndexed(folder, name, column string) (*parquetFile, bloomparquet.IndexedFile, error) {
	file, err := openFile(name, column)
	if err != nil {
		return nil, bloomparquet.IndexedFile{}, err
	}
	path, err1 := pathIn(folder, name)
	info, err2 := file.in.Stat()
	if err := errors.Join(err1, err2); err != nil {
		file.close()
		return nil, bloomparquet.IndexedFile{}, err
	}
	return file, bloomparquet.IndexedFile{Name: path, Size: info.Size(), Modified: info.ModTime()}, nil
}

// indexedFile is a file on the command line, and what an index says of it.
type indexedFile struct {
	name string
	bloomparquet.IndexedFile
}

// addFiles adds the filters that the files have. It returns the files that are added, and how many could not
// be read.
func (c *indexCommand) addFiles(s *cli.Streams, x *bloomparquet.Indexer) (known []indexedFile, lost int, err error) {
	progress, done := s.Bar("reading filters", int64(len(c.Files)))
	defer done()
	folder, added := filepath.Dir(string(c.Output)), map[string]bool{}
	err = sideBySide(slices.Values(cli.Names(c.Files)), func(name string, then handOn) error {
		file, f, failed := openIndexed(folder, name, c.Column)
		add := func() error { return nil }
		var err error
		if failed == nil {
			if add, err = x.Read(f, file.column); err == nil {
				err = unchanged(name, f)
			}
			err = errors.Join(err, file.close())
		}
		return then(func() error {
			progress(1)
			switch {
			case failed != nil:
				s.SayError(failed)
				lost++
				return nil
			case added[f.Name]: // a name that comes twice is one file
				return nil
			}
			if err == nil {
				err = add()
			}
			if err != nil {
				return fmt.Errorf("%s: %s", name, withoutPrefix(err))
			}
			known, added[f.Name] = append(known, indexedFile{name, f}), true
			return nil
		})
	})
	return known, lost, err
}

// unchanged returns an error if a file is not as it was.
func unchanged(name string, f bloomparquet.IndexedFile) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if same, _ := f.Same(info, nil); !same { // no error, for nothing is read
		return errChanged
	}
	return nil
}

// addValues reads the column where row groups have no filter that can be taken. It returns how many row
// groups it read, and how many files it could not read.
func (c *indexCommand) addValues(s *cli.Streams, x *bloomparquet.Indexer, files []indexedFile) (read, lost int, err error) {
	wanting, total := make([][]int, len(files)), int64(0)
	for file, rowGroup := range x.Wanting() {
		wanting[file] = append(wanting[file], rowGroup)
		total++
	}
	progress, done := s.Bar("reading values", total)
	defer done()
	err = sideBySide(c.valuesOf(files, wanting), func(v *wantedValues, then handOn) error {
		err := v.addTo(x)
		return then(func() error {
			progress(1)
			if err == nil {
				read++
			} else if !v.of.failed {
				v.of.failed = true
				lost++
				s.SayError(err)
			}
			if !v.last || v.parquetFile == nil {
				return nil
			}
			v.close()
			if err := unchanged(v.name, v.of.IndexedFile); err != nil && !v.of.failed {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			return nil
		})
	})
	return read, lost, err
}

// wantedFile is a file whose values are read.
type wantedFile struct {
	indexedFile
	number int  // in the index
	failed bool // whether a message said so
}

// wantedValues are the values of a row group. The file is nil if there is an error.
type wantedValues struct {
	rowGroup
	of *wantedFile
}

// valuesOf yields the row groups that are wanting, in order. Files are open while their row groups are at work.
func (c *indexCommand) valuesOf(files []indexedFile, wanting [][]int) iter.Seq[*wantedValues] {
	return func(yield func(*wantedValues) bool) {
		for i, groups := range wanting {
			if len(groups) == 0 {
				continue
			}
			file, err := openValues(files[i].name, c.Column)
			of := &wantedFile{files[i], i, false}
			for j, group := range groups {
				if !yield(&wantedValues{rowGroup{file, group, j == len(groups)-1, err}, of}) {
					return
				}
			}
		}
	}
}

// addTo adds the values to an index.
func (v *wantedValues) addTo(x *bloomparquet.Indexer) error {
	if v.err != nil {
		return v.err
	}
	keys, err := v.hashesOf(bloom.Parquet, v.column.Type(), v.leaf, v.group)
	if err == nil {
		err = x.AddKeys(v.of.number, v.group, keys...)
	}
	if err != nil {
		return v.inGroup(v.group, err)
	}
	return nil
}
