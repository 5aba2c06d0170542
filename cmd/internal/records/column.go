package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Column returns the keys in a column of CSV, or in a member of lines of JSON: the first byte of an input of JSON is
// a brace. It returns the line of each, too. The column of CSV has the name in the first record, or, if the
// name is a number, that place from 1 in records without a header. Fields are separated by a comma, or by a semicolon,
// a tab or a bar if the first record has the column then. A member is named as [Path] says.
//
// A null is no key: in JSON, in CSV an empty field without quotes. A line of JSON without the member has no key
// either, with a warning; it is an error if no line has it. Other errors and warnings are those of Lines.
func (o TextOptions) Column(name string, in io.Reader, column string, warn func(text string)) (keys [][]byte, lines []int, err error) {
	o.CRLF = true
	text, err := o.Open(name, in, warn)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(text)
	if err != nil {
		return nil, nil, err
	}
	c := &columnReader{rest: data, line: 1}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		c.rest = append(c.rest, '\n')
	}
	if c.skipEmpty(); len(c.rest) == 0 {
		return nil, nil, nil
	}
	first, _, _ := bytes.Cut(c.rest, []byte("\n"))
	read := c.readCSV
	if bytes.TrimLeft(c.rest, " \t")[0] == '{' {
		read = c.readJSON
	}
	if err := read(column); err != nil {
		if hint := LineHint(first); hint != "" && !strings.HasSuffix(err.Error(), hint) {
			err = fmt.Errorf("%w%s", err, hint)
		}
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.missing > 0 {
		warn(fmt.Sprintf("%d of %d lines have no member %q, and so no key", c.missing, c.records, column))
	}
	return c.keys, c.lines, nil
}

// columnReader reads the keys of a column. Those that stand in the input as they are refer to its memory.
type columnReader struct {
	rest    []byte // of the input
	line    int    // that the rest begins with, from 1
	keys    [][]byte
	lines   []int // of the keys
	records int
	missing int // lines of JSON without the member
}

func (c *columnReader) add(key []byte) {
	c.keys, c.lines = append(c.keys, key), append(c.lines, c.line)
}

// wrong is the error of the line that the rest begins with.
func (c *columnReader) wrong(err error) error { return fmt.Errorf("line %d: %w", c.line, err) }

// skip goes on behind so many bytes.
func (c *columnReader) skip(n int) {
	c.line += bytes.Count(c.rest[:n], []byte{'\n'})
	c.rest = c.rest[n:]
}

// skipEmpty goes on behind empty lines, which are no records.
func (c *columnReader) skipEmpty() {
	for bytes.HasPrefix(c.rest, []byte("\n")) || bytes.HasPrefix(c.rest, []byte("\r\n")) {
		c.skip(bytes.IndexByte(c.rest, '\n') + 1)
	}
}

func (c *columnReader) readCSV(column string) error {
	comma, place, columns, err := c.findCSV(column)
	if err != nil {
		return c.wrong(err)
	}
	for c.skipEmpty(); len(c.rest) > 0; c.skipEmpty() {
		record := NewCSVRecord(c.rest, comma)
		var key []byte
		n := 0
		for more := true; more; n++ {
			quoted := c.rest[record.End] == '"'
			var field []byte
			if field, more, err = record.Next(); err != nil {
				return c.wrong(err)
			}
			switch {
			case n != place:
			case quoted && bytes.ContainsAny(field, "\"\r"):
				key = AppendCSVText([]byte{}, field)
			case quoted || len(field) > 0:
				key = field
			}
		}
		switch {
		case n != columns:
			return c.wrong(fmt.Errorf("the fields are %d, and those of the first record %d", n, columns))
		case bytes.IndexByte(key, 0) >= 0:
			return c.wrong(errors.New("the key has a NUL byte: this is no text"))
		case key != nil:
			c.add(key)
		}
		c.skip(record.End)
	}
	return nil
}

