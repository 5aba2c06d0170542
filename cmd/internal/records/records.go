package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Options say which inputs are read, how each is divided into records, and which part of a record is its key.
type Options struct {
	Null         bool   // records end with a NUL byte, not a newline
	CRLF         bool   // a carriage return before the newline is no part of a key, and a byte-order mark none of the first
	MaxRecord    uint64 // bytes; 0 is the usual bound
	NoDecompress bool   // take the bytes as they are, whatever they look like

	Field     string // its number, from 1, or its name in the first record; "" if all of the record is the key
	Delimiter string // between fields
	CSV       bool
	JSONL     bool
	Header    bool // the first record is one also if Field is a number

	Match   *Matcher // finds the keys in what would be the key; nil for none
	Missing Missing  // what becomes of a record without a key
	Prints  bool     // whether the command prints records

	// Guess says that the input is CSV or lines of JSON, whichever it looks like. Nulls are no keys then, whatever Missing
	// says: null in JSON, and in CSV an empty field without quotes.
	Guess bool

	text  bool // keys are text, without a byte-order mark
	lines bool // whether chunks tell the line of each key
}

// recordKind is how an input is divided into records and keys.
type recordKind uint8

const (
	wholeLines recordKind = iota
	fieldsOfLines
	fieldsOfCSV
	membersOfJSON
)

// layout says how to divide an input.
type layout struct {
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
	match     *Matcher // finds the keys in what would be the key; nil for none
	missing   Missing
	isGuessed bool // whether the options say what the input is
	lines     bool // whether chunks tell the line of each key

	headerLines int // newlines of the header
	skipped     skipped
}

// layout returns what the options say, or why they make no sense.
func (o Options) layout() (r layout, err error) {
	r = layout{delimiter: '\n', crlf: o.CRLF, most: mostOfRecord, match: o.Match, missing: o.Missing, isGuessed: o.Guess, lines: o.lines}
	if (o.Match != nil || o.Guess) && o.Missing == MissingUnsaid {
		r.missing = MissingDrop
	}
	if o.MaxRecord > 0 {
		r.most = int(min(o.MaxRecord, math.MaxInt))
	}
	if o.Null {
		r.delimiter = 0
	}
	if o.Guess && !o.JSONL {
		o.CSV = true
	}
	switch {
	case o.Guess && o.Field == "":
		return r, errors.New("no column is named as the key")
	case o.Field == "" && (o.Delimiter != "" || o.CSV || o.JSONL || o.Header || o.Missing != MissingUnsaid && o.Match == nil):
		return r, errors.New("-f must name the field that is the key")
	case o.Missing == MissingKeep && !o.Prints:
		return r, errors.New("--missing=keep works only in bloom filter and bloom unique, which print records: use drop or error")
	case o.Field == "":
		return r, nil
	case o.JSONL && (o.Delimiter != "" || o.CSV || o.Header):
		return r, errors.New("--jsonl cannot be used with --delimiter, --csv or --header")
	case o.CSV && r.delimiter == 0:
		return r, errors.New("--csv cannot be used with --null: CSV records end with a newline")
	case o.JSONL:
		r.kind, r.name, r.crlf = membersOfJSON, o.Field, true
		if r.path, err = pathOf(o.Field); err != nil {
			err = fmt.Errorf("-f: %w", err)
		}
		return r, err
	}
	r.kind, r.comma = fieldsOfLines, '\t'
	if o.CSV {
		r.kind, r.comma, r.crlf = fieldsOfCSV, ',', true
	}
	if r.comma, err = o.comma(r); err != nil {
		return r, err
	}
	number, err := strconv.ParseUint(o.Field, 10, 31)
	isNumber := err == nil || errors.Is(err, strconv.ErrRange)
	if isNumber && !o.Header && (number == 0 || err != nil) {
		return r, fmt.Errorf("-f: fields are counted from 1, so %s is not a field", o.Field)
	}
	r.column = int(number) - 1
	if r.hasHeader = o.Header || !isNumber; r.hasHeader {
		r.name = o.Field
	}
	return r, nil
}

// comma returns the character between fields.
func (o Options) comma(r layout) (byte, error) {
	text := o.Delimiter
	switch text {
	case "":
		return r.comma, nil
	case `\t`:
		return '\t', nil
	}
	if c := text[0]; len(text) > 1 || c >= 0x80 || c == '\n' || c == '\r' || c == r.delimiter || c == '"' && o.CSV {
		return 0, fmt.Errorf("--delimiter must be one ASCII character, such as , or ; or \\t, not %q", text)
	}
	return text[0], nil
}

// takeHeader reads the first record of an input, if the others depend on it: it may be a header, and of CSV
// it has the number of fields. It takes a header off the input and returns it.
func (r *layout) takeHeader(text *Text) (header []byte, err error) {
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
		return nil, &lineError{line, fmt.Errorf("the first record has more than %d bytes", len(text.Head))}
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
		return nil, &lineError{line, fmt.Errorf("%w%s", err, lineHint(first))}
	}
	r.columns = len(names)
	if !r.hasHeader {
		if len(names) <= r.column {
			return nil, &lineError{line, errors.New(tooFew(len(names), r.column))}
		}
		return nil, nil
	}
	if err := r.find(names, r.hint(first, names)); err != nil {
		return nil, &lineError{line, err}
	}
	r.names = names
	text.Head = text.Head[min(len(first), len(text.Head)):]
	r.headerLines += bytes.Count(first, []byte{r.delimiter})
	return first, nil
}

// hint says what the first record, which lacks a field of that name, may be instead, or nothing.
func (r *layout) hint(first []byte, names []string) string {
	if r.isGuessed && len(names) == 1 {
		return "; without a column, each line is a key" + lineHint(first)
	}
	return didYouMean(r.meant(first)) + lineHint(first)
}

