package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrFooter says that a file does not end with a footer of Parquet, or that the footer is malformed.
var ErrFooter = errors.New("parquet: malformed footer")

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
		return nil, 0, fmt.Errorf("%w: the footer", ErrEncrypted)
	case magic:
		if start = size - tailSize64 - length; start < int64(len(magic)) {
			return nil, 0, fmt.Errorf("%w: a file of %d bytes says that its footer has %d", ErrFooter, size, length)
		}
		footer = make([]byte, length)
		return footer, start, readFrom(in, start, footer)
	}
	return nil, 0, fmt.Errorf("%w: the file ends with %q and not with %s", ErrFooter, tail[4:], magic)
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

// The kinds of Thrift's compact protocol.
const (
	kindTrue    = 1
	kindFalse   = 2
	kindByte    = 3
	kindI16     = 4
	kindI32     = 5
	kindI64     = 6
	kindDouble  = 7
	kindBinary  = 8
	kindList    = 9
	kindSet     = 10
	kindMap     = 11
	kindStruct  = 12
	kindUUID    = 13
	kindStop    = 0
	mostNesting = 64 // of values; a footer has less than ten
)

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

// field is a field of a structure: its header is at from, its value at value, and it ends at to.
type field struct {
	id, kind        int
	from, value, to int
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
						s.fail("metadata of the kind %d", f.kind)
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

// scanner goes over Thrift's compact protocol. After an error it stays where it is.
type scanner struct {
	data []byte
	at   int
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: at byte %d: %s", ErrFooter, s.at, fmt.Sprintf(format, args...))
	}
}

// skip goes over n bytes.
func (s *scanner) skip(n uint64) {
	if n > uint64(len(s.data)-s.at) {
		s.fail("it ends %d bytes too early", n-uint64(len(s.data)-s.at))
		return
	}
	s.at += int(n)
}

func (s *scanner) byte() byte {
	if s.skip(1); s.err != nil {
		return 0
	}
	return s.data[s.at-1]
}

func (s *scanner) varint() uint64 {
	v, n := binary.Uvarint(s.data[s.at:])
	if n <= 0 {
		s.fail("no integer")
		return 0
	}
	s.at += n
	return v
}

// structure goes over a structure and returns its fields. The last one is the stop field, of number 0.
func (s *scanner) structure(nested int) (fields []field) {
	id := 0
	for s.err == nil {
		f := field{from: s.at}
		header := s.byte()
		f.kind = int(header & 15)
		switch delta := int(header >> 4); {
		case f.kind == kindStop:
			id = 0
		case delta != 0:
			id += delta
		default:
			id = int(int16(unzigzag(s.varint())))
		}
		f.id, f.value = id, s.at
		if f.kind != kindStop && f.kind != kindTrue && f.kind != kindFalse { // a boolean is in the header
			s.value(f.kind, nested)
		}
		f.to = s.at
		fields = append(fields, f)
		if f.kind == kindStop {
			return fields
		}
	}
	return nil
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// value goes over a value that is not a field's boolean.
func (s *scanner) value(kind, nested int) {
	if nested > mostNesting {
		s.fail("more than %d values inside each other", mostNesting)
		return
	}
	switch kind {
	case kindTrue, kindFalse, kindByte:
		s.skip(1)
	case kindI16, kindI32, kindI64:
		s.varint()
	case kindDouble:
		s.skip(8)
	case kindUUID:
		s.skip(16)
	case kindBinary:
		s.skip(s.varint())
	case kindList, kindSet:
		n, element := s.list()
		for ; n > 0 && s.err == nil; n-- { // every element has a byte at least
			s.value(element, nested+1)
		}
	case kindMap:
		n := s.varint()
		if n == 0 {
			return
		}
		for kinds := s.byte(); n > 0 && s.err == nil; n-- {
			s.value(int(kinds>>4), nested+1)
			s.value(int(kinds&15), nested+1)
		}
	case kindStruct:
		s.structure(nested + 1)
	default:
		s.fail("kind %d", kind)
	}
}

// list goes over the head of a list and returns the number and the kind of its elements.
func (s *scanner) list() (n uint64, kind int) {
	header := s.byte()
	if n = uint64(header >> 4); n == 15 {
		n = s.varint()
	}
	return n, int(header & 15)
}

// again returns the fields of the structure that a field has, which the scanner went over before.
func (s *scanner) again(f field) []field {
	inner := scanner{data: s.data[:f.to], at: f.value}
	return inner.structure(0)
}

// each calls do with each structure of the list that a field has.
func (s *scanner) each(f field, do func(fields []field)) {
	if s.err != nil {
		return
	}
	inner := scanner{data: s.data[:f.to], at: f.value}
	n, kind := inner.list()
	if f.kind != kindList || n > 0 && kind != kindStruct {
		s.fail("field %d is no list of structures", f.id)
	}
	for ; n > 0 && s.err == nil; n-- {
		do(inner.structure(0))
	}
}

// placement is the place of a filter in a file, and its entry of the mark.
type placement struct {
	offset, length int64
	mark           marking
}

// placeFilters returns a footer in which some column chunks have filters at other places, and the entries of these in order. All
// other bytes are as they were, except for the header of the field after the two that tell the place.
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

// appendFields appends a structure of a footer with some new fields, in the order of their numbers. They replace those of the
// same numbers.
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

// integer returns the value of an integer field, or -1 of another one.
func (f field) integer(data []byte) int64 {
	if f.kind != kindI16 && f.kind != kindI32 && f.kind != kindI64 {
		return -1
	}
	v, _ := binary.Uvarint(data[f.value:f.to])
	return unzigzag(v)
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

// text returns the value of a field of bytes.
func text(footer []byte, fields []field, id int) string {
	for _, f := range fields {
		if f.id == id && f.kind == kindBinary {
			_, n := binary.Uvarint(footer[f.value:f.to])
			return string(footer[f.value+n : f.to])
		}
	}
	return ""
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
