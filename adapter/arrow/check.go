package bloomarrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// checker finds arrays that would make arrow-go's Take read outside of their buffers, or reserve
// memory that the buffers do not account for. Take runs on goroutines of its own, where nobody can
// recover from a panic. The checker reads what Take reads: the lengths of all buffers, and the
// offsets and indices of the rows that are taken.
type checker struct {
	// The last dictionary whose values were all checked. Only its address counts, as that of
	// the dictionary of a query.
	dictionary arrow.ArrayData
}

// selection is rows in ascending order. Nil positions are all n rows.
type selection struct {
	positions []uint32
	n         int
}

func all(n int) selection { return selection{nil, n} }

func some(positions []uint32) selection { return selection{positions, len(positions)} }

// at returns row number i of the selection.
func (r selection) at(i int) int {
	if r.positions != nil {
		return int(r.positions[i])
	}
	return i
}

// check checks rows of an array.
func (c *checker) check(s span, rows selection) error {
	if _, _, err := s.nulls(); err != nil {
		return err
	}
	switch t := s.dtype.(type) {
	case *arrow.NullType:
		return nil
	case *arrow.BooleanType:
		return s.checkBits()
	case *arrow.StringType, *arrow.BinaryType:
		return checkOffsets[int32](s, rows, len(s.bytes(2)), nil)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return checkOffsets[int64](s, rows, len(s.bytes(2)), nil)
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return s.checkViews(rows)
	case *arrow.ListType:
		return checkList[int32](c, s, t.Elem(), rows)
	case *arrow.MapType:
		return checkList[int32](c, s, t.Elem(), rows)
	case *arrow.LargeListType:
		return checkList[int64](c, s, t.Elem(), rows)
	case *arrow.FixedSizeListType:
		return c.checkFixedSizeList(s, t, rows)
	case *arrow.StructType:
		return c.checkFields(s, t.Fields(), rows)
	case *arrow.SparseUnionType:
		if err := checkCodes(s, t, rows); err != nil {
			return err
		}
		return c.checkFields(s, t.Fields(), rows)
	case *arrow.DenseUnionType:
		return c.checkDenseUnion(s, t, rows)
	case *arrow.DictionaryType:
		return c.checkDictionary(s, t, rows)
	case *arrow.RunEndEncodedType:
		return c.checkRuns(s, t)
	case arrow.FixedWidthDataType:
		return s.checkWidth(t.Bytes())
	}
	return fmt.Errorf("%w: rows of %v", arrow.ErrNotImplemented, s.dtype)
}

// checkWidth checks that there are bytes for all rows.
func (s span) checkWidth(width int) error {
	if width == 0 {
		return nil
	}
	_, err := s.fixed(width)
	return err
}

// checkBits checks that there are bits for all rows.
func (s span) checkBits() error {
	if bits, rows := s.bytes(1), s.offset+s.n; s.n > 0 && len(bits) <= (rows-1)/8 {
		return fmt.Errorf("%w: %d bytes are too few for %d rows of one bit", ErrArray, len(bits), rows)
	}
	return nil
}

// checkOffsets checks that the offsets of rows ascend, and that none leads past the end. It calls
// found, if that is not nil, with the range of each row.
func checkOffsets[E int32 | int64](s span, rows selection, end int, found func(from, to int)) error {
	if s.n == 0 { // there may be no buffer
		return nil
	}
	s.n++
	offsets, err := elements[E](s)
	if err != nil {
		return err
	}
	at, last := offsets[0], offsets[len(offsets)-1]
	if at < 0 || last < at || int64(last) > int64(end) {
		return fmt.Errorf("%w: offsets from %d to %d for %d values", ErrArray, at, last, end)
	}
	for i := range rows.n {
		row := rows.at(i)
		from, to := offsets[row], offsets[row+1]
		if from < at || to < from || to > last {
			return fmt.Errorf("%w: row %d has offsets %d and %d", ErrArray, row, from, to)
		}
		at = to
		if found != nil {
			found(int(from), int(to))
		}
	}
	return nil
}

// checkViews checks that views are within their buffers.
func (s span) checkViews(rows selection) error {
	bytes, err := s.fixed(arrow.ViewHeaderSizeBytes)
	if err != nil {
		return err
	}
	nulls, offset, err := s.nulls()
	if err != nil {
		return err
	}
	headers := arrow.GetData[arrow.ViewHeader](bytes)
	for i := range rows.n {
		row := rows.at(i)
		h := &headers[row]
		if nulls != nil && !bitutil.BitIsSet(nulls, offset+row) {
			continue
		}
		if n := h.Len(); n < 0 || !h.IsInline() &&
			(h.BufferIndex() < 0 || h.BufferOffset() < 0 || int64(h.BufferOffset())+int64(n) > int64(len(s.bytes(2+int(h.BufferIndex()))))) {
			return fmt.Errorf("%w: the view of row %d is not within its buffer", ErrArray, row)
		}
	}
	return nil
}

// checkList checks lists and their values.
func checkList[E int32 | int64](c *checker, s span, dtype arrow.DataType, rows selection) error {
	values, err := s.child(0, dtype)
	if err != nil {
		return err
	}
	elements := elementsOf(values)
	if err := checkOffsets[E](s, rows, values.n, elements.add); err != nil {
		return err
	}
	return c.check(values, elements.selection())
}

