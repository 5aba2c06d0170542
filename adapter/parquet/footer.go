package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// A file ends with its footer, the length of the footer and a magic word.
const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	tailSize       = 4 + len(magic)
)

// readFooter returns the footer of a file, and where it begins.
func readFooter(in io.ReadSeeker) (footer []byte, start int64, err error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	tail := make([]byte, tailSize)
	if size < int64(len(magic)+tailSize) {
		return nil, 0, fmt.Errorf("%w: the file has %d bytes", ErrFooter, size)
	}
	if err := readFrom(in, size-tailSize64, tail); err != nil {
		return nil, 0, err
	}
	switch length := int64(binary.LittleEndian.Uint32(tail)); string(tail[4:]) {
	case magicEncrypted:
		return nil, 0, fmt.Errorf("%w: the footer is encrypted", ErrEncrypted)
	case magic:
		if start = size - tailSize64 - length; start < int64(len(magic)) {
			return nil, 0, fmt.Errorf("%w: a file of %d bytes claims a footer of %d", ErrFooter, size, length)
		}
		footer = make([]byte, length)
		return footer, start, readFrom(in, start, footer)
	}
	return nil, 0, fmt.Errorf("%w: the file ends with %q, not with %s", ErrFooter, tail[4:], magic)
}

const tailSize64 = int64(tailSize)

// readFrom fills data with the bytes at an offset.
func readFrom(in io.ReadSeeker, offset int64, data []byte) error {
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err := io.ReadFull(in, data)
	return err
}

// The numbers of the fields on the way to the place of a filter: those of FileMetaData, RowGroup, ColumnChunk
// and ColumnMetaData in parquet.thrift.
const (
	fieldRowGroups    = 4
	fieldKeyValues    = 5
	fieldEncryption   = 8
	fieldColumns      = 1
	fieldFilePath     = 1
	fieldMetaData     = 3
	fieldCrypto       = 8
	fieldValues       = 5
	fieldPagesSize    = 7
	fieldPagesOffset  = 9
	fieldFilterOffset = 14
	fieldFilterLength = 15
	fieldKey          = 1 // of a KeyValue
	fieldValue        = 2
)

// footerChunk is a column chunk in the bytes of a footer.
type footerChunk struct {
	fields    []field // of its metadata
	encrypted bool
	elsewhere bool // the chunk is in another file
}

// parseFooter returns the column chunks of each row group. It goes over every byte of the footer's structure and
// copies none. It returns [ErrEncrypted] for a footer that is signed, which no change survives.
func parseFooter(footer []byte) (groups [][]footerChunk, err error) {
	s := scanner{data: footer}
	for _, f := range s.structure(0) {
		switch f.id {
		case fieldEncryption:
			return nil, fmt.Errorf("%w: the footer is signed", ErrEncrypted)
		case fieldRowGroups:
			s.each(f, func(group []field) { groups = append(groups, s.chunks(group)) })
		}
	}
	return groups, s.err
}

// chunks returns the column chunks of a row group.
func (s *scanner) chunks(group []field) (chunks []footerChunk) {
	for _, f := range group {
		if f.id != fieldColumns {
			continue
		}
		s.each(f, func(chunk []field) {
			var c footerChunk
			for _, f := range chunk {
				switch f.id {
				case fieldFilePath:
					c.elsewhere = f.to-f.value > 1 // an empty path is this file
				case fieldCrypto:
					c.encrypted = true
				case fieldMetaData:
					if f.kind != kindStruct {
						s.fail("the metadata has the kind %d", f.kind)
						return
					}
					c.fields = s.again(f)
				}
			}
			chunks = append(chunks, c)
		})
	}
	return chunks
}

// placement is the place of a filter in a file, and its entry of the mark.
type placement struct {
	offset, length int64
	mark           marking
}

// placeFilters returns a footer in which some column chunks have filters at other places, and the entries of
// these in order. All other bytes are as they were, except for the header of the field after the two that
// tell the place.
func placeFilters(footer []byte, chunks map[*footerChunk]placement) (dst []byte, marks []marking) {
	order := make([]*footerChunk, 0, len(chunks))
	for c := range chunks {
		order = append(order, c)
	}
	slices.SortFunc(order, func(a, b *footerChunk) int { return a.fields[0].from - b.fields[0].from })
	at := 0
	for _, c := range order {
		dst = append(dst, footer[at:c.fields[0].from]...)
		dst = c.appendMetaData(dst, footer, chunks[c])
		at, marks = c.fields[len(c.fields)-1].to, append(marks, chunks[c].mark)
	}
	return append(dst, footer[at:]...), marks
}

