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
	Header    bool   `help:"The first record is a header, even if -f is a number."`

	Match *records.Matcher `placeholder:"REGEX" help:"The key is what group 1 of this expression (RE2) matches in the line or field, or the whole match if it has no group. Each match is a key."`

	Missing records.Missing `placeholder:"WHAT" help:"What to do with a record without a key: error, drop, or keep, which prints it. The default is error; for CSV and JSON in bloom filter, and with --match, it is drop, or keep with bloom filter -v."`
}

// inputsHelp is the part of the help that the commands that read keys share.
const inputsHelp = `Keys: A key is the bytes of a line. With these flags it is a part of a line or record:

    -f 3 -d ,               field 3 of a line (a tab if there is no -d)
    -f user                 the field with this name in the first line
    --csv -f user -d ';'    a field of CSV (RFC 4180), without its quotes
                            (a comma if there is no -d)
    --jsonl -f user         a member of a JSON object: a string without quotes
                            and escapes; a number or boolean as it is written
    --jsonl -f user.id      a member of a member, also -f /user/id; a number is
                            a place in a list, counted from 0
    --jsonl -f 'tags.*'     each element of a list
    --match '/u/(\w+)'      what the group matches in the line or the field

Names: A record may have several keys: several matches, or the elements of a list. If -f is a name, the first record is a header. If it is a number, --header marks the first record as one. If a name contains a dot, use a JSON pointer (RFC 6901): -f /user.name, with ~1 for a slash and ~0 for a tilde. If a JSON object has a member twice, the last one counts. Half a surrogate pair (\ud83d alone) becomes U+FFFD.

No key: A record has no key if it ends before the field, if the object lacks the member, or if the member is null, a list or an object. Such a record is an error, because a key would be lost, unless --missing chooses something else. Malformed JSON, and a CSV record with a different number of fields than the first, are errors that name the line. Empty lines of CSV and JSON are skipped.

Inputs: Files compressed with gzip or zstd are decompressed, whatever their names. Filters, Parquet files, archives, UTF-16 and other compressed files are refused as keys; --no-decompress accepts any bytes. A warning reports keys that contain carriage returns, a byte-order mark or NUL bytes. Memory grows with the longest line or record, up to --max-record; a header may have 64 KiB.

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
