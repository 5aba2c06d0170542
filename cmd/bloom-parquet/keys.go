package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

// keyFlags say where in a file the keys are, and how they are written.
type keyFlags struct {
	KeysColumn string           `short:"f" aliases:"field" placeholder:"NAME" help:"Read the keys from the column with this name; in CSV, you can also give the number of the column, counted from 1. The keys must be in a Parquet file, a folder of Parquet files, a CSV file or a file of JSON lines."`
	Delimiter  string           `short:"d" placeholder:"CHAR" help:"Character that separates CSV columns. The default is the comma, semicolon, tab or vertical bar that occurs in the first record."`
	Match      *records.Matcher `placeholder:"REGEX" help:"Regular expression (RE2) that extracts keys from each line or field. Every match is a key: the text that group 1 matches, or the whole match if there is no group."`
	Missing    records.Missing  `placeholder:"WHAT" help:"What to do with a CSV or JSON record that has no such column or no match: error or drop (drop)."`
	cli.LineFlags
	Hex bool `help:"Read each key as hexadecimal digits: the bytes of a value in Parquet's PLAIN encoding, without the length."`
}

// keysHelp is the part of the help that the commands that read keys share.
const keysHelp = `Keys: Write a key as text of the column's type, such as 42, -12.50, 2024-05-01, 2024-05-01T12:00:00Z or 01234567-89ab-cdef-0123-456789abcdef. For a string column, a key is all bytes of a line. With --keys-column, the keys are the values of one column of another table, which is in Parquet, CSV or JSON lines. In JSON, "user.id" means the member "id" of the object "user". With --match 'id=(\d+)', each key is the text that the group matches. Text that is not a value of the type is an error. A key that the column cannot hold, such as 2^40 in a column of 32-bit integers, is skipped, and a warning reports how many keys were skipped.`

// errFlags is the error of flags about keys without --keys.
var errFlags = errors.New("--keys-column, --delimiter, --missing, --match, --hex, --null, --crlf, --max-record and --no-decompress describe the keys in the file of --keys")

// keyList is a file of keys. A column's type says which values its texts are.
type keyList struct {
	keyFlags
	s     *cli.Streams
	name  string
	texts [][]byte
	lines []int // of the texts
	table *keyTable
	lock  sync.Mutex // of what follows
	kept  map[bloomparquet.Type]*typedKeys
	wrong map[string]bool // what was said of wrong keys
}

// typedKeys are keys for columns of a type.
type typedKeys struct {
	values    [][]byte           // PLAIN bytes
	positions []int              // of these among the texts
	keys      *bloomparquet.Keys // nil until they are needed
	from      *keyList
	typ       bloomparquet.Type
}

// reading returns what a command that reads keys reads. Those of a table are foreign files, too.
func (f keyFlags) reading(inputs []string, keys string) (reading, error) {
	files, err := parquetFiles([]string{keys})
	if f.KeysColumn == "" {
		return reading{inputs: inputs, others: files}, err
	}
	return reading{inputs: slices.Concat(inputs, files)}, err
}

// read reads a file of keys, or standard input by the name "-".
func (f keyFlags) read(s *cli.Streams, name string) (l *keyList, err error) {
	l = &keyList{keyFlags: f, s: s, name: name, kept: map[bloomparquet.Type]*typedKeys{}, wrong: map[string]bool{}}
	tables, err := tablesOf(name)
	if err != nil {
		return nil, err
	}
	switch lines := (keyFlags{KeysColumn: f.KeysColumn}); {
	case tables != nil && f.KeysColumn == "" && !f.NoDecompress:
		return nil, needsColumn(tables[0])
	case tables != nil && f.KeysColumn != "" && f != lines:
		return nil, fmt.Errorf("%s: this is Parquet: --delimiter, --missing, --match, --hex, --null, --crlf, --max-record and --no-decompress are for text", name)
	case tables != nil && f.KeysColumn != "":
		l.table, err = readTable(tables, f.KeysColumn)
		return l, err
	case f.KeysColumn != "" && (f.Null || f.NullData):
		return nil, errors.New("--null cannot be used with --keys-column: records of CSV and JSON end with a newline")
	}
	return l, l.readText()
}