// appendMetaData appends the metadata of a column chunk with the place of its filter.
func (c *footerChunk) appendMetaData(dst, footer []byte, p placement) []byte {
	return appendFields(dst, footer, c.fields, []newField{
		{fieldFilterOffset, kindI64, binary.AppendVarint(nil, p.offset)},
		{fieldFilterLength, kindI32, binary.AppendVarint(nil, p.length)},
	})
}

// newField is a field that a structure gets.
type newField struct {
	id, kind int
	value    []byte
}

// appendFields appends a structure of a footer with some new fields, in the order of their numbers. They
// replace those of the same numbers.
func appendFields(dst, footer []byte, fields []field, added []newField) []byte {
	was, last := 0, 0 // the number of the field before: was in the footer, last in dst
	rest := added
	for _, f := range fields {
		for len(rest) > 0 && (f.id > rest[0].id || f.kind == kindStop) {
			dst = append(appendFieldHeader(dst, rest[0].kind, rest[0].id, last), rest[0].value...)
			last, rest = rest[0].id, rest[1:]
		}
		switch {
		case f.kind == kindStop:
			dst = append(dst, kindStop)
		case slices.ContainsFunc(added, func(n newField) bool { return n.id == f.id }):
			was = f.id
		case was == last:
			dst = append(dst, footer[f.from:f.to]...)
			was, last = f.id, f.id
		default:
			dst = appendFieldHeader(dst, f.kind, f.id, last)
			dst = append(dst, footer[f.value:f.to]...)
			was, last = f.id, f.id
		}
	}
	return dst
}

// appendFieldHeader appends the header of a field that follows the field last.
func appendFieldHeader(dst []byte, kind, id, last int) []byte {
	if delta := id - last; delta >= 1 && delta <= 15 {
		return append(dst, byte(delta<<4|kind))
	}
	return binary.AppendVarint(append(dst, byte(kind)), int64(id))
}

// hasFilter reports whether the footer tells the place of a filter.
func (c *footerChunk) hasFilter(footer []byte) bool {
	i := slices.IndexFunc(c.fields, func(f field) bool { return f.id == fieldFilterOffset && f.kind == kindI64 })
	return i >= 0 && !bytes.Equal(footer[c.fields[i].value:c.fields[i].to], []byte{0})
}

// place returns where the pages of a chunk are.
func (c *footerChunk) place(footer []byte) (p Place) {
	for _, f := range c.fields {
		switch f.id {
		case fieldValues:
			p.Values = f.integer(footer)
		case fieldPagesOffset:
			p.Offset = f.integer(footer)
		case fieldPagesSize:
			p.Size = f.integer(footer)
		}
	}
	return p
}

// markOf returns the mark of a footer, or "".
func markOf(footer []byte) (mark string, err error) {
	s := scanner{data: footer}
	for _, f := range s.structure(0) {
		if f.id == fieldKeyValues {
			s.each(f, func(kv []field) {
				if text(footer, kv, fieldKey) == MarkKey {
					mark = text(footer, kv, fieldValue)
				}
			})
		}
	}
	return mark, s.err
}

// withMark returns a footer with a mark, which replaces a mark that is there.
func withMark(footer []byte, mark string) []byte {
	s := scanner{data: footer}
	fields := s.structure(0)
	var others []byte
	n := 1
	for _, f := range fields {
		if f.id == fieldKeyValues {
			s.each(f, func(kv []field) {
				if len(kv) > 0 && text(footer, kv, fieldKey) != MarkKey {
					n, others = n+1, append(others, footer[kv[0].from:kv[len(kv)-1].to]...)
				}
			})
		}
	}
	list := []byte{byte(n<<4 | kindStruct)}
	if n >= 15 {
		list = binary.AppendUvarint([]byte{15<<4 | kindStruct}, uint64(n))
	}
	list = append(list, others...)
	for i, t := range []string{MarkKey, mark} { // the fields of a KeyValue
		list = appendFieldHeader(list, kindBinary, fieldKey+i, i)
		list = append(binary.AppendUvarint(list, uint64(len(t))), t...)
	}
	list = append(list, kindStop)
	return append(appendFields(nil, footer, fields, []newField{{fieldKeyValues, kindList, list}}), footer[s.at:]...)
}
