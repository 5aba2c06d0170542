package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/lanebloom/bloom/adapter/parquet"
)

type pruneCommand struct {
	Column string   `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested ones."`
	Hex    bool     `help:"Keys are the bytes of values in Parquet's PLAIN encoding, without a length, in hex."`
	Null   bool     `short:"0" help:"Keys end with a NUL byte, not a newline."`
	List   bool     `short:"l" help:"Print the keys, too: a line for each key and row group."`
	JSON   bool     `name:"json" help:"Print a line of JSON for each row group."`
	Keys   string   `arg:"" help:"File of keys, one per line (- for standard input)."`
	Files  []string `arg:"" help:"Parquet files."`

	lines [][]byte
	keys  map[bloomparquet.Type]*bloomparquet.Keys
	wrong map[string]bool // what was said of wrong keys
}

// Help is what bloom-parquet prune --help says, too.
func (p *pruneCommand) Help() string {
	return `For each row group that may have keys, it prints the file, the number of the row group from 0, its rows, the number of keys that may be there, and how many are expected by chance if none of them is (- without a filter), with tabs between. The word "chance" follows a number of keys that is no more than three standard deviations above the expected one: it does not show that a key is there. Row groups that have none are left out.
Keys are text of the column's type: 42, -12.50, 2024-05-01, 2024-05-01T12:00:00Z, 01234567-89ab-cdef-0123-456789abcdef. Strings are the bytes of the line. A key that the column cannot have is an error.
A row group without a filter that can be read may have every key that is not outside of its bounds: a warning says why. Bounds without an order exclude nothing: the file does not say how its writer compared them.
If it cannot read a file, it goes on with the next, as grep does.`
}

// Run prints the row groups of all files. A process apart does it.
func (p *pruneCommand) Run(s *streams) error {
	if isApart() {
		return p.pruneAll(s)
	}
	return apart(s, s.out, p.Files)
}

// pruneAll prints the row groups of all files.
func (p *pruneCommand) pruneAll(s *streams) error {
	if err := p.readKeys(s); err != nil {
		return err
	}
	p.keys, p.wrong = map[bloomparquet.Type]*bloomparquet.Keys{}, map[string]bool{}
	out := bufio.NewWriter(s.out)
	progress, done := func(int64) {}, func() {}
	if !isTerminal(s.out) { // a progress bar would cut through lines on a terminal
		progress, done = bar(s, "pruning", int64(len(p.Files)))
	}
	some := false
	var failures []error
	for _, name := range p.Files {
		found, err := p.prune(s, out, name)
		some = some || found
		if !errors.Is(err, errReported) {
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
		return errNone
	}
	return nil
}

// readKeys reads the lines of all keys.
func (p *pruneCommand) readKeys(s *streams) error {
	in := s.in
	if p.Keys != "-" {
		file, err := os.Open(p.Keys)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	end := byte('\n')
	if p.Null {
		end = 0
	}
	if len(data) > 0 && data[len(data)-1] == end {
		data = data[:len(data)-1]
	} else if len(data) == 0 {
		return nil
	}
	p.lines = bytes.Split(data, []byte{end})
	if !p.Null && !p.Hex && endWithCR(p.lines) {
		s.warn("warning: %s: the keys end with a carriage return (CRLF)", p.Keys)
	}
	return nil
}

// endWithCR reports whether most of the first lines end with a carriage return.
func endWithCR(lines [][]byte) bool {
	lines = lines[:min(len(lines), 16)]
	n := 0
	for _, line := range lines {
		if bytes.HasSuffix(line, []byte{'\r'}) {
			n++
		}
	}
	return 2*n > len(lines)
}

// keysFor returns the keys for columns of a type.
func (p *pruneCommand) keysFor(t bloomparquet.Type) (*bloomparquet.Keys, error) {
	if k := p.keys[t]; k != nil {
		return k, nil
	}
	k, err := p.parse(t)
	if err != nil && p.wrong[err.Error()] {
		return nil, errReported // once is enough: it is the list that is wrong, not each file
	} else if err != nil {
		p.wrong[err.Error()] = true
	}
	if at := (*bloomparquet.KeyError)(nil); errors.As(err, &at) {
		return nil, fmt.Errorf("%s: line %d: %q is no value of %v: %s", p.Keys, at.Index+1, p.lines[at.Index], t, at.Why)
	}
	if err != nil {
		return nil, err
	}
	p.keys[t] = k
	return k, nil
}

func (p *pruneCommand) parse(t bloomparquet.Type) (*bloomparquet.Keys, error) {
	if !p.Hex {
		return bloomparquet.ParseKeys(t, p.lines)
	}
	values := make([][]byte, len(p.lines))
	for i, line := range p.lines {
		var err error
		if values[i], err = hex.DecodeString(string(line)); err != nil {
			return nil, fmt.Errorf("%s: line %d: %q is not hex", p.Keys, i+1, line)
		}
	}
	return bloomparquet.KeysOf(t, values)
}

// prune prints the row groups of a file, and reports whether there are some.
func (p *pruneCommand) prune(s *streams, out *bufio.Writer, name string) (some bool, err error) {
	file, err := openFile(name, p.Column)
	if err != nil {
		return false, err
	}
	defer file.close()
	keys, err := p.keysFor(file.column.Type())
	if errors.Is(err, errReported) {
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("%s: %s", name, withoutPrefix(err))
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
		if err := p.print(out, name, group); err != nil {
			return some, err
		}
	}
	if unread > 0 {
		s.warn("%s: %d of %d row groups have no filter of %s that can be read: %s", name, unread, file.column.Len(), p.Column, withoutPrefix(why))
	}
	if unordered > 0 {
		s.warn("%s: %d of %d row groups have bounds of %s without an order", name, unordered, file.column.Len(), p.Column)
	}
	return some, failed
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
func (p *pruneCommand) print(out *bufio.Writer, name string, group bloomparquet.RowGroup) (err error) {
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
				line.Keys = append(line.Keys, string(p.lines[i]))
			}
		}
		return json.NewEncoder(out).Encode(line)
	case p.List:
		start := fmt.Appendf(nil, "%s\t%d\t%d\t", name, group.Index, group.Rows)
		for i := range group.Keys() {
			if _, err := out.Write(slices.Concat(start, p.lines[i], []byte{'\n'})); err != nil {
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
