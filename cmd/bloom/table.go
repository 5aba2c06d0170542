package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom/cmd/internal/keyfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// tableFlags say which part of a record is its key.
type tableFlags struct {
	Field     string `short:"f" placeholder:"FIELD" help:"The key is this field of a record: its number, from 1, or its name in the first record, which is then a header."`
	Delimiter string `short:"d" placeholder:"CHAR" help:"The character between fields (a tab; with --csv, a comma)."`
	CSV       bool   `name:"csv" help:"Records are CSV: a field in quotes may hold delimiters, newlines and doubled quotes."`
	JSONL     bool   `name:"jsonl" help:"Lines are objects of JSON; -f names the member that is the key."`
	Header    bool   `help:"The first record is a header also if -f is a number."`

	Match *matcher `placeholder:"REGEX" help:"The key is what group 1 of this expression (RE2) matches in the line or field, or all that matches if it has no group. Each match is a key."`

	Missing missingKey `placeholder:"WHAT" help:"What becomes of a record without the field: error, drop, or keep, which prints it (of CSV and JSON in bloom filter, and with --match: drop, or keep with bloom filter -v; else error)."`
}

// tableHelp is the part of the help that the commands that read keys share.
const tableHelp = `
With -f, the key is a field of a record: of a line whose fields -d separates, of a record of CSV (--csv), or of a line of JSON (--jsonl).
With --match '/u/([0-9a-f-]+)', the keys are what the group matches in a line or, with -f, in the field. A record may have several keys: the matches, and with --jsonl -f tags.* the members of a list. One of them decides, or all with --all.
A record of CSV with more or fewer fields than the first, and what is no CSV or no JSON are errors, which name the line. --missing says what becomes of a record without the field.
The members of an object inside of another are user.id, or as a JSON pointer /user/id; the pointer /user.id is a name with a dot.
The key is the text of a field, without the quotes of CSV or JSON; numbers and booleans of JSON are keys as they are written. Empty lines of CSV and JSON are no records.
`

// recordKind is how an input is divided into records and keys.
type recordKind uint8

const (
	wholeLines recordKind = iota
	fieldsOfLines
	fieldsOfCSV
	membersOfJSON
)

// records says how to divide an input.
type records struct {
	kind      recordKind
	delimiter byte // of records
	crlf      bool // a carriage return before the delimiter is not part of a line
	most      int  // bytes of a record, without its delimiter
	comma     byte // between fields

	hasHeader bool
	names     []string // of the header
	name      string   // of the field, if it has one
	column    int      // of the field, from 0
	columns   int      // CSV: fields of every record
	path      []string // JSON: the names of the members that lead to the key
	match     *matcher // finds the keys in what would be the key; nil for none
	missing   missingKey

	headerLines int // newlines of the header
	skipped     skipped
}

// records returns what the flags say, or why they make no sense.
func (f keysFlags) records() (r records, err error) {
	r = records{delimiter: '\n', crlf: f.CRLF, most: mostOfRecord, match: f.Match, missing: f.Missing}
	if f.Match != nil && f.Missing == missingUnsaid {
		r.missing = missingDrop
	}
	if f.MaxRecord > 0 {
		r.most = int(min(uint64(f.MaxRecord), math.MaxInt))
	}
	if f.Null || f.NullData {
		r.delimiter = 0
	}
	switch {
	case f.Field == "" && (f.Delimiter != "" || f.CSV || f.JSONL || f.Header || f.Missing != missingUnsaid && f.Match == nil):
		return r, errors.New("--field must say which field is the key")
	case f.Missing == missingKeep && !f.prints:
		return r, errors.New("--missing=keep is for bloom filter and unique, which print records: use drop or error")
	case f.Field == "":
		return r, nil
	case f.JSONL && (f.Delimiter != "" || f.CSV || f.Header):
		return r, errors.New("--jsonl cannot be used with --delimiter, --csv or --header")
	case f.CSV && r.delimiter == 0:
		return r, errors.New("--csv cannot be used with --null: records of CSV end with a newline")
	case f.JSONL:
		r.kind, r.name, r.crlf = membersOfJSON, f.Field, true
		if r.path, err = keyfile.Path(f.Field); err != nil {
			err = fmt.Errorf("--field: %w", err)
		}
		return r, err
	}
	r.kind, r.comma = fieldsOfLines, '\t'
	if f.CSV {
		r.kind, r.comma, r.crlf = fieldsOfCSV, ',', true
	}
	if r.comma, err = f.comma(r); err != nil {
		return r, err
	}
	number, err := strconv.ParseUint(f.Field, 10, 31)
	isNumber := err == nil || errors.Is(err, strconv.ErrRange)
	if isNumber && !f.Header && (number == 0 || err != nil) {
		return r, fmt.Errorf("--field: fields have the numbers from 1 on, and not %s", f.Field)
	}
	r.column = int(number) - 1
	if r.hasHeader = f.Header || !isNumber; r.hasHeader {
		r.name = f.Field
	}
	return r, nil
}

