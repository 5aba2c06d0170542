package records

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// readRecords is what a command makes of an input: its header, its records and their keys, in which line
// an error is, and the error.
type readRecords struct {
	header  string
	records []string
	keys    []string
	line    int
	err     error
}

func (r readRecords) String() string {
	return fmt.Sprintf("header %q, records %q, keys %q", r.header, r.records, r.keys)
}

// FuzzCSV compares the header, the records, the keys of several columns and the errors of CSV with those
// of encoding/csv, in chunks and readings of one byte, and of some.
func FuzzCSV(f *testing.F) {
	const most = 1 << 10
	f.Fuzz(func(t *testing.T, data []byte, semicolon bool, size, reading uint8) {
		if len(data) > most {
			t.Skip("longer than inputs have to be")
		}
		r := layout{kind: fieldsOfCSV, delimiter: '\n', crlf: true, comma: ',', most: most, name: "a name that no field has"}
		if semicolon {
			r.comma = ';'
		}
		for i := range 2 * 3 {
			r.hasHeader, r.column = i%2 > 0, i/2
			want := readStandardCSV(data, r)
			for _, n := range []struct{ chunk, reading int }{{1, 1}, {int(size) + 2, int(reading) + 1}, {2 * most, 2 * most}, {1, 2 * most}} {
				got := readInChunks(r, &pieces{data, n.reading}, n.chunk)
				if got, want := got.String(), want.String(); got != want {
					t.Errorf("column %d, %+v:\n%s, want\n%s", r.column, n, got, want)
				}
				if got.line != want.line || (got.err == nil) != (want.err == nil) || isParseError(want.err) && !errors.Is(got.err, want.err) {
					t.Errorf("column %d, %+v: the error of line %d is %v, want that of line %d: %v", r.column, n, got.line, got.err, want.line, want.err)
				}
			}
		}
	})
}

func isParseError(err error) bool {
	return errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote)
}

// readStandardCSV reads an input with encoding/csv.
func readStandardCSV(data []byte, r layout) (want readRecords) {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.Comma = rune(r.comma)
	for first := true; ; first = false {
		at := reader.InputOffset()
		fields, err := reader.Read()
		parse := (*csv.ParseError)(nil)
		switch {
		case errors.Is(err, io.EOF):
			return want
		case errors.As(err, &parse):
			want.line, want.err = parse.StartLine, parse.Err
			return want
		case len(fields) <= r.column: // the first record, for the others have as many fields
			want.line, _ = reader.FieldPos(0)
			want.err = errors.New("too few fields")
			return want
		}
		record := data[at:reader.InputOffset()]
		for bytes.HasPrefix(record, []byte("\n")) || bytes.HasPrefix(record, []byte("\r\n")) { // empty lines
			record = record[bytes.IndexByte(record, '\n')+1:]
		}
		whole := string(record)
		if record[len(record)-1] != '\n' {
			whole += "\n"
		}
		if first && r.hasHeader {
			want.header = whole
			continue
		}
		want.records, want.keys = append(want.records, whole), append(want.keys, fields[r.column])
	}
}

// FuzzJSON compares what is an object of JSON, and the text of its member, with encoding/json.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b",{"c":[2,"\u00e9"]},[],null]}`), "a.*")
	f.Add([]byte(`{"a":[ 1 , {"c":[2,[3]]},{"c":[4]}, {"c":[ ]} ]}`), "a.*.c.*")
	f.Add([]byte(`["a"]`), "*")
	f.Fuzz(func(t *testing.T, line []byte, field string) {
		if len(line) == 0 || !utf8.Valid(line) || !utf8.ValidString(field) {
			t.Skip("an empty line is no record, and encoding/json replaces bytes that are no UTF-8")
		}
		path, err := pathOf(field)
		if err != nil {
			t.Skip("no JSON pointer")
		}
		r := layout{kind: membersOfJSON, name: field, path: path}
		want := standardMembers(line, standardPath(field))
		c := newChunk(0)
		err = r.appendMembers(c, line)
		var got []string
		for _, key := range c.Keys {
			got = append(got, string(key))
		}
		ok := len(want) > 0
		if ok && err != nil && strings.Contains(err.Error(), "max depth") {
			t.Skip("deeper than it may be")
		}
		if ok != (err == nil) || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	})
}

// standardPath returns the names in a field of JSON.
func standardPath(field string) (path []string) {
	if field[:min(1, len(field))] != "/" {
		return strings.Split(field, ".")
	}
	for _, name := range strings.Split(field, "/")[1:] {
		path = append(path, strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~"))
	}
	return path
}

// standardMembers returns the texts of the values at a path, if a line is an object.
func standardMembers(line []byte, path []string) []string {
	if !json.Valid(line) || bytes.TrimLeft(line, " \t\r\n")[0] != '{' {
		return nil
	}
	return standardInside(line, path)
}

func standardInside(value json.RawMessage, path []string) (texts []string) {
	if len(path) > 0 {
		var object map[string]json.RawMessage // of members of one name, the last
		var list []json.RawMessage
		place, err := strconv.Atoi(path[0])
		switch {
		case json.Unmarshal(value, &object) == nil:
			return standardInside(object[path[0]], path[1:])
		case json.Unmarshal(value, &list) != nil:
		case path[0] == "*":
			for _, element := range list {
				texts = append(texts, standardInside(element, path[1:])...)
			}
		case err == nil && strconv.Itoa(place) == path[0] && place >= 0 && place < len(list):
			return standardInside(list[place], path[1:])
		}
		return texts
	}
	if len(value) == 0 || bytes.IndexByte([]byte("{[n"), value[0]) >= 0 {
		return nil
	}
	if value[0] != '"' {
		return []string{string(value)}
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil
	}
	return []string{text}
}

// readInChunks reads an input in chunks of some bytes.
func readInChunks(r layout, in io.Reader, size int) (got readRecords) {
	text := NewText(in)
	header, err := r.takeHeader(text)
	if got.header = string(header); err != nil {
		return got.failed(err)
	}
	lines, c, newlines := newLineReader(text, &r, size), newChunk(size), r.headerLines
	for err == nil {
		err = lines.next(c)
		if len(c.data) == 0 {
			continue
		}
		r.split(c)
		for i, key := range c.Keys {
			got.keys, got.records = append(got.keys, string(key)), append(got.records, string(c.Record(i, r.delimiter)))
		}
		if c.err != nil {
			err = after(newlines, c.err)
		}
		newlines += c.newlines
		lines.release(c)
	}
	if errors.Is(err, io.EOF) {
		return got
	}
	return got.failed(err)
}

func (r readRecords) failed(err error) readRecords {
	r.err = err
	if at := (*lineError)(nil); errors.As(err, &at) {
		r.line, r.err = at.line, at.err
	}
	return r
}

// pieces is a reader that gives at most n bytes at a time.
type pieces struct {
	data []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.n)], p.data)
	p.data = p.data[n:]
	return n, nil
}
