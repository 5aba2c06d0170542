package records

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
)

// csvRecord walks over the fields of the first record of data, which ends with a newline. It takes and
// refuses what encoding/csv does. That package alone takes longer to read records than all of bloom filter takes
// with this type.
type csvRecord struct {
	data    []byte
	comma   byte
	end     int // where the next field begins; at last, where the record ends
	newline int // the first one after a place before end
}

// csvRecord returns a walk over the first record of data.
func (r *layout) csvRecord(data []byte) csvRecord {
	return csvRecord{data: data, comma: r.comma, newline: -1}
}

// next returns the next field, as it is between its quotes, and whether more follow.
func (r *csvRecord) next() (field []byte, more bool, err error) {
	if r.data[r.end] == '"' {
		return r.nextQuoted()
	}
	if r.newline < r.end {
		r.newline = r.end + bytes.IndexByte(r.data[r.end:], '\n')
	}
	field = r.data[r.end:r.newline]
	if end := bytes.IndexByte(field, r.comma); end >= 0 {
		field, more = field[:end], true
		r.end += end + 1
	} else {
		field = bytes.TrimSuffix(field, []byte{'\r'})
		r.end = r.newline + 1
	}
	if bytes.IndexByte(field, '"') >= 0 {
		return nil, false, notCSV(csv.ErrBareQuote)
	}
	return field, more, nil
}

// nextQuoted is next for a field in quotes.
func (r *csvRecord) nextQuoted() (field []byte, more bool, err error) {
	from := r.end + 1
	end := from
	for {
		i := bytes.IndexByte(r.data[end:], '"')
		if i < 0 {
			return nil, false, notCSV(csv.ErrQuote)
		}
		end += i
		if r.data[end+1] != '"' {
			break
		}
		end += 2
	}
	switch rest := r.data[end+1:]; {
	case rest[0] == r.comma:
		r.end, more = end+2, true
	case rest[0] == '\n':
		r.end = end + 2
	case rest[0] == '\r' && rest[1] == '\n':
		r.end = end + 3
	default:
		return nil, false, notCSV(csv.ErrQuote)
	}
	return r.data[from:end], more, nil
}

func notCSV(err error) error { return fmt.Errorf("this is not CSV: %w", err) }

// csvText returns the text of a field: doubled quotes are one, and CRLF is a newline. If that differs from the bytes of the field,
// the text is in the memory of c.text.
func (c *Chunk) csvText(field []byte) []byte {
	if bytes.IndexByte(field, '"') < 0 && bytes.IndexByte(field, '\r') < 0 {
		return field[:len(field):len(field)]
	}
	c.text = slices.Grow(c.text, len(field))
	from := len(c.text)
	for i := 0; i < len(field); i++ {
		if field[i] == '\r' && i+1 < len(field) && field[i+1] == '\n' {
			continue
		}
		c.text = append(c.text, field[i])
		if field[i] == '"' {
			i++
		}
	}
	return c.text[from:len(c.text):len(c.text)]
}

// quotedRecord returns the key of the first record of data, and where the record ends. Some of its fields have quotes.
func (r *layout) quotedRecord(c *Chunk, data []byte) (key []byte, end int, err error) {
	record := r.csvRecord(data)
	n, isNull := 0, false
	for more := true; more; n++ {
		quoted := data[record.end] == '"'
		var field []byte
		if field, more, err = record.next(); err != nil {
			return nil, 0, err
		}
		if n == r.column {
			key, isNull = field, len(field) == 0 && !quoted
		}
	}
	if n != r.columns {
		return nil, record.end, r.ragged(n)
	}
	return c.csvText(key), record.end, r.nullIf(isNull)
}

// ragged is the error of a record with another number of fields than the first.
func (r *layout) ragged(n int) error {
	why := func() string {
		return fmt.Sprintf("the number of fields is %d, but the first record has %d", n, r.columns)
	}
	if n <= r.column {
		return &noKeyError{why}
	}
	return errors.New(why())
}

// csvFields returns the texts of the fields of a record.
func (r *layout) csvFields(data []byte) (fields []string, err error) {
	record := r.csvRecord(data)
	for more := true; more; {
		var field []byte
		if field, more, err = record.next(); err != nil {
			return nil, err
		}
		fields = append(fields, string(new(Chunk).csvText(field)))
	}
	return fields, nil
}

// skipEmptyLines takes the empty lines before the first record of CSV off an input.
func (r *layout) skipEmptyLines(text *Text) {
	for {
		text.Fill(func(head []byte) bool { return len(head) > 0 && string(head) != "\r" })
		rest := text.Head
		for bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n")) {
			rest = rest[bytes.IndexByte(rest, '\n')+1:]
			r.headerLines++
		}
		if len(rest) == len(text.Head) {
			break
		}
		text.Head = text.Head[:copy(text.Head, rest)]
	}
	if string(text.Head) == "\r" && errors.Is(text.Err, io.EOF) {
		text.Head = nil
	}
}