// comma returns the character between fields.
func (f keysFlags) comma(r records) (byte, error) {
	text := f.Delimiter
	switch text {
	case "":
		return r.comma, nil
	case `\t`:
		return '\t', nil
	}
	if c := text[0]; len(text) > 1 || c >= 0x80 || c == '\n' || c == '\r' || c == r.delimiter || c == '"' && f.CSV {
		return 0, fmt.Errorf("--delimiter is one character of ASCII, such as , or ; or \\t, and not %q", text)
	}
	return text[0], nil
}

// takeHeader reads the first record of an input, if the others depend on it: it may be a header, and of CSV
// it has the number of fields. It takes a header off the input and returns it.
func (r *records) takeHeader(text *keyfile.Text) (header []byte, err error) {
	if r.kind != fieldsOfCSV && !r.hasHeader {
		return nil, nil
	}
	if r.kind == fieldsOfCSV {
		r.skipEmptyLines(text)
	}
	line := r.headerLines + 1
	text.Fill(func(head []byte) bool { return r.firstEnd(head) > 0 })
	first := text.Head[:r.firstEnd(text.Head)]
	switch {
	case len(first) > 0:
	case text.Err == nil:
		return nil, &lineError{line, fmt.Errorf("the first record takes more than %d bytes", len(text.Head))}
	case len(text.Head) == 0, !errors.Is(text.Err, io.EOF):
		return nil, nil // the error, if it is none of the end, comes when the records are read
	default:
		first = append(bytes.Clone(text.Head), r.delimiter)
	}
	if len(first)-1 > r.most {
		return nil, &lineError{line, r.tooLong()}
	}
	names, err := r.fields(first)
	if err != nil {
		return nil, &lineError{line, err}
	}
	r.columns = len(names)
	if !r.hasHeader {
		if len(names) <= r.column {
			return nil, &lineError{line, errors.New(tooFew(len(names), r.column))}
		}
		return nil, nil
	}
	if err := r.find(names, didYouMean(r.meant(first))); err != nil {
		return nil, &lineError{line, err}
	}
	r.names = names
	text.Head = text.Head[min(len(first), len(text.Head)):]
	r.headerLines += bytes.Count(first, []byte{r.delimiter})
	return first, nil
}

// firstEnd returns where the first record of an input ends, or 0.
func (r *records) firstEnd(head []byte) int {
	quotes := 0
	for at := 0; ; {
		i := bytes.IndexByte(head[at:], r.delimiter)
		if i < 0 {
			return 0
		}
		quotes += bytes.Count(head[at:at+i], []byte{'"'})
		at += i + 1
		if r.kind != fieldsOfCSV || quotes%2 == 0 {
			return at
		}
	}
}

// fields returns the fields of the first record.
func (r *records) fields(record []byte) ([]string, error) {
	if r.kind == fieldsOfCSV {
		return r.csvFields(record)
	}
	return strings.Split(string(r.withoutEnd(record)), string(r.comma)), nil
}

// withoutEnd returns a line without its delimiter.
func (r *records) withoutEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if r.crlf {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return line
}

// find sets the column of the field's name. A number is a name first.
func (r *records) find(names []string, hint string) error {
	first := slices.Index(names, r.name)
	switch {
	case first >= 0 && slices.Contains(names[first+1:], r.name):
		return fmt.Errorf("several fields have the name %q: give the number of one", r.name)
	case first >= 0:
		r.column = first
		return nil
	case r.column >= 0 && r.column < len(names):
		return nil
	}
	return fmt.Errorf("no field has the name %q; the names are %s%s", r.name, shownNames(names), hint)
}

// shownNames returns the names of a header for a line of text.
func shownNames(names []string) string { return show.Short(fmt.Sprintf("%q", names)) }

// mostOfRecord is the most bytes of a record, unless --max-record says another number. Where a delimiter
// or a quote is missing, the rest of the input is one.
const mostOfRecord = 64 << 20

func (r *records) tooLong() error {
	cause := ""
	if r.kind == fieldsOfCSV {
		cause = "a quote may be missing, or "
	}
	return fmt.Errorf("the record has more than %d bytes: %s--max-record must be larger", r.most, cause)
}

// tooFew says that a record lacks the field.
func tooFew(have, column int) string {
	if have == 1 {
		return fmt.Sprintf("there is 1 field, and --field asks for field %d", column+1)
	}
	return fmt.Sprintf("there are %d fields, and --field asks for field %d", have, column+1)
}

// lacksField is the error of a line with too few fields.
func (r *records) lacksField(line []byte, have int) error {
	return &noKeyError{func() string { return tooFew(have, r.column) + didYouMean(r.meant(line)) }}
}

