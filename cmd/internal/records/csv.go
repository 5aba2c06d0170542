package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// csvText returns the text of a field: doubled quotes are one, and CRLF is a newline. If that differs from the bytes of the field,
// the text is in the memory of c.text.
func (c *Chunk) csvText(field []byte) []byte {
	if bytes.IndexByte(field, '"') < 0 && bytes.IndexByte(field, '\r') < 0 {
		return field[:len(field):len(field)]
	}
	c.text = slices.Grow(c.text, len(field))
	from := len(c.text)
	c.text = AppendCSVText(c.text, field)
	return c.text[from:len(c.text):len(c.text)]
}

// quotedRecord returns the key of the first record of data, of which some fields have quotes, and where
// the record ends.
func (r *layout) quotedRecord(c *Chunk, data []byte) (key []byte, end int, err error) {
	record := NewCSVRecord(data, r.comma)
	n, isNull := 0, false
	for more := true; more; n++ {
		quoted := data[record.End] == '"'
		var field []byte
		if field, more, err = record.Next(); err != nil {
			return nil, 0, err
		}
		if n == r.column {
			key, isNull = field, len(field) == 0 && !quoted
		}
	}
	if n != r.columns {
		return nil, record.End, r.ragged(n)
	}
	return c.csvText(key), record.End, r.nullIf(isNull)
}

// ragged is the error of a record with another number of fields than the first.
func (r *layout) ragged(n int) error {
	why := func() string { return fmt.Sprintf("the fields are %d, and those of the first record %d", n, r.columns) }
	if n <= r.column {
		return &noKeyError{why}
	}
	return errors.New(why())
}

// csvFields returns the texts of the fields of a record.
func (r *layout) csvFields(data []byte) (fields []string, err error) {
	record := NewCSVRecord(data, r.comma)
	for more := true; more; {
		var field []byte
		if field, more, err = record.Next(); err != nil {
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
