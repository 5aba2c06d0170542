package bloomarrow

import (
	"fmt"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// dictionaryOf returns the values of a dictionary array, which has an index for every row.
func dictionaryOf(s span, t *arrow.DictionaryType) (span, error) {
	d, ok := s.data.(*array.Data)
	if !ok {
		return span{}, fmt.Errorf("%w: %T has no dictionary", ErrArray, s.data)
	}
	index, ok := t.IndexType.(arrow.FixedWidthDataType)
	if !ok {
		return span{}, fmt.Errorf("%w: indices of type %v", ErrArray, t.IndexType)
	}
	if _, err := s.fixed(index.Bytes()); err != nil {
		return span{}, err
	}
	values, err := childOf(t.ValueType, d.Dictionary())
	if err == nil {
		err = values.accounted()
	}
	return values, err
}

// indices are the indices of the rows of a dictionary array.
type indices interface {
	// at returns the index of a row. A negative one becomes a large one.
	at(row int) uint64
	// eachBlock yields the indices of 64 rows at a time, or -1 for a null row. There are values values.
	eachBlock(s span, values int, yield func(block int, indices []int)) error
}

// indicesOf returns the indices of rows.
func indicesOf(s span, t *arrow.DictionaryType) (indices, error) {
	switch t.IndexType.ID() {
	case arrow.INT8:
		return indicesIn[int8](s)
	case arrow.UINT8:
		return indicesIn[uint8](s)
	case arrow.INT16:
		return indicesIn[int16](s)
	case arrow.UINT16:
		return indicesIn[uint16](s)
	case arrow.INT32:
		return indicesIn[int32](s)
	case arrow.UINT32:
		return indicesIn[uint32](s)
	case arrow.INT64:
		return indicesIn[int64](s)
	case arrow.UINT64:
		return indicesIn[uint64](s)
	}
	return nil, fmt.Errorf("%w: indices of type %v", ErrArray, t.IndexType)
}

func indicesIn[I arrow.IntType | arrow.UintType](s span) (indices, error) {
	all, err := elements[I](s)
	return integerIndices[I](all), err
}

type integerIndices[I arrow.IntType | arrow.UintType] []I

func (all integerIndices[I]) at(row int) uint64 { return uint64(all[row]) }

func (all integerIndices[I]) eachBlock(s span, values int, yield func(block int, indices []int)) error {
	bitmap, offset, err := s.nulls()
	if err != nil {
		return err
	}
	var block [64]int
	for i := 0; i < s.n; i += len(block) {
		rows := all[i:min(i+len(block), s.n)]
		for j, index := range rows {
			switch {
			case bitmap != nil && !bitutil.BitIsSet(bitmap, offset+i+j):
				block[j] = -1
			case uint64(index) >= uint64(values): // negative ones are, too
				return fmt.Errorf("%w: row %d refers to value %d of %d", ErrArray, i+j, index, values)
			default:
				block[j] = int(index)
			}
		}
		yield(i/len(block), block[:len(rows)])
	}
	return nil
}

// eachBlock yields the indices of 64 rows at a time, as the method does.
func eachBlock(s span, t *arrow.DictionaryType, values int, yield func(block int, indices []int)) error {
	all, err := indicesOf(s, t)
	if err != nil {
		return err
	}
	return all.eachBlock(s, values, yield)
}

// runsOf returns the values of the runs that the rows of a run-end encoded array are in, and
// behind which of the rows each run ends.
func runsOf(s span, t *arrow.RunEndEncodedType) (values span, ends []int, err error) {
	if n := len(s.data.Children()); n != 2 {
		return span{}, nil, fmt.Errorf("%w: a run-end encoded array with %d children", ErrArray, n)
	}
	runs, err := childOf(t.RunEnds(), s.data.Children()[0])
	if err != nil {
		return span{}, nil, err
	}
	values, err = childOf(t.Encoded(), s.data.Children()[1])
	if err != nil {
		return span{}, nil, err
	}
	first := 0
	switch t.RunEnds().ID() {
	case arrow.INT16:
		first, ends, err = runEnds[int16](s, runs)
	case arrow.INT32:
		first, ends, err = runEnds[int32](s, runs)
	case arrow.INT64:
		first, ends, err = runEnds[int64](s, runs)
	default:
		err = fmt.Errorf("%w: run ends of type %v", ErrArray, t.RunEnds())
	}
	if err == nil && len(ends) > values.n-first {
		err = fmt.Errorf("%w: %d values for run %d", ErrArray, values.n, first+len(ends)-1)
	}
	values.offset, values.n = values.offset+first, len(ends)
	return values, ends, err
}

// runEnds returns the number of the run of the first row, and behind which row that run and
// each later one ends. It does not look at the ends of runs without a row of the span: there may
// be many, and a slice few rows.
func runEnds[E int16 | int32 | int64](s, runs span) (first int, ends []int, err error) {
	all, err := elements[E](runs)
	if err != nil || s.n == 0 {
		return 0, nil, err
	}
	first = sort.Search(len(all), func(i int) bool { return int64(all[i]) > int64(s.offset) })
	if len(all) > 0 && all[0] < 1 {
		return 0, nil, fmt.Errorf("%w: run 0 ends at row %d", ErrArray, all[0])
	}
	row := 0
	for i := first; row < s.n; i++ {
		if i == len(all) || int64(all[i]) <= int64(s.offset+row) {
			return 0, nil, fmt.Errorf("%w: run %d of %d does not reach row %d", ErrArray, i, len(all), s.offset+row)
		}
		row = int(min(int64(all[i])-int64(s.offset), int64(s.n)))
		ends = append(ends, row)
	}
	return first, ends, nil
}
