package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/keyfile"
)

// keyFlags say how the lines of a file of keys are written.
type keyFlags struct {
	Hex          bool `help:"Keys are the bytes of values in Parquet's PLAIN encoding, without a length, in hex."`
	Null         bool `short:"0" xor:"null" help:"Keys end with a NUL byte, not a newline."`
	CRLF         bool `name:"crlf" xor:"null" help:"A carriage return before the newline is not part of the key."`
	NoDecompress bool `help:"Take the bytes of keys as they are, also if they look compressed or like no keys."`
}

// keysHelp is the part of the help that the commands that read keys share.
const keysHelp = `Keys are text of the column's type: 42, -12.50, 2024-05-01, 2024-05-01T12:00:00Z, 01234567-89ab-cdef-0123-456789abcdef. Strings are the bytes of the line. A key that the column cannot have is an error. Files of keys that are compressed with gzip or zstd are decompressed. Other compressed files, files that are no text and UTF-16 are refused.`

// errFlags is the error of flags for keys where there are none.
var errFlags = errors.New("--hex, --null, --crlf and --no-decompress say how the lines of --keys are written")

// keyList is a file of keys. A column's type says which values its lines are.
type keyList struct {
	keyFlags
	name  string
	lines [][]byte
	keys  map[bloomparquet.Type]*bloomparquet.Keys
	wrong map[string]bool // what was said of wrong keys
}

// read reads a file of keys, or standard input by the name "-". Keys are lines of text; another kind of
// file would be an arm here.
func (f keyFlags) read(s *streams, name string) (l *keyList, err error) {
	in := s.in
	if name != "-" {
		if in, err = os.Open(name); err != nil {
			return nil, err
		}
		defer in.Close()
	}
	options := keyfile.Options{Delimiter: '\n', CRLF: f.CRLF, Text: true, AsIs: f.NoDecompress}
	if f.Null {
		options.Delimiter = 0
	}
	lines, err := options.Lines(name, in, func(text string) { s.warn("warning: %s: %s", name, text) })
	return &keyList{f, name, lines, map[bloomparquet.Type]*bloomparquet.Keys{}, map[string]bool{}}, err
}

// of returns the keys for columns of a type. An error that was returned before is errReported.
func (l *keyList) of(t bloomparquet.Type) (*bloomparquet.Keys, error) {
	if k := l.keys[t]; k != nil {
		return k, nil
	}
	k, err := l.parse(t)
	if err != nil && l.wrong[err.Error()] {
		return nil, errReported // once is enough: it is the list that is wrong, not each file
	} else if err != nil {
		l.wrong[err.Error()] = true
		return nil, err
	}
	l.keys[t] = k
	return k, nil
}

func (l *keyList) parse(t bloomparquet.Type) (*bloomparquet.Keys, error) {
	if l.Hex {
		values, err := l.plain(t)
		if err != nil {
			return nil, err
		}
		return bloomparquet.KeysOf(t, values)
	}
	k, err := bloomparquet.ParseKeys(t, l.lines)
	return k, l.explain(t, err)
}

// values returns the bytes that the keys have in a column of a type: those of both zeros, if one is a key.
func (l *keyList) values(t bloomparquet.Type) ([][]byte, error) {
	values, err := l.plain(t)
	if err != nil {
		return nil, err
	}
	return withBothZeros(t, values), nil
}

func (l *keyList) plain(t bloomparquet.Type) ([][]byte, error) {
	if !l.Hex {
		values, err := bloomparquet.ParseValues(t, l.lines)
		return values, l.explain(t, err)
	}
	values := make([][]byte, len(l.lines))
	for i, line := range l.lines {
		var err error
		if values[i], err = hex.DecodeString(string(line)); err != nil {
			return nil, fmt.Errorf("%s: line %d: %q is not hex", l.name, i+1, line)
		}
	}
	_, err := bloomparquet.KeysOf(t, values)
	return values, l.explain(t, err)
}

// explain returns the error of a key with its line.
func (l *keyList) explain(t bloomparquet.Type, err error) error {
	if at := (*bloomparquet.KeyError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: line %d: %q is no value of %v: %s", l.name, at.Index+1, l.lines[at.Index], t, at.Why)
	}
	return err
}
