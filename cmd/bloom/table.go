package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// tableFlags say which part of a record is its key.
type tableFlags struct {
	Field     string `short:"f" placeholder:"FIELD" help:"The key is this field of a record: its number, from 1, or its name in the first record, which is then a header."`
	Delimiter string `short:"d" placeholder:"CHAR" help:"The character between fields (a tab; with --csv, a comma)."`
	CSV       bool   `name:"csv" help:"Records are CSV: a field in quotes may hold delimiters, newlines and doubled quotes."`
	JSONL     bool   `name:"jsonl" help:"Lines are objects of JSON; -f names the member that is the key."`
	Header    bool   `help:"The first record is a header also if -f is a number."`
}

// tableHelp is the part of the help that the commands that read keys share.
const tableHelp = `
With -f, the key is a field of a record: of a line whose fields -d separates, of a record of CSV (--csv), or of a line of JSON (--jsonl).
A field that is missing, a record of CSV with more or fewer fields than the first, and what is no CSV or no JSON are errors, which name the line.
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
	comma     byte // between fields

	hasHeader bool
	name      string // of the field, if it has one
	column    int    // of the field, from 0
	columns   int    // CSV: fields of every record

	headerLines int // newlines of the header
}

// records returns what the flags say, or why they make no sense.
func (f keysFlags) records() (r records, err error) {
	r = records{delimiter: '\n', crlf: f.CRLF}
	if f.Null || f.NullData {
		r.delimiter = 0
	}
	switch {
	case f.Field == "" && (f.Delimiter != "" || f.CSV || f.JSONL || f.Header):
		return r, errors.New("--field must say which field is the key")
	case f.Field == "":
		return r, nil
	case f.JSONL && (f.Delimiter != "" || f.CSV || f.Header):
		return r, errors.New("--jsonl cannot be used with --delimiter, --csv or --header")
	case f.CSV && r.delimiter == 0:
		return r, errors.New("--csv cannot be used with --null: records of CSV end with a newline")
	case f.JSONL:
		r.kind, r.name, r.crlf = membersOfJSON, f.Field, true
		return r, nil
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
func (r *records) takeHeader(text *peeked) (header []byte, err error) {
	if r.kind != fieldsOfCSV && !r.hasHeader {
		return nil, nil
	}
	end := func(head []byte) int {
		blank := 0 // empty lines of CSV before it
		for r.kind == fieldsOfCSV && blank < len(head) && (head[blank] == '\n' || head[blank] == '\r') {
			blank++
		}
		for at := blank; ; at++ {
			i := bytes.IndexByte(head[at:], r.delimiter)
			if i < 0 {
				return 0
			}
			at += i
			if r.kind != fieldsOfCSV || bytes.Count(head[:at], []byte{'"'})%2 == 0 {
				return at + 1
			}
		}
	}
	text.fill(func(head []byte) bool { return end(head) > 0 })
	n := end(text.head)
	switch {
	case n > 0:
		header = text.head[:n]
	case text.err == nil:
		return nil, &lineError{1, fmt.Errorf("the first record takes more than %d bytes", len(text.head))}
	case len(text.head) == 0:
		return nil, nil // the error, if it is none of the end, comes when the records are read
	default:
		n, header = len(text.head), append(bytes.Clone(text.head), r.delimiter)
	}
	names, err := r.fields(header)
	if err != nil {
		return nil, err
	}
	if r.kind == fieldsOfCSV {
		r.columns = len(names)
	}
	line := 1
	if r.kind == fieldsOfCSV {
		line += bytes.Count(header[:len(header)-len(bytes.TrimLeft(header, "\r\n"))], []byte{'\n'})
	}
	if !r.hasHeader {
		if len(names) <= r.column {
			return nil, &lineError{line, errors.New(tooFew(len(names), r.column))}
		}
		return nil, nil
	}
	text.head = text.head[n:]
	r.headerLines = bytes.Count(header, []byte{r.delimiter})
	if err := r.find(names); err != nil {
		return nil, &lineError{line, err}
	}
	if r.kind == fieldsOfCSV {
		header = bytes.TrimLeft(header, "\r\n")
	}
	return header, nil
}

// fields returns the fields of the first record.
func (r *records) fields(record []byte) ([]string, error) {
	if r.kind == fieldsOfCSV {
		fields, err := r.csvReader(record).Read()
		return fields, csvError(err, nil)
	}
	line := bytes.TrimSuffix(record, []byte{r.delimiter})
	if r.crlf {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return strings.Split(string(line), string(r.comma)), nil
}

// find sets the column of the field's name. A number is a name first.
func (r *records) find(names []string) error {
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
	return fmt.Errorf("no field has the name %q; the names are %s", r.name, shortenQuote(fmt.Sprintf("%q", names)))
}

// tooFew says that a record lacks the field.
func tooFew(have, column int) string {
	if have == 1 {
		return fmt.Sprintf("there is 1 field, and --field asks for field %d", column+1)
	}
	return fmt.Sprintf("there are %d fields, and --field asks for field %d", have, column+1)
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
	c.keys, c.records, c.err = c.keys[:0], c.records[:0], nil
	switch {
	case r.kind == wholeLines:
		c.keys = splitLines(c.keys, c.data, r.delimiter, r.crlf)
		return
	case r.kind == fieldsOfCSV && bytes.IndexByte(c.data, '"') >= 0:
		c.err = r.splitCSV(c)
	default:
		c.err = r.splitLines(c)
	}
	c.newlines = bytes.Count(c.data, []byte{r.delimiter})
}

// splitLines finds the records that are lines: also those of CSV, if it has no quotes.
func (r *records) splitLines(c *chunk) error {
	c.text = c.text[:0]
	for line, data := 1, c.data; len(data) > 0; line++ {
		end := bytes.IndexByte(data, r.delimiter) + 1
		record := data[:end]
		data = data[end:]
		text := record[:end-1]
		if r.crlf {
			text = bytes.TrimSuffix(text, []byte{'\r'})
		}
		if r.kind != fieldsOfLines && len(text) == 0 {
			continue
		}
		var key []byte
		var err error
		if r.kind == membersOfJSON {
			key, err = r.member(c, text)
		} else {
			key, err = r.field(text)
		}
		if err != nil {
			return &lineError{line, err}
		}
		c.records, c.keys = append(c.records, record), append(c.keys, key)
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
			return nil, errors.New(tooFew(column+1, r.column))
		}
		rest = rest[end+1:]
	}
}

func (r *records) ragged(n int) error {
	return fmt.Errorf("the fields are %d, and those of the first record %d", n, r.columns)
}

// member returns the text of the member of an object of JSON. It may be in the memory of c.text.
func (r *records) member(c *chunk, line []byte) ([]byte, error) {
	// Parse bounds the depth, so it goes before Validate, which is exact about the rest.
	object, err := c.json.ParseBytes(line)
	if err == nil {
		err = fastjson.ValidateBytes(line)
	}
	if err != nil {
		return nil, fmt.Errorf("this is not JSON: %s", shortenQuote(err.Error()))
	}
	if object.Type() != fastjson.TypeObject {
		return nil, fmt.Errorf("this is no object of JSON: its type is %v", object.Type())
	}
	value := object.Get(r.name)
	if value == nil {
		return nil, fmt.Errorf("the object has no member %q", r.name)
	}
	from := len(c.text)
	switch value.Type() {
	case fastjson.TypeString:
		text, _ := value.StringBytes() // no error: it is a string
		c.text = append(c.text, text...)
	case fastjson.TypeNumber, fastjson.TypeTrue, fastjson.TypeFalse:
		c.text = value.MarshalTo(c.text)
	default:
		return nil, fmt.Errorf("the member %q is no string, number or boolean: its type is %v", r.name, value.Type())
	}
	return c.text[from:len(c.text):len(c.text)], nil
}

// splitCSV finds records of CSV of which some have quotes.
func (r *records) splitCSV(c *chunk) error {
	reader := r.csvReader(c.data)
	reader.FieldsPerRecord = r.columns
	reader.ReuseRecord = true
	c.text = c.text[:0]
	for at := 0; ; {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(err, func() error { return r.ragged(len(fields)) })
		}
		for c.data[at] == '\n' || c.data[at] == '\r' { // empty lines
			at++
		}
		end, from := int(reader.InputOffset()), len(c.text)
		c.text = append(c.text, fields[r.column]...)
		c.records = append(c.records, c.data[at:end])
		c.keys = append(c.keys, c.text[from:len(c.text):len(c.text)])
		at = end
	}
}

func (r *records) csvReader(data []byte) *csv.Reader {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.Comma = rune(r.comma)
	return reader
}

// csvError says in which line of the data an error of CSV is.
func csvError(err error, ragged func() error) error {
	parse := (*csv.ParseError)(nil)
	if !errors.As(err, &parse) {
		return err
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return &lineError{parse.StartLine, ragged()}
	}
	return &lineError{parse.StartLine, fmt.Errorf("this is not CSV: %w", parse.Err)}
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
