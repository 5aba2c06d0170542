package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

type pruneCommand struct {
	Column string `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested ones."`
	keyFlags
	indexFlag
	trustFlag
	List  bool        `short:"l" help:"Print the keys, too: a line for each key and row group."`
	JSON  bool        `name:"json" help:"Print a line of JSON for each row group."`
	Keys  cli.Input   `arg:"" help:"File of keys, one per line or in a column of a table (- for standard input)."`
	Files []cli.Input `arg:"" help:"Parquet files, or folders of them."`

	list    *keyList
	indexed *tableIndex
	answers *indexAnswers
}

// Help is what bloom-parquet prune --help says, too.
func (p *pruneCommand) Help() string {
	return `For each row group that may have keys, it prints the file, the number of the row group from 0, its rows, the number of keys that may be there, and how many are expected by chance if none of them is (- without a filter), with tabs between. The word "chance" follows a number of keys that is no more than three standard deviations above the expected one: it does not show that a key is there. Row groups that have none are left out.
` + keysHelp + `
A row group without a filter that can be read may have every key that is not outside of its bounds: a warning says why. Bounds without an order exclude nothing: the file does not say how its writer compared them.
If it cannot read a file, it goes on with the next, as grep does.
` + indexHelp + foldersHelp
}

// Run prints the row groups of all files. A process apart does it.
func (p *pruneCommand) Run(s *cli.Streams) (err error) {
	p.apply()
	if p.Files, err = parquetFiles(p.Files); err != nil {
		return err
	}
	if isApart() {
		return p.pruneAll(s)
	}
	return p.apart(s, s.Out, cli.Names(p.Files), string(p.Keys))
}

// pruneAll prints the row groups of all files.
func (p *pruneCommand) pruneAll(s *cli.Streams) (err error) {
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
	for _, name := range names {
		found, err := p.prune(s, out, name)
		some = some || found
		if failed := (indexError{}); errors.As(err, &failed) {
			return errors.Join(out.Flush(), err)
		}
		if !errors.Is(err, cli.ErrReported) {
			failures = append(failures, err)
		}
		progress(1)
	}
	done()
	failures = append(failures, out.Flush())
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if !some {
		p.list.warnNone(s, names, p.Column)
		return cli.ErrNone
	}
	return nil
}

// prune prints the row groups of a file, and reports whether there are some.
func (p *pruneCommand) prune(s *cli.Streams, out *bufio.Writer, name string) (some bool, err error) {
	if column := p.indexed.column(name); column != nil {
		return p.pruneIndexed(out, name, column)
	}
	file, err := openFile(name, p.Column)
	if err != nil {
		return false, err
	}
	defer file.close()
	keys, err := p.list.of(file.column.Type())
	if err != nil {
		return false, explained(name, err)
	}
	groups, err := keys.Prune(file.column)
	if err != nil {
		return false, err
	}
	unread, unordered, why, failed := 0, 0, error(nil), error(nil)
	for group := range groups {
		switch {
		case errors.Is(group.Err, bloomparquet.ErrNoOrder):
			unordered++
		case group.Err != nil:
			unread, why = unread+1, group.Err
		}
		if path := (*fs.PathError)(nil); errors.As(group.Err, &path) {
			failed = fmt.Errorf("%s: row group %d: %s", name, group.Index, withoutPrefix(group.Err))
		}
		if group.Count == 0 {
			continue
		}
		some = true
		if err := p.print(out, name, file.column.Type(), group); err != nil {
			return some, err
		}
	}
	p.warnUnread(s, name, file.column, unread, unordered, why)
	return some, failed
}

// explained returns an error of keys for a file, with its name.
func explained(name string, err error) error {
	if errors.Is(err, cli.ErrReported) {
		return err
	}
	return fmt.Errorf("%s: %s", name, withoutPrefix(err))
}

// pruneIndexed is prune for a file of which the index has a column.
func (p *pruneCommand) pruneIndexed(out *bufio.Writer, name string, column *bloomparquet.Column) (some bool, err error) {
	groups, err := p.answers.prune(column)
	if err != nil {
		return false, explained(name, err)
	}
	for group := range groups {
		if group.Err != nil {
			return some, p.indexed.failed(group)
		}
		if group.Count > 0 {
			some = true
			if err := p.print(out, name, column.Type(), group); err != nil {
				return some, err
			}
		}
	}
	return some, nil
}

// warnUnread says that filters of a column do not help, and why: that there are none comes first.
func (p *pruneCommand) warnUnread(s *cli.Streams, name string, column *bloomparquet.Column, unread, unordered int, why error) {
	none := !slices.ContainsFunc(column.Meta().Chunks, func(c bloomparquet.Chunk) bool { return c.FilterOffset != 0 })
	switch {
	case unread+unordered == 0, !trusted.filters():
	case none && unordered > 0:
		s.Say("%s: column %s has no filters, and bounds without an order: every row group may have every key; bloom-parquet embed gives it filters", name, p.Column)
	case none:
		s.Say("%s: column %s has no filters, and only its bounds exclude keys; bloom-parquet embed gives it filters", name, p.Column)
	default:
		if unread > 0 {
			advice := ""
			if errors.Is(why, bloomparquet.ErrIncomplete) {
				advice = "; bloom-parquet embed gives them others"
			}
			s.Say("%s: %d of %d row groups have no filter of %s that can be read: %s%s", name, unread, column.Len(), p.Column, withoutPrefix(why), advice)
		}
		if unordered > 0 {
			s.Say("%s: %d of %d row groups have no filter of %s, and bounds without an order", name, unordered, column.Len(), p.Column)
		}
	}
}

// rowGroup is a row group in JSON.
type rowGroup struct {
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
func (p *pruneCommand) print(out *bufio.Writer, name string, t bloomparquet.Type, group bloomparquet.RowGroup) (err error) {
	switch {
	case p.JSON:
		line := rowGroup{File: name, RowGroup: group.Index, Rows: group.Rows, Count: group.Count}
		if chance, ok := group.Chance(); ok {
			line.Expected, line.Chance = &chance.Expected, chance.Likely
		}
		if group.Err != nil {
			line.Unread = withoutPrefix(group.Err)
		}
		if p.List {
			for i := range group.Keys() {
				line.Keys = append(line.Keys, p.list.textFor(t, i))
			}
		}
		return json.NewEncoder(out).Encode(line)
	case p.List:
		start := fmt.Appendf(nil, "%s\t%d\t%d\t", name, group.Index, group.Rows)
		for i := range group.Keys() {
			if _, err := out.Write(slices.Concat(start, []byte(p.list.textFor(t, i)), []byte{'\n'})); err != nil {
				return err
			}
		}
		return nil
	}
	expected := "-"
	if chance, ok := group.Chance(); ok {
		expected = round(chance.Expected)
		if chance.Likely {
			expected += "\tchance"
		}
	}
	_, err = fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%s\n", name, group.Index, group.Rows, group.Count, expected)
	return err
}