// firstEnd returns where the first record of an input ends, or 0.
func (r *layout) firstEnd(head []byte) int {
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
func (r *layout) fields(record []byte) ([]string, error) {
	if r.kind == fieldsOfCSV {
		return r.csvFields(record)
	}
	return strings.Split(string(r.withoutEnd(record)), string(r.comma)), nil
}

// withoutEnd returns a line without its delimiter.
func (r *layout) withoutEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if r.crlf {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return line
}

// find sets the column of the field's name. A number is a name first.
func (r *layout) find(names []string, hint string) error {
	first := slices.Index(names, r.name)
	switch {
	case first >= 0 && slices.Contains(names[first+1:], r.name):
		return fmt.Errorf("several fields have the name %q: choose one by its number", r.name)
	case first >= 0:
		r.column = first
		return nil
	case r.column >= 0 && r.column < len(names):
		return nil
	}
	return fmt.Errorf("no field has the name %q; the names are %s%s", r.name, show.Names(names), hint)
}

// mostOfRecord is the most bytes of a record, unless --max-record says another number. Where a delimiter
// or a quote is missing, the rest of the input is one.
const mostOfRecord = 64 << 20

func (r *layout) tooLong() error {
	cause := ""
	if r.kind == fieldsOfCSV {
		cause = "a quote may be missing, or "
	}
	return fmt.Errorf("the record has more than %d bytes: %s--max-record must be larger", r.most, cause)
}

// tooFew says that a record lacks the field.
func tooFew(have, column int) string {
	if have == 1 {
		return fmt.Sprintf("there is 1 field, but -f names field %d", column+1)
	}
	return fmt.Sprintf("there are %d fields, but -f names field %d", have, column+1)
}

// lacksField is the error of a line with too few fields.
func (r *layout) lacksField(line []byte, have int) error {
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
func (r *layout) split(c *Chunk) {
	c.Keys, c.records, c.ends, c.text, c.newlines, c.err = c.Keys[:0], c.records[:0], c.ends[:0], c.text[:0], 0, nil
	c.lines = c.lines[:0]
	c.Certain, c.skipped = c.Certain[:0], skipped{}
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
func (r *layout) splitLines(c *Chunk) {
	for data := c.data; len(data) > 0; {
		end := bytes.IndexByte(data, r.delimiter) + 1
		if end-1 > r.most {
			c.err = &lineError{len(c.Keys) + 1, r.tooLong()}
			return
		}
		c.Keys = append(c.Keys, r.withoutEnd(data[:end]))
		data = data[end:]
	}
	c.newlines = len(c.Keys)
}

// splitRecord finds the first record of data and its key, or an empty line that is no record, and
// returns what follows. CSV may have quotes.
func (r *layout) splitRecord(c *Chunk, data []byte, quotes bool) (rest []byte) {
	end, lines := bytes.IndexByte(data, r.delimiter)+1, 1
	line := r.withoutEnd(data[:end])
	before := len(c.Keys)
	var key []byte
	var err error
	switch {
	case r.kind == fieldsOfCSV && len(line) == 0, r.kind == membersOfJSON && len(bytes.TrimSpace(line)) == 0:
		c.newlines++
		return data[end:]
	case r.kind == membersOfJSON:
		err = r.appendMembers(c, line)
	case r.kind == wholeLines:
		c.Keys = append(c.Keys, line)
	case quotes && bytes.IndexByte(line, '"') >= 0:
		key, end, err = r.quotedRecord(c, data)
		c.Keys, lines = append(c.Keys, key), bytes.Count(data[:end], []byte{r.delimiter})
	default:
		key, err = r.field(line)
		c.Keys = append(c.Keys, key)
	}
	if err == nil && r.match != nil {
		err = r.matchKeys(c, before)
	}
	if err != nil && r.isGuessed && errors.As(err, new(*nullError)) {
		c.Keys, c.newlines = c.Keys[:before], c.newlines+lines
		return data[end:]
	}
	skip := err != nil && r.skips(err)
	if (err == nil || skip) && end-1 > r.most {
		err, skip = r.tooLong(), false
	}
	if err != nil {
		c.Keys = c.Keys[:before]
	}
	switch {
	case skip:
		c.skip(r, data[:end], err)
	case err != nil:
		c.err = &lineError{c.newlines + 1, err}
		return nil
	default:
		c.records = append(c.records, data[:end])
		if r.lines {
			c.lines = append(c.lines, slices.Repeat([]int{c.newlines + 1}, len(c.Keys)-before)...)
		}
		if r.severalKeys() {
			c.ends = append(c.ends, len(c.Keys))
		}
	}
	c.newlines += lines
	return data[end:]
}

// severalKeys reports whether records can have other numbers of keys than one.
func (r *layout) severalKeys() bool {
	return r.match != nil || r.missing == MissingKeep || slices.Contains(r.path, everyElement)
}

// matchKeys replaces the last keys, from a place on, by what the expression matches in them.
func (r *layout) matchKeys(c *Chunk, before int) error {
	c.texts = append(c.texts[:0], c.Keys[before:]...)
	c.Keys = c.Keys[:before]
	for _, text := range c.texts {
		c.Keys = r.match.AppendKeys(c.Keys, text)
	}
	if len(c.Keys) == before {
		return &noKeyError{func() string { return fmt.Sprintf("--match %q matches nothing", r.match.Expression) }}
	}
	return nil
}

// field returns the field of a line that has no quotes.
func (r *layout) field(line []byte) ([]byte, error) {
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
			return rest[:end:end], r.nullIf(end == 0)
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
func (r *layout) lastEnd(piece []byte, quotes *int) int {
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