// checkFixedSizeList checks lists that have one length, and their values.
func (c *checker) checkFixedSizeList(s span, t *arrow.FixedSizeListType, rows selection) error {
	values, err := s.child(0, t.Elem())
	if err != nil {
		return err
	}
	length := int(t.Len())
	if length < 0 || length > 0 && values.n/length < s.offset+s.n {
		return fmt.Errorf("%w: %d values for %d lists of %d", ErrArray, values.n, s.offset+s.n, length)
	}
	elements := elementsOf(values)
	for i := range rows.n {
		from := (s.offset + rows.at(i)) * length
		elements.add(from, from+length)
	}
	return c.check(values, elements.selection())
}

// listElements collects the rows of the values of lists.
type listElements struct {
	each      bool // a check of the values looks at each row
	positions []uint32
}

func elementsOf(values span) *listElements {
	_, fixed := values.dtype.(arrow.FixedWidthDataType)
	_, dictionary := values.dtype.(*arrow.DictionaryType)
	return &listElements{each: !fixed || dictionary, positions: []uint32{}}
}

func (l *listElements) add(from, to int) {
	for i := from; l.each && i < to; i++ {
		l.positions = append(l.positions, uint32(i))
	}
}

func (l *listElements) selection() selection { return some(l.positions) }

// checkFields checks the children of a struct or a sparse union, which have its rows.
func (c *checker) checkFields(s span, fields []arrow.Field, rows selection) error {
	for i, field := range fields {
		values, err := s.child(i, field.Type)
		if err != nil {
			return err
		}
		if values.n < s.offset+s.n {
			return fmt.Errorf("%w: %d values of field %q for %d rows", ErrArray, values.n, field.Name, s.offset+s.n)
		}
		values.offset, values.n = values.offset+s.offset, s.n
		if err := c.check(values, rows); err != nil {
			return err
		}
	}
	return nil
}

// checkCodes checks that a union has each type that a row names.
func checkCodes(s span, t arrow.UnionType, rows selection) error {
	codes, err := elements[int8](s)
	if err != nil {
		return err
	}
	ids := t.ChildIDs()
	for i := range rows.n {
		if code := codes[rows.at(i)]; code < 0 || ids[code] == arrow.InvalidUnionChildID {
			return fmt.Errorf("%w: row %d of a union has the type %d, which it does not declare", ErrArray, rows.at(i), code)
		}
	}
	return nil
}

// checkDenseUnion checks the rows of a dense union, and the values that they refer to.
func (c *checker) checkDenseUnion(s span, t *arrow.DenseUnionType, rows selection) error {
	if err := checkCodes(s, t, rows); err != nil {
		return err
	}
	offsets := arrow.GetData[int32](s.bytes(2))
	if len(offsets) < s.offset+s.n {
		return fmt.Errorf("%w: %d offsets for %d rows", ErrArray, len(offsets), s.offset+s.n)
	}
	codes, err := elements[int8](s)
	if err != nil {
		return err
	}
	children := make([]span, t.NumFields())
	for i, field := range t.Fields() {
		if children[i], err = s.child(i, field.Type); err == nil {
			err = c.check(children[i], all(children[i].n))
		}
		if err != nil {
			return err
		}
	}
	for i := range rows.n {
		row := rows.at(i)
		if child, at := t.ChildIDs()[codes[row]], offsets[s.offset+row]; at < 0 || int(at) >= children[child].n {
			return fmt.Errorf("%w: row %d refers to value %d of %d", ErrArray, row, at, children[child].n)
		}
	}
	return nil
}

// checkDictionary checks indices, and all values: Take keeps them.
func (c *checker) checkDictionary(s span, t *arrow.DictionaryType, rows selection) error {
	values, err := dictionaryOf(s, t)
	if err != nil {
		return err
	}
	if c.dictionary != values.data {
		if err := c.check(values, all(values.n)); err != nil {
			return err
		}
		c.dictionary = values.data
	}
	nulls, offset, err := s.nulls()
	if err != nil {
		return err
	}
	index, err := indicesOf(s, t)
	if err != nil {
		return err
	}
	for i := range rows.n {
		row := rows.at(i)
		if (nulls == nil || bitutil.BitIsSet(nulls, offset+row)) && index.at(row) >= uint64(values.n) {
			return fmt.Errorf("%w: row %d refers to value %d of %d", ErrArray, row, index.at(row), values.n)
		}
	}
	return nil
}

// checkRuns checks the runs that rows are in, and their values.
func (c *checker) checkRuns(s span, t *arrow.RunEndEncodedType) error {
	values, _, err := runsOf(s, t)
	if err != nil {
		return err
	}
	return c.check(values, all(values.n))
}

// child returns all rows of a child.
func (s span) child(i int, dtype arrow.DataType) (span, error) {
	children := s.data.Children()
	if i >= len(children) {
		return span{}, fmt.Errorf("%w: %v with %d children", ErrArray, s.dtype, len(children))
	}
	values, err := childOf(dtype, children[i])
	if err == nil {
		err = values.accounted()
	}
	return values, err
}
