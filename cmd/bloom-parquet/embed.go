package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type embedCommand struct {
	Column  []string  `required:"" sep:"," placeholder:"NAME,..." help:"Columns for which to add filters. Separate the names of nested columns with dots, and write a backslash before a comma in a name."`
	Rate    *cli.Rate `placeholder:"P" help:"Largest false-positive rate. The default is 0.0125, or 0.01 with --any-size."`
	AnySize bool      `help:"Allow any multiple of 32 bytes as the size of a filter, not only powers of two. Such filters are smaller, but ClickHouse, Velox and Arrow C++ cannot read them."`
	Replace bool      `help:"Also replace existing filters. Without --replace, an existing filter is replaced only if it may lack values."`
	DryRun  bool      `short:"n" help:"Print what would be done and how many bytes would be added, but write nothing. The columns are still read."`
	Verbose bool      `short:"v" help:"Also print one line for each row group."`
	InPlace bool      `help:"Replace each file instead of writing a new file."`
	Force   bool      `help:"With --in-place, also replace files inside a Delta Lake, Iceberg or Hudi table."`
	trustFlag
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the file with the new filters to this path."`
	Files  []cli.Input `arg:"" help:"Parquet files, or folders that contain Parquet files."`
}

// Help returns the text that bloom-parquet embed --help prints below the flags.
func (e *embedCommand) Help() string {
	return `Queries: When DuckDB, Spark, ClickHouse or bloom-parquet looks up a key in a file with filters, it reads only the row groups that may contain the key. DuckDB 1.4 uses the filters if a condition has one key (id = 5), but not if it has several keys (IN, OR, a join).

Sizes: Without --any-size, the size of a filter in bytes is a power of two. With --rate, it is the smallest power of two that meets the rate. Without --rate, it is the smallest power of two whose rate is at most 0.0125. A limit of 0.01 could double the size.

Layout: embed copies all bytes before the footer unchanged. Then it writes the filters, and a new footer that records where the filters are.

In place: With --in-place, embed writes a new file beside the old file, and replaces the old file at the end. If embed is stopped or the disk is full, the old file stays unchanged. If another program changes the file during the run, embed fails and keeps those changes. Without --force, embed does not replace files inside a Delta Lake, Iceberg or Hudi table, because the table records file sizes, and readers of the table would fail.

Refused: embed refuses encrypted files, boolean columns, and columns compressed with LZ4 or LZO, which it cannot decode reliably. If embed fails for one file, it continues with the next.

` + foldersHelp + `

` + outputfile.Help
}

// Run adds filters to all files. A separate process reads each file.
func (e *embedCommand) Run(s *cli.Streams) error {
	e.apply()
	if _, err := e.sizing().Filter(); err != nil {
		return fmt.Errorf("--rate: %s", withoutPrefix(err))
	}
	names, err := parquetFiles(cli.Names(e.Files))
	switch {
	case err != nil:
		return err
	case !e.InPlace && e.Output == "" && !e.DryRun:
		return errors.New("use one of --in-place, -o FILE and --dry-run")
	case slices.Contains(e.Column, ""):
		return errors.New("--column: the name of a column is missing")
	case e.InPlace && e.Output != "":
		return errors.New("--in-place and -o cannot be used together")
	case e.Output != "" && len(names) != 1:
		return fmt.Errorf("-o is for one input file, not for %d; use --in-place", len(names))
	case len(names) == 1:
		return noneIsDone(read(s, &embedFile{e, names[0], 0}))
	}
	return e.embedAll(s, names)
}

const (
	usualRate = 0.01
	looseRate = 1.25 * usualRate // the limit for sizes that are powers of two: usualRate could double them
)

// sizing returns the sizing of the filters. The rate is a maximum only with --rate or --any-size.
func (e *embedCommand) sizing() bloomparquet.Sizing {
	s := bloomparquet.Sizing{Rate: looseRate, AnySize: e.AnySize}
	switch {
	case e.Rate != nil:
		s.Rate = float64(*e.Rate)
	case e.AnySize:
		s.Rate = usualRate
	}
	return s
}

// noneIsDone returns err, or nil if the error means that there was nothing to do.
func noneIsDone(err error) error {
	if errors.Is(err, cli.ErrNone) && !isApart() {
		return nil
	}
	return err
}

