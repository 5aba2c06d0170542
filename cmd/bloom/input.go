package main

import (
	"io"
	"os"
	"slices"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

// keysFlags say how the commands read keys.
type keysFlags struct {
	cli.LineFlags
	tableFlags

	prints bool // whether the command prints records
}

// tableFlags say which part of a record is its key.
type tableFlags struct {
	Field     string `short:"f" placeholder:"FIELD" help:"The key is this field of a record: its number, from 1, or its name in the first record, which is then a header."`
	Delimiter string `short:"d" placeholder:"CHAR" help:"The character between fields (a tab; with --csv, a comma)."`
	CSV       bool   `name:"csv" help:"Records are CSV: a field in quotes may hold delimiters, newlines and doubled quotes."`
	JSONL     bool   `name:"jsonl" help:"Lines are objects of JSON; -f names the member that is the key."`
	Header    bool   `help:"The first record is a header also if -f is a number."`

	Match *records.Matcher `placeholder:"REGEX" help:"The key is what group 1 of this expression (RE2) matches in the line or field, or all that matches if it has no group. Each match is a key."`

	Missing records.Missing `placeholder:"WHAT" help:"What becomes of a record without the field: error, drop, or keep, which prints it (of CSV and JSON in bloom filter, and with --match: drop, or keep with bloom filter -v; else error)."`
}

// inputsHelp is the part of the help that the commands that read keys share.
const inputsHelp = `A key is the bytes of a line. Files compressed with gzip or zstd are decompressed, whatever their names; other compressed files are refused, and so are filters, Parquet files, archives and UTF-16.
A warning says when keys seem to hold more than is meant: carriage returns, a byte-order mark, or NUL bytes.
A line or a record of more bytes than --max-record says is an error; memory grows with the longest.

With -f, the key is a field of a record: of a line whose fields -d separates, of a record of CSV (--csv), or of a line of JSON (--jsonl).
With --match '/u/([0-9a-f-]+)', the keys are what the group matches in a line or, with -f, in the field. A record may have several keys: the matches, and with --jsonl -f tags.* the members of a list. In bloom filter and unique, one of them decides, or all with --all.
A record of CSV with more or fewer fields than the first, and what is no CSV or no JSON are errors, which name the line. --missing says what becomes of a record without the field.
The members of an object inside of another are user.id, or as a JSON pointer /user/id; the pointer /user.id is a name with a dot.
The key is the text of a field, without the quotes of CSV or JSON; numbers and booleans of JSON are keys as they are written. Empty lines of CSV and JSON are no records.
`

// options returns what the flags say.
func (f keysFlags) options() records.Options {
	o := f.LineFlags.Options()
	o.Field, o.Delimiter, o.CSV, o.JSONL, o.Header = f.Field, f.Delimiter, f.CSV, f.JSONL, f.Header
	o.Match, o.Missing, o.Prints = f.Match, f.Missing, f.prints
	return o
}

// read calls work with an input. The name "-" is standard input. progress is told of bytes of the file.
func (f keysFlags) read(s *cli.Streams, name string, progress func(int), work func(*records.Input) error) (err error) {
	if err := f.options().Check(); err != nil {
		return err
	}
	file := s.In
	if name != "-" {
		if file, err = os.Open(name); err != nil {
			return err
		}
		defer file.Close()
	}
	in, err := f.options().Open(name, counted{file, progress}, func(text string) { s.Warn(name, text) })
	if err != nil {
		return err
	}
	return work(in)
}

// readAll reads inputs one after the other. It calls work with chunks of keys on all cores, and use in their order.
func (f keysFlags) readAll(s *cli.Streams, inputs []cli.Input, work, use func(*records.Chunk)) error {
	progress, done := s.BytesBar("reading keys", inputs)
	defer done()
	for _, name := range cli.Names(inputs) {
		err := f.read(s, name, progress, func(in *records.Input) error {
			return in.Work(work, func(c *records.Chunk) error {
				use(c)
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hashing returns the work on chunks whose keys are to be hashed.
func hashing(format bloom.Format) func(*records.Chunk) {
	return func(c *records.Chunk) { c.Hashed = bloom.Bytes(c.Keys).Hashed(format) }
}

// allKeys returns all keys of an input, for who needs them in memory.
func (f keysFlags) allKeys(s *cli.Streams, input cli.Input) (keys [][]byte, err error) {
	err = f.readAll(s, []cli.Input{input}, func(*records.Chunk) {}, func(c *records.Chunk) {
		keys = append(keys, together(c.Keys)...)
	})
	return keys, err
}

// together returns copies of keys, one after the other in memory.
func together(keys [][]byte) [][]byte {
	copies, data := make([][]byte, len(keys)), slices.Concat(keys...)
	for i, key := range keys {
		copies[i], data = data[:len(key):len(key)], data[len(key):]
	}
	return copies
}

// counted tells progress of the bytes that are read.
type counted struct {
	io.Reader
	progress func(int)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.progress(n)
	return n, err
}