// readText reads keys that are text.
func (l *keyList) readText() (err error) {
	in := l.s.In
	if l.name != "-" {
		if in, err = os.Open(l.name); err != nil {
			return err
		}
		defer in.Close()
	}
	options := l.Options()
	options.Field, options.Delimiter, options.Match, options.Missing = l.KeysColumn, l.Delimiter, l.Match, l.Missing
	options.Guess = l.KeysColumn != ""
	l.texts, l.lines, err = options.Keys(l.name, in, func(text string) { l.s.Warn(l.name, text) })
	return err
}

// len returns the number of keys before they are converted to the type of a column.
func (l *keyList) len() int {
	if l.table != nil {
		return len(l.table.values)
	}
	return len(l.texts)
}

// text returns what key i looks like.
func (l *keyList) text(i int) string {
	if l.table != nil {
		return l.table.from.Text(l.table.values[i])
	}
	return string(l.texts[i])
}

// text returns the text of key i.
func (k *typedKeys) text(i int) string {
	if k.from.table != nil {
		return k.typ.Text(k.values[i])
	}
	if k.positions != nil {
		i = k.positions[i]
	}
	return string(k.from.texts[i])
}

// of returns the keys for columns of a type. An error that was returned before is cli.ErrReported.
func (l *keyList) of(t bloomparquet.Type) (*typedKeys, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	k, err := l.parse(t)
	if err == nil && k.keys == nil {
		k.keys, err = bloomparquet.KeysOf(t, k.values)
	}
	if err != nil && l.wrong[err.Error()] {
		return nil, cli.ErrReported // once is enough: it is the list that is wrong, not each file
	} else if err != nil {
		l.wrong[err.Error()] = true
		return nil, err
	}
	return k, nil
}

func (l *keyList) parse(t bloomparquet.Type) (*typedKeys, error) {
	if k := l.kept[t]; k != nil {
		return k, nil
	}
	values, positions, err := l.plain(t)
	if err != nil {
		return nil, err
	}
	l.kept[t] = &typedKeys{values: values, positions: positions, from: l, typ: t}
	return l.kept[t], nil
}

// values returns the bytes that the keys have in a column of a type: those of both zeros, if one is a key,
// and of the usual NaN.
func (l *keyList) values(t bloomparquet.Type) ([][]byte, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	k, err := l.parse(t)
	if err != nil {
		return nil, err
	}
	return withEqual(t, k.values), nil
}

// plain returns the bytes of the keys that a column of a type can have, and which texts they are.
func (l *keyList) plain(t bloomparquet.Type) (values [][]byte, positions []int, err error) {
	if l.table != nil {
		if values, err = l.table.convert(t); err != nil {
			return nil, nil, fmt.Errorf("%s: column %s: %s", l.name, l.KeysColumn, withoutPrefix(err))
		}
		if none := l.len() - len(values); none > 0 {
			l.s.Say("warning: %s: %d of %d values of column %s cannot occur in a column of type %v and are skipped", l.name, none, l.len(), l.KeysColumn, t)
		}
		return values, nil, nil
	}
	if !l.Hex {
		values, positions, err := bloomparquet.ParseSome(t, l.texts)
		if none := len(l.texts) - len(positions); err == nil && none > 0 {
			l.s.Say("warning: %s: %d of %d keys cannot occur in a column of type %v and are skipped", l.name, none, len(l.texts), t)
		}
		return values, positions, l.explain(t, err)
	}
	values = make([][]byte, len(l.texts))
	for i, text := range l.texts {
		var err error
		if values[i], err = hex.DecodeString(string(text)); err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %q is not hexadecimal", l.name, l.lines[i], text)
		}
	}
	_, err = bloomparquet.KeysOf(t, values)
	return values, nil, l.explain(t, err)
}

// explain returns the error of a key with its line.
func (l *keyList) explain(t bloomparquet.Type, err error) error {
	if at := (*bloomparquet.KeyError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: line %d: %q is not a value of %v: %s", l.name, l.lines[at.Index], l.texts[at.Index], t, at.Why)
	}
	return err
}