// findCSV returns the separator of CSV, the place of a column from 0, and the number of columns. It goes on behind the
// header, if there is one.
func (c *columnReader) findCSV(column string) (comma byte, place, columns int, err error) {
	number, err := strconv.ParseUint(column, 10, 31)
	isNumber := err == nil && number > 0
	var first []string
	for _, comma := range []byte(",;\t|") {
		fields, end, err := csvFields(c.rest, comma)
		if err != nil && comma == ',' {
			return 0, 0, 0, err
		}
		if comma == ',' {
			first = fields
		}
		switch place := slices.Index(fields, column); {
		case err != nil:
		case isNumber && int(number) <= len(fields) && (comma == ',' || len(fields) > 1):
			return comma, int(number) - 1, len(fields), nil
		case isNumber || place < 0:
		case slices.Contains(fields[place+1:], column):
			return 0, 0, 0, fmt.Errorf("several columns have the name %q", column)
		default:
			c.skip(end)
			return comma, place, len(fields), nil
		}
	}
	if len(first) > 1 {
		return 0, 0, 0, fmt.Errorf("there is no column %q: the first record has %s", column, shorten(first))
	}
	return 0, 0, 0, fmt.Errorf("there is no column %q: the first record has %s; without a column, each line is a key", column, shorten(first))
}

// csvFields returns the texts of the fields of the first record of data, and where it ends.
func csvFields(data []byte, comma byte) (fields []string, end int, err error) {
	record := NewCSVRecord(data, comma)
	for more := true; more; {
		var field []byte
		if field, more, err = record.Next(); err != nil {
			return nil, 0, err
		}
		fields = append(fields, string(AppendCSVText(nil, field)))
	}
	return fields, record.End, nil
}

// shorten returns names for a message.
func shorten(names []string) string {
	const most = 200
	if text := fmt.Sprintf("%q", names); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(fmt.Sprintf("%q", names)[:most], "") + "…"
}

func (c *columnReader) readJSON(column string) error {
	path, err := Path(column)
	if err != nil {
		return err
	}
	var first []byte
	for c.skipEmpty(); len(c.rest) > 0; c.skipEmpty() {
		end := bytes.IndexByte(c.rest, '\n') + 1
		if line := bytes.TrimSpace(c.rest[:end]); len(line) > 0 {
			c.records++
			key, err := memberOf(line, path)
			switch {
			case errors.Is(err, errMissing):
				if c.missing++; c.missing == 1 {
					first = line
				}
			case err != nil:
				return c.wrong(err)
			case key != nil:
				c.add(key)
			}
		}
		c.skip(end)
	}
	if c.missing == c.records {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(first, &members) // no error: the line is an object
		return fmt.Errorf("no line has a member %q: the first has %s", column, shorten(slices.Sorted(maps.Keys(members))))
	}
	return nil
}

// errMissing says that an object lacks a member.
var errMissing = errors.New("no such member")

// memberOf returns the text of a member of an object, or nil if it is null.
func memberOf(line []byte, path []string) ([]byte, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("this is not JSON: it is not UTF-8")
	}
	if line[0] != '{' {
		return nil, fmt.Errorf("this is no object of JSON: each line must be one%s", LineHint(line))
	}
	value := json.RawMessage(line)
	for i, name := range path {
		if value[0] == '[' && i > 0 {
			var list []json.RawMessage
			err := json.Unmarshal(value, &list)
			place, isPlace := strconv.ParseUint(name, 10, 31)
			if err != nil || isPlace != nil || place >= uint64(len(list)) {
				return nil, errMissing
			}
			value = list[place]
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil && i == 0 {
			return nil, fmt.Errorf("this is not JSON: %w%s", err, LineHint(line))
		}
		if value = members[name]; value == nil {
			return nil, errMissing
		}
	}
	switch value[0] {
	case 'n':
		return nil, nil
	case '"':
		var text string
		err := json.Unmarshal(value, &text)
		return []byte(text), err
	case '[', '{':
		return nil, fmt.Errorf("the member %q is no string, number or boolean, but a list or an object", path[len(path)-1])
	}
	return value, nil
}
