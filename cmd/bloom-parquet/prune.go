package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

type pruneCommand struct {
	Column string `required:"" placeholder:"NAME" help:"Column that contains the keys. Separate the names of nested columns with dots."`
	keyFlags
	indexFlag
	trustFlag
	List  bool        `short:"l" help:"Also print the keys that each row group may contain, one line for each key."`
	JSON  bool        `name:"json" help:"Print each row group as one line of JSON."`
	Keys  cli.Input   `arg:"" help:"File of keys (- is standard input). The keys are one per line or, with --keys-column, in a column of a table."`
	Files []cli.Input `arg:"" help:"Parquet files, or folders that contain Parquet files."`

	list    *keyList
	indexed *tableIndex
	answers *indexAnswers
}

// Help returns the text that bloom-parquet prune --help prints below the flags.
func (p *pruneCommand) Help() string {
	return `Lines: prune prints a line for each row group that may contain keys. A line has five fields, separated by tabs: the file, the number of the row group (counted from 0), the number of its rows, how many of the given keys it may contain, and how many false positives to expect. The last number is computed as if the row group contained none of the keys. If there is no filter, the last field is "-". If the number of keys is at most three standard deviations above the expected number of false positives, the line ends with "chance", because all of these keys may be false positives. Row groups that cannot contain a key are left out.

` + keysHelp + `

Unread: If the filter of a row group is missing or cannot be read, the row group may contain every key within its bounds, and a warning gives the reason. If the file does not record how its writer compared values, bounds exclude no keys. If a file cannot be read, prune continues with the next file, as grep does.

` + foldersHelp + indexHelp
}

// Run prints the row groups of all files.
func (p *pruneCommand) Run(s *cli.Streams) error { return read(s, p) }

func (p *pruneCommand) prepare(*cli.Streams) (r reading, err error) {
	p.apply()
	if p.Files, err = parquetFiles(p.Files); err != nil {
		return r, err
	}
	return p.reading(cli.Names(p.Files), string(p.Keys))
}

// work prints the row groups of all files.
func (p *pruneCommand) work(s *cli.Streams) (err error) {
	names := cli.Names(p.Files)
	if p.list, err = p.read(s, string(p.Keys)); err != nil {
		return err
	}
	if p.indexed, err = p.open(s, p.Column, names); err != nil {
		return err
	}
	defer p.indexed.Close()
	p.answers = p.indexed.answers(p.list, names)
	defer p.answers.stop()
	out := bufio.NewWriter(s.Out)
	progress, done := func(int) {}, func() {}
	if !cli.IsTerminal(s.Out) { // a progress bar would cut through lines on a terminal
		progress, done = s.Bar("pruning", int64(len(p.Files)))
	}
	some := false
	var failures []error
	err = sideBySide(p.candidates(names), func(c *candidate, then handOn) error {
		if c.file != nil {
			defer c.file.close()
		}
		found, err := false, c.err
		if err == nil && c.indexed == nil {
			found, err = p.prune(c, out, then)
		}
		if errors.Is(err, errStopped) {
			return err
		}
		return then(func() error {
			if c.err == nil && c.indexed != nil {
				found, err = p.pruneIndexed(c, out)
			}
			if failed := (indexError{}); errors.As(err, &failed) {
				return err
			}
			for _, warning := range c.warnings {
				s.SayOf(c.name, warning)
			}
			if !errors.Is(err, cli.ErrReported) {
				failures = append(failures, err)
			}
			some = some || found
			progress(1)
			return nil
		})
	})
	done()
	if err := errors.Join(append(failures, err, out.Flush())...); err != nil {
		return err
	}
	if !some {
		p.list.warnNone(s, names, p.Column)
		return cli.ErrNone
	}
	return nil
}

// candidate is a file that is pruned, or what an index says of it.
type candidate struct {
	name     string
	file     *parquetFile
	indexed  *bloomparquet.Column
	keys     *typedKeys
	warnings []string
	err      error
}

// candidates opens the files, and yields them with the keys for their columns.
func (p *pruneCommand) candidates(names []string) iter.Seq[*candidate] {
	opened := ahead(slices.Values(names), func(name string) (c *candidate, err error) {
		c = &candidate{name: name, indexed: p.indexed.column(name)}
		if c.indexed == nil {
			c.file, c.err = openFile(name, p.Column)
		}
		return c, nil
	})
	return func(yield func(*candidate) bool) {
		for c, err := range opened {
			if err != nil {
				c = &candidate{err: err}
			}
			column := c.indexed
			if c.file != nil {
				column = c.file.column
			}
			if c.err == nil {
				if c.keys, c.err = p.list.of(column.Type()); c.err != nil {
					c.err = explained(c.name, c.err)
				}
			}
			if !yield(c) {
				return
			}
		}
	}
}

