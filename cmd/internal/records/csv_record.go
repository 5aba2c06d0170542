package records

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// CSVRecord walks over the fields of the first record of data, which ends with a newline. It takes and
// refuses what encoding/csv does; that package's memory grows with the number of fields, and it does not
// tell where a record begins.
type CSVRecord struct {
	data    []byte
	comma   byte
	End     int // where the next field begins; at last, where the record ends
	newline int // the first one after a place before End
}

// NewCSVRecord returns a walk over the first record of data, whose fields a comma separates, or another character.
func NewCSVRecord(data []byte, comma byte) CSVRecord {
	return CSVRecord{data: data, comma: comma, newline: -1}
}

// Next returns the next field, as it is between its quotes, and whether more follow.
func (r *CSVRecord) Next() (field []byte, more bool, err error) {
	if r.data[r.End] == '"' {
		return r.nextQuoted()
	}
	if r.newline < r.End {
		r.newline = r.End + bytes.IndexByte(r.data[r.End:], '\n')
	}
	field = r.data[r.End:r.newline]
	if end := bytes.IndexByte(field, r.comma); end >= 0 {
		field, more = field[:end], true
		r.End += end + 1
	} else {
		field = bytes.TrimSuffix(field, []byte{'\r'})
		r.End = r.newline + 1
	}
	if bytes.IndexByte(field, '"') >= 0 {
		return nil, false, notCSV(csv.ErrBareQuote)
	}
	return field, more, nil
}

// nextQuoted is Next for a field in quotes.
func (r *CSVRecord) nextQuoted() (field []byte, more bool, err error) {
	from := r.End + 1
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
		r.End, more = end+2, true
	case rest[0] == '\n':
		r.End = end + 2
	case rest[0] == '\r' && rest[1] == '\n':
		r.End = end + 3
	default:
		return nil, false, notCSV(csv.ErrQuote)
	}
	return r.data[from:end], more, nil
}

func notCSV(err error) error { return fmt.Errorf("this is not CSV: %w", err) }

// AppendCSVText appends the text of a field to dst: doubled quotes are one, and CRLF is a newline.
func AppendCSVText(dst, field []byte) []byte {
	for i := 0; i < len(field); i++ {
		if field[i] == '\r' && i+1 < len(field) && field[i+1] == '\n' {
			continue
		}
		dst = append(dst, field[i])
		if field[i] == '"' {
			i++
		}
	}
	return dst
}