// embedAll gives files filters on all cores, and prints what their processes say in the order of the files.
// An error does not end the work on the others, but a signal does.
func (e *embedCommand) embedAll(s *cli.Streams, names []string) error {
	progress, done := s.Bar("embedding", int64(len(names)))
	defer done()
	var failures []error
	reported := error(nil)
	cores := max(1, runtime.GOMAXPROCS(0)/len(names)) // of each process
	err := sideBySide(slices.Values(names), func(name string, then handOn) error {
		said, err := newSaid()
		if err != nil {
			return err
		}
		child := *s
		child.Args, child.Out, child.Err = e.args(name), said.out, said.err
		err = noneIsDone(read(&child, &embedFile{e, name, cores}))
		return then(func() error {
			asked := interface {
				error
				os.Signal
			}(nil)
			switch {
			case errors.As(err, &asked):
				return err
			case errors.Is(err, cli.ErrReported):
				reported = err
			default:
				failures = append(failures, err)
			}
			progress(1)
			return said.print(s, name)
		})
	})
	return cmp.Or(errors.Join(append(failures, err)...), reported)
}

// said holds the output and the messages of a process.
type said struct{ out, err *os.File }

func newSaid() (said, error) {
	out, err := temporaryFile()
	if err != nil {
		return said{}, err
	}
	errs, err := temporaryFile()
	return said{out, errs}, err
}

// print prints the output and the messages, and removes them. A single message about the file, for example that the file
// needs no change, may be the same for other files.
func (a said) print(s *cli.Streams, name string) error {
	defer removeFile(a.out)
	defer removeFile(a.err)
	messages, err := readFrom(a.err)
	if err != nil {
		return err
	}
	words, ofFile := strings.CutPrefix(messages, s.Program+": "+show.Printable(name)+": ")
	if words, one := strings.CutSuffix(words, "\n"); ofFile && one && !strings.Contains(words, "\n") {
		s.SayOf(name, words)
	} else if _, err := s.Err.WriteString(messages); err != nil {
		return err
	}
	lines, err := readFrom(a.out)
	if err == nil {
		_, err = s.Out.WriteString(lines)
	}
	return err
}

// readFrom reads a file from its start.
func readFrom(file *os.File) (string, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	data, err := io.ReadAll(file)
	return string(data), err
}

// args is the command line for one of the files.
func (e *embedCommand) args(name string) []string {
	args := []string{"embed", "--trust", string(e.Trust)}
	if e.Rate != nil {
		args = append(args, "--rate", strconv.FormatFloat(float64(*e.Rate), 'g', -1, 64))
	}
	for _, column := range e.Column {
		args = append(args, "--column="+strings.ReplaceAll(column, ",", `\,`))
	}
	for flag, on := range map[string]bool{"--any-size": e.AnySize, "--replace": e.Replace, "--dry-run": e.DryRun, "--verbose": e.Verbose, "--in-place": e.InPlace, "--force": e.Force} {
		if on {
			args = append(args, flag)
		}
	}
	return append(args, "--", name)
}

// embedFile is one of the files that get filters.
type embedFile struct {
	*embedCommand
	name  string
	cores int // of its process; 0 is all
}

func (e *embedFile) prepare(*cli.Streams) (r reading, err error) {
	r = reading{inputs: []string{e.name}, output: string(e.Output), inPlace: e.InPlace, cores: e.cores}
	switch {
	case e.DryRun:
		r.output = ""
	case e.InPlace:
		r.output = e.name
	}
	if e.DryRun || !e.InPlace || e.Force {
		return r, nil
	}
	folder, format, err := lakeTable(e.name)
	if format != "" {
		err = fmt.Errorf("%s: %s is a table in the %s format, which records file sizes, so readers of the table would fail; write a new file with -o and add it to the table, or replace the file anyway with --force", e.name, folder, format)
	}
	return r, err
}

