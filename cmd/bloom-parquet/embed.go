package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

type embedCommand struct {
	Column  []string `required:"" sep:"," placeholder:"NAME,..." help:"Columns that get filters, with dots between the names of nested ones. Before a comma in a name stands a backslash."`
	Rate    cli.Rate `default:"0.01" placeholder:"P" help:"False-positive rate to stay under (0.01)."`
	AnySize bool     `help:"Make filters of any multiple of 32 bytes, which are smaller. ClickHouse, Velox and Arrow in C++ cannot read them."`
	Replace bool     `help:"Give new filters to row groups that have one, too. Those whose filter may lack values always get one."`
	DryRun  bool     `short:"n" help:"Only print what it would do and how many bytes it would add. The columns are read for that."`
	Verbose bool     `short:"v" help:"Print a line for each row group, too."`
	InPlace bool     `help:"Replace the files."`
	Force   bool     `help:"With --in-place, also replace files inside a table of Delta Lake, Iceberg or Hudi."`
	trustFlag
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the file with filters to this one."`
	Files  []cli.Input `arg:"" help:"Parquet files, or folders of them."`
}

// Help is what bloom-parquet embed --help says, too.
func (e *embedCommand) Help() string {
	return `A query for a key then reads only the row groups whose filters say that they may have it: DuckDB, Spark, ClickHouse and bloom-parquet do so. DuckDB 1.4 asks the filters for one key (id = 5), and not for several in one condition (IN, OR, a join).
All bytes up to the footer are copied as they are, the filters follow, and the footer names them. All else that it says stays. A filter has the smallest power of two of bytes that keeps the rate.
With --in-place, a new file beside the old one takes its place at the end. If the work is stopped, the disk is full, or another program changes the file meanwhile, it stays as it is. A filter that is replaced stays in the file as unused bytes.
Files inside a table of Delta Lake, Iceberg or Hudi are not replaced without --force: the table records their sizes, and its readers would fail.
Refused are encrypted files, columns of booleans, and compressions that the pages cannot be trusted with (LZ4). If it cannot change a file, it goes on with the next.
` + foldersHelp + outputfile.Help
}

// Run gives all files filters. A process apart reads each.
func (e *embedCommand) Run(s *cli.Streams) error {
	e.apply()
	if isApart() {
		return e.embed(s, string(e.Files[0]))
	}
	if _, err := (bloomparquet.Sizing{Rate: float64(e.Rate)}).Filter(); err != nil {
		return fmt.Errorf("--rate: %s", withoutPrefix(err))
	}
	names, err := parquetFiles(cli.Names(e.Files))
	switch {
	case err != nil:
		return err
	case !e.InPlace && e.Output == "" && !e.DryRun:
		return errors.New("say where the filters go: --in-place, -o FILE or --dry-run")
	case slices.Contains(e.Column, ""):
		return errors.New("--column: the name of a column is missing")
	case e.InPlace && e.Output != "":
		return errors.New("--in-place and -o exclude each other")
	case e.Output != "" && len(names) != 1:
		return fmt.Errorf("-o takes one file, and not %d: --in-place takes many", len(names))
	}
	var failures []error
	reported := error(nil)
	for _, name := range names {
		switch err := e.start(s, name); {
		case errors.Is(err, cli.ErrReported):
			reported = err
		case !errors.Is(err, cli.ErrNone):
			failures = append(failures, err)
		}
	}
	return cmp.Or(errors.Join(failures...), reported)
}

