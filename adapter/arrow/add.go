package bloomarrow

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/lanebloom/bloom"
)

// Adder collects keys. A [bloom.Builder], a [bloom.Set] and a [bloom.AtomicSet] are Adders.
type Adder interface {
	AddBatch(keys bloom.Keys)
}

// Add adds the values of arrays, such as the chunks of a column. It adds one key for every row that is not
// null, except in two cases. For a dictionary array, it adds only the values that rows use, and adds each of
// them once. For a run-end encoded array, it adds the value of each run once.
//
// The error is [ErrType], [ErrArray] or [ErrValue]. If the builder or set has keys of a different kind than
// the array ([KeyKind]), the error is [bloom.ErrKind]. If an array causes an error, Add has already added the
// arrays before it.
func Add(to Adder, arrays ...arrow.Array) error {
	for _, a := range arrays {
		if err := checkKind(to, a.DataType()); err != nil {
			return err
		}
		s, err := rowsOf(a)
		if err == nil {
			err = s.add(to, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds the values of those rows whose bit is set in some. A nil bitmap has all rows.
func (s span) add(to Adder, some []byte) error {
	var values span
	var used []byte
	var err error
	switch t := s.dtype.(type) {
	case *arrow.DictionaryType:
		values, used, err = s.usedOfDictionary(t, some)
	case *arrow.RunEndEncodedType:
		values, used, err = s.usedOfRuns(t, some)
	case *arrow.NullType:
		return nil
	default:
		keys, err := s.keys()
		if err == nil && some != nil {
			if err = s.removeNulls(some); err == nil {
				keys, err = column(keys.WithValidity(some, 0))
			}
		}
		if err == nil {
			to.AddBatch(keys)
		}
		return err
	}
	if err != nil {
		return err
	}
	return values.add(to, used)
}

// usedOfDictionary returns the values of a dictionary and which of them rows have.
func (s span) usedOfDictionary(t *arrow.DictionaryType, some []byte) (values span, used []byte, err error) {
	values, err = dictionaryOf(s, t)
	if err != nil {
		return span{}, nil, err
	}
	used = make([]byte, (values.n+7)/8)
	err = eachBlock(s, t, values.n, func(block int, indices []int) {
		for i, value := range indices {
			if value >= 0 && (some == nil || bitutil.BitIsSet(some, 64*block+i)) {
				bitutil.SetBit(used, value)
			}
		}
	})
	return values, used, err
}

// usedOfRuns returns the values of runs and which of them rows have.
func (s span) usedOfRuns(t *arrow.RunEndEncodedType, some []byte) (values span, used []byte, err error) {
	values, ends, err := runsOf(s, t)
	if err != nil || some == nil {
		return values, nil, err
	}
	used = make([]byte, (values.n+7)/8)
	from := 0
	for run, to := range ends {
		if bitutil.CountSetBits(some, from, to-from) > 0 {
			bitutil.SetBit(used, run)
		}
		from = to
	}
	return values, used, nil
}

// removeNulls clears the bits of null rows.
func (s span) removeNulls(some []byte) error {
	bitmap, offset, err := s.nulls()
	if bitmap == nil {
		return err
	}
	for i := range s.n {
		if !bitutil.BitIsSet(bitmap, offset+i) {
			bitutil.ClearBit(some, i)
		}
	}
	return nil
}