// work writes the file with filters to standard output. The error is cli.ErrNone if nothing is written.
func (e *embedFile) work(s *cli.Streams) error {
	err := e.embed(s, e.name)
	if e.InPlace {
		err = ofOutput(err, s.Out, []string{e.name})
	}
	return err
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
	if err := w.find(); err != nil {
		return err
	}
	out := embedOutput(s.Out)
	if e.DryRun {
		out, w.say = io.Discard, func(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }
	}
	done, err := w.write(s, out)
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
	kept       int           // row groups that keep their filter
	incomplete int           // that had a filter which may lack values
	large      int           // that have too many keys for a filter
	fills      []bloom.Stats // of the new filters
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
func (w *embedding) find() error {
	var leaves []int
	for _, path := range w.Column {
		if err := w.file.find(path); err != nil {
			return err
		}
		if w.file.column.Type().Physical == bloomparquet.Boolean {
			return fmt.Errorf("%s: column %s contains booleans, and booleans have no Bloom filter", w.file.name, path)
		}
		if !slices.Contains(leaves, w.file.leaf) {
			leaves = append(leaves, w.file.leaf)
			w.columns = append(w.columns, &embedColumn{Column: w.file.column, leaf: w.file.leaf})
		}
	}
	return w.file.checkColumns(leaves...)
}

// write writes the file with filters, unless it would take the place of an equal one.
func (w *embedding) write(s *cli.Streams, out io.Writer) (written bool, err error) {
	defer explain(w.file.name, &err)
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
		w.print()
		return false, nil
	}
	progress, done := s.Bar("reading values of "+filepath.Base(w.file.name), values)
	defer done()
	err = sideBySide(slices.Values(todo), func(c embedChunk, then handOn) error {
		filter, err := w.filterOf(c)
		return then(func() error {
			if err := w.add(c, filter, err); err != nil {
				return fmt.Errorf("%v: %w", c, err)
			}
			progress(int(c.values))
			return nil
		})
	})
	if err != nil {
		return false, err
	}
	if err := w.Close(); err != nil {
		return false, err
	}
	if now, err := w.file.in.Stat(); err != nil || !outputfile.Same(was, now) {
		return false, errors.Join(errChanged, err)
	}
	done()
	w.print()
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
			c := embedChunk{column, group, w.file.valuesOf(column.leaf, group)}
			todo, values = append(todo, c), values+c.values
		}
	}
	return todo, values, nil
}

// filterOf returns the filter of a column of a row group.
func (w *embedding) filterOf(c embedChunk) (*bloom.Filter, error) {
	keys, err := w.file.hashesOf(bloom.Parquet, c.Type(), c.leaf, c.group)
	if err != nil {
		return nil, err
	}
	return w.sizing().Filter(keys...)
}

// add gives a column of a row group what filterOf returned, unless its keys are too many for a filter.
func (w *embedding) add(c embedChunk, filter *bloom.Filter, err error) error {
	if errors.Is(err, bloomparquet.ErrTooMany) {
		c.large++
		w.say("%v: no filter: %s", c, withoutPrefix(err))
		return nil
	}
	if err != nil {
		return err
	}
	fill := filter.Stats()
	c.fills = append(c.fills, fill)
	if w.Verbose {
		w.say("%v: %d values, a filter of %d bytes, rate %.2g", c, c.values, fill.Bits/8, fill.FalsePositiveRate)
	}
	return w.Add(c.group, c.leaf, filter)
}

// print says what became of each column, and of the file.
func (w *embedding) print() {
	name := w.file.name
	would := ""
	if w.DryRun {
		would = "would "
	}
	for _, column := range w.columns {
		line, all := "", column.Len()
		if n := len(column.fills); n > 0 {
			bytes, low, high := uint64(0), 1.0, 0.0
			for _, fill := range column.fills {
				bytes, low, high = bytes+fill.Bits/8, min(low, fill.FalsePositiveRate), max(high, fill.FalsePositiveRate)
			}
			line = fmt.Sprintf("; %d of %d row groups %sget filters of %d bytes in all, rate %.2g to %.2g", n, all, would, bytes, low, high)
			if w.Rate == nil && !w.AnySize {
				line += fmt.Sprintf(", at most %v (use --rate to set another maximum)", looseRate)
			}
		}
		if column.kept > 0 {
			line += fmt.Sprintf("; %d of %d %skeep their filters (use --replace to replace them)", column.kept, all, would)
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