// lineError is an error in the records of an input.
type lineError struct {
	line int // from 1: of a chunk, and then of the input
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// split finds the records of a chunk and their keys. After an error, the chunk has those
// before it.
func (r *records) split(c *chunk) {
	c.keys, c.records, c.ends, c.text, c.newlines, c.err = c.keys[:0], c.records[:0], c.ends[:0], c.text[:0], 0, nil
	c.certain, c.skipped = c.certain[:0], skipped{}
	if r.kind == wholeLines && r.match == nil {
		r.splitLines(c)
		return
	}
	quotes := r.kind == fieldsOfCSV && bytes.IndexByte(c.data, '"') >= 0
	for data := c.data; len(data) > 0 && c.err == nil; {
		data = r.splitRecord(c, data, quotes)
	}
}

// splitLines is split for records that are keys.
func (r *records) splitLines(c *chunk) {
	for data := c.data; len(data) > 0; {
		end := bytes.IndexByte(data, r.delimiter) + 1
		if end-1 > r.most {
			c.err = &lineError{len(c.keys) + 1, r.tooLong()}
			return
		}
		c.keys = append(c.keys, r.withoutEnd(data[:end]))
		data = data[end:]
	}
	c.newlines = len(c.keys)
}

// splitRecord finds the first record of data and its key, or an empty line that is no record, and
// returns what follows. CSV may have quotes.
func (r *records) splitRecord(c *chunk, data []byte, quotes bool) (rest []byte) {
	end, lines := bytes.IndexByte(data, r.delimiter)+1, 1
	line := r.withoutEnd(data[:end])
	before := len(c.keys)
	var key []byte
	var err error
	switch {
	case (r.kind == fieldsOfCSV || r.kind == membersOfJSON) && len(line) == 0:
		c.newlines++
		return data[end:]
	case r.kind == membersOfJSON:
		err = r.appendMembers(c, line)
	case r.kind == wholeLines:
		c.keys = append(c.keys, line)
	case quotes && bytes.IndexByte(line, '"') >= 0:
		key, end, err = r.quotedRecord(c, data)
		c.keys, lines = append(c.keys, key), bytes.Count(data[:end], []byte{r.delimiter})
	default:
		key, err = r.field(line)
		c.keys = append(c.keys, key)
	}
	if err == nil && r.match != nil {
		err = r.matchKeys(c, before)
	}
	skip := err != nil && r.skips(err)
	if (err == nil || skip) && end-1 > r.most {
		err, skip = r.tooLong(), false
	}
	if err != nil {
		c.keys = c.keys[:before]
	}
	switch {
	case skip:
		c.skip(r, data[:end], err)
	case err != nil:
		c.err = &lineError{c.newlines + 1, err}
		return nil
	default:
		c.records = append(c.records, data[:end])
		if r.severalKeys() {
			c.ends = append(c.ends, len(c.keys))
		}
	}
	c.newlines += lines
	return data[end:]
}

// severalKeys reports whether records can have other numbers of keys than one.
func (r *records) severalKeys() bool {
	return r.match != nil || r.missing == missingKeep || slices.Contains(r.path, everyElement)
}

// matchKeys replaces the last keys, from a place on, by what the expression matches in them.
func (r *records) matchKeys(c *chunk, before int) error {
	c.texts = append(c.texts[:0], c.keys[before:]...)
	c.keys = c.keys[:before]
	for _, text := range c.texts {
		c.keys = r.match.appendKeys(c.keys, text)
	}
	if len(c.keys) == before {
		return &noKeyError{func() string { return fmt.Sprintf("--match %q matches nothing", r.match.expression) }}
	}
	return nil
}

// field returns the field of a line that has no quotes.
func (r *records) field(line []byte) ([]byte, error) {
	if r.kind == fieldsOfCSV {
		if n := 1 + bytes.Count(line, []byte{r.comma}); n != r.columns {
			return nil, r.ragged(n)
		}
	}
	rest := line
	for column := 0; ; column++ {
		end := bytes.IndexByte(rest, r.comma)
		if column == r.column {
			if end < 0 {
				end = len(rest)
			}
			return rest[:end:end], nil
		}
		if end < 0 {
			return nil, r.lacksField(line, column+1)
		}
		rest = rest[end+1:]
	}
}

// lastEnd returns where the last whole record of a piece of an input ends, or 0. quotes is
// how many quotes stand before the piece in its first record, and becomes how many stand after
// that end. In CSV, a newline after an odd number of quotes is inside a field.
func (r *records) lastEnd(piece []byte, quotes *int) int {
	if r.kind != fieldsOfCSV {
		return bytes.LastIndexByte(piece, r.delimiter) + 1
	}
	quote := []byte{'"'}
	all := *quotes + bytes.Count(piece, quote)
	after := 0
	for end := len(piece); ; {
		i := bytes.LastIndexByte(piece[:end], r.delimiter)
		if i < 0 {
			*quotes = all
			return 0
		}
		after += bytes.Count(piece[i:end], quote)
		if (all-after)%2 == 0 {
			*quotes = after
			return i + 1
		}
		end = i
	}
}