// start runs a process that writes a file with filters. The error is cli.ErrNone if there is nothing to do.
func (e *embedCommand) start(s *cli.Streams, name string) error {
	child := *s
	child.Args = []string{"embed", "--rate", strconv.FormatFloat(float64(e.Rate), 'g', -1, 64), "--trust", string(e.Trust)}
	for _, column := range e.Column {
		child.Args = append(child.Args, "--column="+strings.ReplaceAll(column, ",", `\,`))
	}
	for flag, on := range map[string]bool{"--any-size": e.AnySize, "--replace": e.Replace, "--dry-run": e.DryRun, "--verbose": e.Verbose, "--in-place": e.InPlace} {
		if on {
			child.Args = append(child.Args, flag)
		}
	}
	if e.InPlace { // for messages
		child.Args = append(child.Args, "--output="+name)
	} else if e.Output != "" {
		child.Args = append(child.Args, "--output="+string(e.Output))
	}
	child.Args = append(child.Args, "--", name)
	write := func(w io.Writer) error { return apart(&child, w, []string{name}) }
	switch {
	case e.DryRun:
		return write(s.Out)
	case e.InPlace && !e.Force:
		folder, format, err := lakeTable(name)
		if err != nil {
			return err
		}
		if format != "" {
			return fmt.Errorf("%s: %s is a table of %s, which records the sizes of its files: readers would fail. Write another file with -o and add it to the table, or insist with --force", name, folder, format)
		}
		fallthrough
	case e.InPlace:
		return s.Outputs().Rewrite(name, write)
	}
	return s.Outputs().Write(string(e.Output), write)
}

// embedOutput is what the file with filters is written to. Tests let it fail.
var embedOutput = func(out *os.File) io.Writer { return out }

// embed writes a file with filters to standard output. The error is cli.ErrNone if nothing is written.
func (e *embedCommand) embed(s *cli.Streams, name string) error {
	file, err := openParquet(name)
	if err != nil {
		return err
	}
	defer file.close()
	w := &embedding{embedCommand: e, file: file, say: s.Say}
	if err := w.find(name); err != nil {
		return err
	}
	out := embedOutput(s.Out)
	if e.DryRun {
		out, w.say = io.Discard, func(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }
	}
	done, err := w.write(s, name, out)
	switch {
	case err != nil:
		return err
	case !done:
		return cli.ErrNone
	}
	return nil
}

// embedding is a file that gets filters.
type embedding struct {
	*embedCommand
	*bloomparquet.Embedder
	file    *parquetFile
	say     func(format string, args ...any)
	columns []*embedColumn
}

// embedColumn is a column that gets filters, and what became of it.
type embedColumn struct {
	*bloomparquet.Column
	leaf       int
	kept       int                 // row groups that keep their filter
	incomplete int                 // that had a filter which may lack values
	large      int                 // that have too many keys for a filter
	fills      []bloomparquet.Fill // of the new filters
}

// embedChunk is such a column in a row group.
type embedChunk struct {
	*embedColumn
	group  int
	values int64 // and nulls, as the footer says
}

func (c embedChunk) String() string {
	return fmt.Sprintf("row group %d, column %s", c.group, c.Meta().Path)
}

// find finds the columns.
func (w *embedding) find(name string) error {
	var leaves []int
	for _, path := range w.Column {
		if err := w.file.find(name, path); err != nil {
			return err
		}
		if w.file.column.Type().Physical == bloomparquet.Boolean {
			return fmt.Errorf("%s: column %s has booleans, for which there are no filters", name, path)
		}
		if !slices.Contains(leaves, w.file.leaf) {
			leaves = append(leaves, w.file.leaf)
			w.columns = append(w.columns, &embedColumn{Column: w.file.column, leaf: w.file.leaf})
		}
	}
	return w.file.checkCodecs(name, leaves...)
}

// write writes the file with filters, unless it would take the place of an equal one.
func (w *embedding) write(s *cli.Streams, name string, out io.Writer) (written bool, err error) {
	defer explain(name, &err)
	was, err := w.file.in.Stat()
	if err != nil {
		return false, err
	}
	if w.Embedder, err = bloomparquet.NewEmbedder(out, w.file.in); err != nil {
		return false, err
	}
	todo, values, err := w.plan()
	if err != nil {
		return false, err
	}
	if len(todo) == 0 && w.InPlace {
		w.print(name)
		return false, nil
	}
	progress, done := s.Bar("reading values of "+filepath.Base(name), values)
	defer done()
	for _, c := range todo {
		if err := w.add(c); err != nil {
			return false, fmt.Errorf("%v: %w", c, err)
		}
		progress(int(c.values))
	}
	if err := w.Close(); err != nil {
		return false, err
	}
	if now, err := w.file.in.Stat(); err != nil || !outputfile.Same(was, now) {
		return false, errors.Join(errChanged, err)
	}
	done()
	w.print(name)
	return true, nil
}