// prune hands on the row groups of a file to be printed, and reports whether there are some.
func (p *pruneCommand) prune(c *candidate, out io.Writer, then handOn) (some bool, err error) {
	groups, err := c.keys.keys.Prune(c.file.column)
	if err != nil {
		return false, err
	}
	unread, unordered, why, failed := 0, 0, error(nil), error(nil)
	some, err = p.printAll(c, groups, out, then, func(group bloomparquet.RowGroup) error {
		switch {
		case errors.Is(group.Err, bloomparquet.ErrNoOrder):
			unordered++
		case group.Err != nil:
			unread, why = unread+1, group.Err
		}
		if path := (*fs.PathError)(nil); errors.As(group.Err, &path) {
			failed = c.file.inGroup(group.Index, group.Err)
		}
		return nil
	})
	c.warnings = p.unread(c, unread, unordered, why)
	return some, cmp.Or(err, failed)
}

// pruneIndexed prints the row groups of a file whose column is in the index.
func (p *pruneCommand) pruneIndexed(c *candidate, out io.Writer) (some bool, err error) {
	groups, err := p.answers.prune(c.indexed)
	if err != nil {
		return false, explained(c.name, err)
	}
	now := func(step func() error) error { return step() }
	return p.printAll(c, groups, out, now, func(group bloomparquet.RowGroup) error {
		if group.Err != nil {
			return p.indexed.failed(group)
		}
		return nil
	})
}

// printAll hands on the row groups that may have keys to be printed, and reports whether there are some.
// check is called with all.
func (p *pruneCommand) printAll(c *candidate, groups iter.Seq[bloomparquet.RowGroup], out io.Writer, then handOn, check func(bloomparquet.RowGroup) error) (some bool, err error) {
	var lines bytes.Buffer
	print := func() error {
		data := bytes.Clone(lines.Bytes())
		lines.Reset()
		return then(func() error {
			_, err := out.Write(data)
			return err
		})
	}
	for group := range groups {
		if err := check(group); err != nil {
			return some, err
		}
		if group.Count == 0 {
			continue
		}
		some = true
		p.print(&lines, c, group)
		if lines.Len() >= partOfText {
			if err := print(); err != nil {
				return some, err
			}
		}
	}
	return some, print()
}

// unread says that filters of a column do not help, and why: that there are none comes first.
func (p *pruneCommand) unread(c *candidate, unread, unordered int, why error) (warnings []string) {
	column := c.file.column
	none := !slices.ContainsFunc(column.Meta().Chunks, func(c bloomparquet.Chunk) bool { return c.FilterOffset != 0 })
	warn := func(format string, args ...any) {
		warnings = append(warnings, fmt.Sprintf(format, args...))
	}
	switch {
	case unread+unordered == 0, !trusted.filters():
	case none && unordered > 0:
		warn("column %s has no filters, and its bounds have no known order, so every row group may contain every key; bloom-parquet embed adds filters", p.Column)
	case none:
		warn("column %s has no filters, so only its bounds can exclude keys; bloom-parquet embed adds filters", p.Column)
	default:
		if unread > 0 {
			advice := ""
			if errors.Is(why, bloomparquet.ErrIncomplete) {
				advice = "; bloom-parquet embed replaces them"
			}
			warn("%d of %d row groups have no readable filter for column %s: %s%s", unread, column.Len(), p.Column, withoutPrefix(why), advice)
		}
		if unordered > 0 {
			warn("%d of %d row groups have no filter for column %s, and bounds without a known order", unordered, column.Len(), p.Column)
		}
	}
	return warnings
}

// rowGroupReport is a row group in JSON.
type rowGroupReport struct {
	File     string   `json:"file"`
	RowGroup int      `json:"row_group"`
	Rows     int64    `json:"rows"`
	Count    int      `json:"count"`
	Expected *float64 `json:"expected,omitempty"` // keys by chance; without a filter it is not known
	Chance   bool     `json:"chance,omitempty"`   // whether Count is one of chance
	Keys     []string `json:"keys,omitempty"`
	Unread   string   `json:"unread,omitempty"`
}

// round returns a number of keys as lines tell it: 0.0042, 3.1, 97.
func round(keys float64) string {
	if keys >= 10 {
		return strconv.FormatFloat(keys, 'f', 0, 64)
	}
	return strconv.FormatFloat(keys, 'g', 2, 64)
}

// print prints a row group.
func (p *pruneCommand) print(out *bytes.Buffer, c *candidate, group bloomparquet.RowGroup) {
	switch {
	case p.JSON:
		line := rowGroupReport{File: c.name, RowGroup: group.Index, Rows: group.Rows, Count: group.Count}
		if expected, likely, known := group.Chance(); known {
			line.Expected, line.Chance = &expected, likely
		}
		if group.Err != nil {
			line.Unread = withoutPrefix(group.Err)
		}
		if p.List {
			for i := range group.Keys() {
				line.Keys = append(line.Keys, c.keys.text(i))
			}
		}
		_ = json.NewEncoder(out).Encode(line) // no error: numbers and text
	case p.List:
		start := fmt.Sprintf("%s\t%d\t%d\t", c.name, group.Index, group.Rows)
		for i := range group.Keys() {
			out.WriteString(start)
			out.WriteString(c.keys.text(i))
			out.WriteByte('\n')
		}
	default:
		chance := "-"
		if expected, likely, known := group.Chance(); known {
			chance = round(expected)
			if likely {
				chance += "\tchance"
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%s\n", c.name, group.Index, group.Rows, group.Count, chance)
	}
}
