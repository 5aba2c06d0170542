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
	Field     string `short:"f" placeholder:"FIELD" help:"The field that is the key: a number, counted from 1, or a name in the first record, which is then a header."`
	Delimiter string `short:"d" placeholder:"CHAR" help:"The character between fields (default: a tab, or a comma with --csv)."`
	CSV       bool   `name:"csv" help:"Read CSV records. A field in quotes may contain delimiters, newlines and doubled quotes."`
	JSONL     bool   `name:"jsonl" help:"Read a JSON object from each line; -f names the member that is the key."`
	Header    bool   `help:"Treat the first record as a header, even if -f is a number."`

	Match *records.Matcher `placeholder:"REGEX" help:"Use every match of this regular expression (RE2) in the line or field as a key. If the expression has a group, only the text of group 1 is the key."`

	Missing records.Missing `placeholder:"WHAT" help:"What to do with a record without a key: error, drop, or keep (print the record). The default is error, but with --match it is drop. In bloom filter with --match, --csv or --jsonl, the default is drop, but with -v it is keep."`
}

// inputsHelp is the part of the help that the commands that read keys share.
const inputsHelp = `Keys: Each line is a key. With these flags, a part of each line or record is the key:

    -f 3 -d ,               field 3 of each line (default of -d: a tab)
    -f user                 the field with this name in the first line
    --csv -f user -d ';'    a field of CSV (RFC 4180), without its quotes
                            (default of -d: a comma)
    --jsonl -f user         a member of a JSON object: a string without quotes
                            and escapes, a number or boolean as it is written
    --jsonl -f user.id      a member of a member, or -f /user/id; a number is
                            an index in a list, counted from 0
    --jsonl -f 'tags.*'     each element of a list
    --match '/u/(\w+)'      the text that the group matches

Names: A record has several keys if the expression of --match matches several times, or if -f names the elements of a list. If -f is a name, the first record is a header. If -f is a number, use --header to treat the first record as a header. If the name of a JSON member contains a dot, use a JSON pointer (RFC 6901) such as -f /user.name, with ~1 for a slash and ~0 for a tilde. If a JSON object has several members of the same name, the last one counts. An unpaired surrogate such as \ud83d becomes U+FFFD.

No key: A record has no key if it has too few fields, if the JSON object lacks the member, or if the member is null, a list or an object. --missing chooses what to do with such a record. Malformed JSON is an error, and so is a CSV record with more or fewer fields than the first record. The message names the line. Empty lines in CSV and JSON are skipped.

Inputs: Files compressed with gzip or zstd are decompressed, whatever their names. Filters, Parquet files, archives, UTF-16 text and other compressed files are refused as keys, unless --no-decompress is given. A warning is printed if keys contain carriage returns, a byte-order mark or NUL bytes. Memory grows with the longest line or record, up to --max-record. A header may be up to 64 KiB long.

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
