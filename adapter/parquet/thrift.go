package bloomparquet

import (
	"encoding/binary"
	"fmt"
)

// scanner goes over Thrift's compact protocol. After an error it stays where it is.
type scanner struct {
	data []byte
	at   int
	err  error
}

// field is a field of a structure: its header is at from, its value at value, and it ends at to.
type field struct {
	id, kind        int
	from, value, to int
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

// value goes over a value that is not a field's boolean.
func (s *scanner) value(kind, nested int) {
	if nested > mostNesting {
		s.fail("values are nested more than %d levels deep", mostNesting)
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
		s.fail("unknown kind %d", kind)
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
		s.fail("malformed integer")
		return 0
	}
	s.at += n
	return v
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: at byte %d: %s", ErrFooter, s.at, fmt.Sprintf(format, args...))
	}
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
		s.fail("field %d is not a list of structures", f.id)
	}
	for ; n > 0 && s.err == nil; n-- {
		do(inner.structure(0))
	}
}

// integer returns the value of an integer field, or -1 of another one.
func (f field) integer(data []byte) int64 {
	if f.kind != kindI16 && f.kind != kindI32 && f.kind != kindI64 {
		return -1
	}
	v, _ := binary.Uvarint(data[f.value:f.to])
	return unzigzag(v)
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