// plan returns what gets filters, and how many values that has.
func (w *embedding) plan() (todo []embedChunk, values int64, err error) {
	for group := range w.file.RowGroups() {
		for _, column := range w.columns {
			has, err := w.HasFilter(group, column.leaf)
			if err != nil {
				return nil, 0, err
			}
			if has && !w.Replace {
				if _, err := column.Filter(group); trusted.filters() && !errors.Is(err, bloomparquet.ErrIncomplete) {
					column.kept++
					continue
				}
				column.incomplete++
			}
			c := embedChunk{column, group, w.file.Metadata().RowGroups[group].Columns[column.leaf].MetaData.NumValues}
			todo, values = append(todo, c), values+c.values
		}
	}
	return todo, values, nil
}

// add gives a column of a row group a filter, unless its keys are too many for one.
func (w *embedding) add(c embedChunk) error {
	keys, err := w.file.keysOf(c)
	if err != nil {
		return err
	}
	filter, err := bloomparquet.Sizing{Rate: float64(w.Rate), AnySize: w.AnySize}.Filter(keys...)
	if errors.Is(err, bloomparquet.ErrTooMany) {
		c.large++
		w.say("%v: no filter: %s", c, withoutPrefix(err))
		return nil
	}
	if err != nil {
		return err
	}
	fill := bloomparquet.FillOf(filter)
	c.fills = append(c.fills, fill)
	if w.Verbose {
		w.say("%v: %d values, a filter of %d bytes, rate %.2g", c, c.values, fill.Bits/8, fill.Rate)
	}
	return w.Add(c.group, c.leaf, filter)
}

// print says what became of each column, and of the file.
func (w *embedding) print(name string) {
	would := ""
	if w.DryRun {
		would = "would "
	}
	for _, column := range w.columns {
		line, all := "", column.Len()
		if n := len(column.fills); n > 0 {
			bytes, low, high := int64(0), 1.0, 0.0
			for _, fill := range column.fills {
				bytes, low, high = bytes+fill.Bits/8, min(low, fill.Rate), max(high, fill.Rate)
			}
			line = fmt.Sprintf("; %d of %d row groups %sget filters of %d bytes in all, rate %.2g to %.2g", n, all, would, bytes, low, high)
		}
		if column.kept > 0 {
			line += fmt.Sprintf("; %d of %d %skeep the filter that they have (--replace replaces it)", column.kept, all, would)
		}
		if column.incomplete > 0 {
			line += fmt.Sprintf("; %d of %d had a filter that may lack values", column.incomplete, all)
		}
		if column.large > 0 {
			line += fmt.Sprintf("; %d of %d have too many keys for a filter", column.large, all)
		}
		w.say("%s: %s: %s", name, column.Meta().Path, strings.TrimPrefix(cmp.Or(line, "no row groups"), "; "))
	}
	if old := w.file.Size(); w.Size() > 0 {
		w.say("%s: %d bytes, %+d (%+.1f %%)", name, w.Size(), w.Size()-old, 100*float64(w.Size()-old)/float64(old))
	}
}

// keysOf returns the hashes of all values that are not null.
func (f *parquetFile) keysOf(c embedChunk) ([]bloom.Keys, error) {
	keys, read, err := f.hashesOf(bloom.Parquet, c.Type(), c.leaf, c.group)
	if err == nil && read != c.values {
		err = fmt.Errorf("malformed: the pages have %d values, and the footer says %d", read, c.values)
	}
	return keys, err
}
