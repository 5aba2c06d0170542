package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

type indexCommand struct {
	Column string     `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested ones."`
	Rate   cli.Rate   `default:"0.01" placeholder:"P" help:"Share of absent keys that may pass on average (0.01)."`
	Output cli.Output `required:"" short:"o" placeholder:"FILE" help:"Write the index to this file."`
	trustFlag
	Files []cli.Input `arg:"" help:"Parquet files, or folders of them."`
}

// Help is what bloom-parquet index --help says, too.
func (c *indexCommand) Help() string {
	return `An index has the filters of one column for all row groups of many files, interleaved in one file. prune --index and filter --index ask it in place of opening every file. It knows the size, the time and a checksum of the footer of each file: one that has changed since, or is not in the index, is asked itself, and a message says so. The footer is compared where a file is read. Files are known by their place relative to the index, so that both can be moved together.
The filters that the files have are taken where their sizes differ by powers of two. For other row groups, and those without a filter, the column is read. All get one size, the smallest at which no more than --rate of absent keys pass on average, or few more than pass the files' own filters.
A file that cannot be read is left out of the index. An error names it, and the exit status is 2 then.
` + foldersHelp + outputfile.Help
}

// Run writes the index of all files. A process apart reads them.
func (c *indexCommand) Run(s *cli.Streams) (err error) {
	c.apply()
	if c.Files, err = parquetFiles(c.Files); err != nil {
		return err
	}
	if isApart() {
		return c.index(s)
	}
	some := false // files are left out
	err = s.Outputs().Write(string(c.Output), func(w io.Writer) error {
		err := apart(s, w, cli.Names(c.Files))
		if some = errors.Is(err, cli.ErrNone); some {
			return nil
		}
		return err
	})
	if err == nil && some {
		return cli.ErrReported
	}
	return err
}

// index writes the index to standard output. The error is cli.ErrNone if some files are not in it.
func (c *indexCommand) index(s *cli.Streams) error {
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
	if _, err := x.WriteTo(s.Out); err != nil {
		return errors.New(withoutPrefix(err))
	}
	s.Say("%s: it has %d of %d files; the values of %d row groups were read", c.Output, len(files)-unread, len(files)+lost, read)
	if lost+unread > 0 {
		return cli.ErrNone
	}
	return nil
}

// errChanged says that a file is not as it was.
var errChanged = errors.New("the file has changed while it was read")

// openIndexed opens a file and returns what an index in a folder says of it.
func openIndexed(folder, name, column string) (*parquetFile, bloomparquet.IndexedFile, error) {
	file, err := openFile(name, column)
	if err != nil {
		return nil, bloomparquet.IndexedFile{}, err
	}
	path, err1 := pathIn(folder, name)
	info, err2 := file.in.Stat()
	footer, err3 := bloomparquet.FooterChecksum(file.in, file.Size())
	if err := errors.Join(err1, err2, err3); err != nil {
		file.close()
		return nil, bloomparquet.IndexedFile{}, err
	}
	return file, bloomparquet.IndexedFile{Name: path, Size: info.Size(), Modified: info.ModTime(), Footer: footer}, nil
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

// indexedFile is a file on the command line, and what an index says of it.
type indexedFile struct {
	name string
	bloomparquet.IndexedFile
}

// addFiles adds the filters that the files have. It returns the files that are added, and how many could not be read.
func (c *indexCommand) addFiles(s *cli.Streams, x *bloomparquet.Indexer) (files []indexedFile, lost int, err error) {
	progress, done := s.Bar("reading filters", int64(len(c.Files)))
	defer done()
	folder, added := filepath.Dir(string(c.Output)), map[string]bool{}
	for _, input := range c.Files {
		name := string(input)
		progress(1)
		file, f, err := openIndexed(folder, name, c.Column)
		if err != nil {
			s.Say("%s", withoutPrefix(err))
			lost++
			continue
		}
		if !added[f.Name] { // a name that comes twice is one file
			if err = x.Add(f, file.column); err == nil {
				err = unchanged(name, f)
			}
			files = append(files, indexedFile{name, f})
		}
		added[f.Name] = true
		if err := errors.Join(err, file.close()); err != nil {
			return nil, 0, fmt.Errorf("%s: %s", name, withoutPrefix(err))
		}
	}
	return files, lost, nil
}

// unchanged returns an error if a file is not as it was.
func unchanged(name string, f bloomparquet.IndexedFile) error {
	info, err := os.Stat(name)
	if err == nil && !f.Same(info) {
		err = errChanged
	}
	return err
}

// addValues reads the column where row groups have no filter that can be taken. It returns how many row groups it read, and how
// many files it could not read.
func (c *indexCommand) addValues(s *cli.Streams, x *bloomparquet.Indexer, files []indexedFile) (read, lost int, err error) {
	wanting, total := make([][]int, len(files)), int64(0)
	for file, rowGroup := range x.Wanting() {
		wanting[file] = append(wanting[file], rowGroup)
		total++
	}
	progress, done := s.Bar("reading values", total)
	defer done()
	for i, rowGroups := range wanting {
		if len(rowGroups) == 0 {
			continue
		}
		n, err := c.addValuesOf(x, i, files[i], rowGroups)
		switch {
		case errors.Is(err, errChanged):
			return 0, 0, fmt.Errorf("%s: %w", files[i].name, err)
		case err != nil:
			lost++
			s.Say("%s", withoutPrefix(err))
		}
		read += n
		progress(len(rowGroups))
	}
	return read, lost, nil
}

// addValuesOf adds the values of some row groups of file i.
func (c *indexCommand) addValuesOf(x *bloomparquet.Indexer, i int, f indexedFile, rowGroups []int) (read int, err error) {
	file, err := openFile(f.name, c.Column)
	if err != nil {
		return 0, err
	}
	defer file.close()
	if err := file.checkCodecs(f.name, file.leaf); err != nil {
		return 0, err
	}
	for _, group := range rowGroups {
		values := file.Metadata().RowGroups[group].Columns[file.leaf].MetaData.NumValues
		keys, err := file.keysOf(embedChunk{&embedColumn{Column: file.column, leaf: file.leaf}, group, values})
		if err == nil {
			err = x.AddKeys(i, group, keys...)
		}
		if err != nil {
			return read, fmt.Errorf("%s: row group %d: %w", f.name, group, err)
		}
		read++
	}
	return read, unchanged(f.name, f.IndexedFile)
}
