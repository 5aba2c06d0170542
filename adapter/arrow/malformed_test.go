package bloomarrow

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// rawArray is an array of any data, which arrow-go's constructors may refuse or panic over.
type rawArray struct {
	arrow.Array // nil: nothing else is called
	data        arrow.ArrayData
}

func (a rawArray) Data() arrow.ArrayData    { return a.data }
func (a rawArray) DataType() arrow.DataType { return a.data.DataType() }

// raw returns n rows at an offset. A nil buffer is none.
func raw(t arrow.DataType, n, offset int, buffers ...[]byte) *array.Data {
	all := make([]*memory.Buffer, len(buffers))
	for i, b := range buffers {
		if b != nil {
			all[i] = memory.NewBufferBytes(b)
		}
	}
	return array.NewData(t, n, all, nil, array.UnknownNullCount, offset)
}

// rawDictionary returns n rows of a dictionary.
func rawDictionary(index arrow.DataType, indices []byte, n, offset int, values *array.Data) *array.Data {
	d := raw(&arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}, n, offset, nil, indices)
	if values != nil {
		d.SetDictionary(values)
	}
	return d
}

// rawRuns returns n rows in runs.
func rawRuns(n, offset int, children ...arrow.ArrayData) *array.Data {
	t := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64)
	return array.NewData(t, n, []*memory.Buffer{nil}, children, 0, offset)
}

func int32s(values ...int32) (b []byte) {
	for _, v := range values {
		b = binary.NativeEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// malformed lists arrays whose buffers are not what their type and length say.
var malformed = map[string]arrow.ArrayData{
	"negative length":                raw(arrow.PrimitiveTypes.Int32, -1, 0, nil, make([]byte, 8)),
	"negative offset":                raw(arrow.PrimitiveTypes.Int32, 1, -1, nil, make([]byte, 8)),
	"offset past MaxInt":             raw(arrow.PrimitiveTypes.Int32, 1, math.MaxInt, nil, make([]byte, 8)),
	"length past MaxInt":             raw(arrow.PrimitiveTypes.Int32, math.MaxInt, math.MaxInt, nil, make([]byte, 8)),
	"no buffers":                     raw(arrow.PrimitiveTypes.Int32, 1, 0),
	"no values":                      raw(arrow.PrimitiveTypes.Int32, 1, 0, nil, nil),
	"values short":                   raw(arrow.PrimitiveTypes.Int32, 2, 1, nil, make([]byte, 11)),
	"values far too short":           raw(arrow.PrimitiveTypes.Int64, math.MaxInt-1, 0, nil, make([]byte, 11)),
	"int8 short":                     raw(arrow.PrimitiveTypes.Int8, 2, 1, nil, make([]byte, 2)),
	"decimal short":                  raw(&arrow.Decimal128Type{Precision: 5}, 1, 1, nil, make([]byte, 31)),
	"fixed size short":               raw(&arrow.FixedSizeBinaryType{ByteWidth: 3}, 2, 1, nil, make([]byte, 8)),
	"bool short":                     raw(arrow.FixedWidthTypes.Boolean, 9, 8, nil, make([]byte, 2)),
	"bitmap short":                   raw(arrow.PrimitiveTypes.Int32, 9, 8, make([]byte, 2), make([]byte, 4*17)),
	"offsets short":                  raw(arrow.BinaryTypes.String, 2, 0, nil, int32s(0, 1), []byte("ab")),
	"no offsets":                     raw(arrow.BinaryTypes.String, 1, 0, nil, nil, []byte("ab")),
	"offsets decrease":               raw(arrow.BinaryTypes.String, 2, 0, nil, int32s(0, 2, 1), []byte("ab")),
	"offsets negative":               raw(arrow.BinaryTypes.String, 1, 0, nil, int32s(-1, 1), []byte("ab")),
	"offsets outside":                raw(arrow.BinaryTypes.String, 1, 0, nil, int32s(0, 3), []byte("ab")),
	"no strings":                     raw(arrow.BinaryTypes.String, 1, 0, nil, int32s(0, 3), nil),
	"large offsets outside":          raw(arrow.BinaryTypes.LargeString, 1, 0, nil, int32s(0, 0, -1, math.MaxInt32), []byte("ab")),
	"views short":                    raw(arrow.BinaryTypes.StringView, 2, 0, nil, make([]byte, 31)),
	"view in no buffer":              raw(arrow.BinaryTypes.StringView, 1, 0, nil, int32s(13, 0, 0, 0)),
	"view in a missing buffer":       raw(arrow.BinaryTypes.StringView, 1, 0, nil, int32s(13, 0, 0, 0), nil),
	"view outside":                   raw(arrow.BinaryTypes.BinaryView, 1, 0, nil, int32s(13, 0, 0, 8), make([]byte, 20)),
	"bitmap of views short":          raw(arrow.BinaryTypes.StringView, 9, 0, make([]byte, 1), make([]byte, 16*9)),
	"no dictionary":                  rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0), 1, 0, nil),
	"extension, no dictionary":       raw(extensions.NewOpaqueType(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, "", ""), 1, 0, nil, int32s(0)),
	"index outside":                  rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0, 2), 2, 0, twoStrings),
	"index negative":                 rawDictionary(arrow.PrimitiveTypes.Int32, int32s(-1), 1, 0, twoStrings),
	"indices short":                  rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0, 1), 2, 1, twoStrings),
	"indices of no type":             rawDictionary(arrow.PrimitiveTypes.Float32, int32s(0), 1, 0, twoStrings),
	"values of another type":         rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0), 1, 0, raw(arrow.PrimitiveTypes.Int32, 1, 0, nil, int32s(0))),
	"malformed values":               rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0), 1, 0, raw(arrow.BinaryTypes.String, 1, 0, nil, int32s(0, 3), []byte("ab"))),
	"empty dictionary":               rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0), 1, 0, raw(arrow.BinaryTypes.String, 0, 0)),
	"no runs":                        rawRuns(1, 0),
	"runs that are nil":              rawRuns(1, 0, nil, nil),
	"run ends missing":               rawRuns(1, 0, ends(), longs(0)),
	"run ends too early":             rawRuns(3, 0, ends(1, 2), longs(2)),
	"run ends too early sliced":      rawRuns(1, 2, ends(1, 2), longs(2)),
	"run ends decrease":              rawRuns(9, 0, ends(3, 2, 9), longs(3)),
	"run ends stay":                  rawRuns(9, 0, ends(3, 3, 9), longs(3)),
	"first run end 0":                rawRuns(9, 0, ends(0, 9), longs(2)),
	"first run end negative":         rawRuns(9, 0, ends(math.MinInt32, 9), longs(2)),
	"run ends short":                 rawRuns(9, 0, raw(arrow.PrimitiveTypes.Int32, 2, 0, nil, int32s(9)), longs(2)),
	"values of runs missing":         rawRuns(9, 0, ends(3, 9), longs(1)),
	"values of runs past the length": rawRuns(9, 0, ends(3, 9), raw(arrow.PrimitiveTypes.Int64, 1, 0, nil, make([]byte, 24))),
	"values of runs short":           rawRuns(9, 0, ends(3, 9), raw(arrow.PrimitiveTypes.Int64, 2, 0, nil, make([]byte, 15))),
	"run ends of another type":       rawRuns(9, 0, raw(arrow.PrimitiveTypes.Int64, 1, 0, nil, make([]byte, 8)), longs(1)),
	"runs of another type":           rawRuns(9, 0, ends(9), raw(arrow.PrimitiveTypes.Int32, 1, 0, nil, make([]byte, 8))),
}

var twoStrings = raw(arrow.BinaryTypes.String, 2, 0, nil, int32s(0, 1, 2), []byte("ab"))

func ends(v ...int32) *array.Data {
	return raw(arrow.PrimitiveTypes.Int32, len(v), 0, nil, int32s(v...))
}

func longs(n int) *array.Data {
	return raw(arrow.PrimitiveTypes.Int64, n, 0, nil, make([]byte, 8*n))
}

// ways lists the functions that take an array.
var ways = map[string]func(a arrow.Array) error{
	"Mask": func(a arrow.Array) error {
		_, err := Mask(memory.DefaultAllocator, new(bloom.Filter), a)
		return err
	},
	"Positions": func(a arrow.Array) error {
		_, err := Positions(memory.DefaultAllocator, new(bloom.Filter), a)
		return err
	},
	"Add": func(a arrow.Array) error {
		return Add(bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.NewBuilder(), a)
	},
	"Keys": func(a arrow.Array) error { _, err := Keys(a); return err },
}

func TestMalformed(t *testing.T) {
	for name, data := range malformed {
		for way, try := range ways {
			err := try(rawArray{data: data})
			if way == "Keys" && encoded(data.DataType()) {
				continue // ErrType
			}
			if !errors.Is(err, ErrArray) {
				t.Errorf("%s of %s: error %v", way, name, err)
			}
		}
	}
}

// TestTypes has types without keys.
func TestTypes(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	for _, dtype := range []arrow.DataType{
		list, arrow.LargeListOf(arrow.PrimitiveTypes.Int32), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), arrow.ListViewOf(arrow.PrimitiveTypes.Int32),
		arrow.StructOf(), arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32), arrow.SparseUnionOf(nil, nil), arrow.DenseUnionOf(nil, nil),
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
		extensions.NewOpaqueType(list, "", ""),
		&arrow.Decimal128Type{Precision: 0}, &arrow.Decimal128Type{Precision: 39}, &arrow.Decimal32Type{Precision: 10}, &arrow.Decimal256Type{Precision: math.MaxInt32},
	} {
		for way, try := range ways {
			if err := try(rawArray{data: raw(dtype, 0, 0)}); !errors.Is(err, ErrType) {
				t.Errorf("%s of %v: error %v", way, dtype, err)
			}
		}
	}
	for _, dtype := range []arrow.DataType{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, list), &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: list}} {
		data := raw(dtype, 0, 0, nil, nil)
		if _, ok := dtype.(*arrow.DictionaryType); ok {
			data.SetDictionary(raw(list, 0, 0))
		} else {
			data = array.NewData(dtype, 0, []*memory.Buffer{nil}, []arrow.ArrayData{ends(), raw(list, 0, 0)}, 0, 0)
		}
		for way, try := range ways {
			if err := try(rawArray{data: data}); !errors.Is(err, ErrType) {
				t.Errorf("%s of %v: error %v", way, dtype, err)
			}
		}
	}
}

// TestColumnNumbers filters by columns that are not there.
func TestColumnNumbers(t *testing.T) {
	batch := array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 0)
	for _, column := range []int{-1, 0, math.MaxInt} {
		if _, err := FilterRecordBatch(context.Background(), new(bloom.Filter), batch, column); !errors.Is(err, ErrArray) {
			t.Errorf("column %d: error %v", column, err)
		}
	}
}

// TestNullsMayBeAnything has null rows whose values are malformed, and arrays without rows that
// have no buffers.
func TestNullsMayBeAnything(t *testing.T) {
	values := raw(arrow.BinaryTypes.String, 2, 0, nil, int32s(0, 1, 2), []byte("ab"))
	dictionary := rawDictionary(arrow.PrimitiveTypes.Int32, int32s(1, -9, 7, 0), 4, 0, values)
	dictionary.Buffers()[0] = memory.NewBufferBytes([]byte{0b1001})
	views := raw(arrow.BinaryTypes.StringView, 4, 0, []byte{0b1001}, slices.Concat(
		int32s(1), []byte("b"), make([]byte, 11), int32s(-9, 0, 0, 0), int32s(99, 7, 7, 7), int32s(1), []byte("a"), make([]byte, 11)))
	for name, data := range map[string]arrow.ArrayData{"dictionary": dictionary, "views": views} {
		builder := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.NewBuilder()
		if err := Add(builder, rawArray{data: data}); err != nil || builder.Len() != 2 {
			t.Fatalf("%s: %d keys, %v", name, builder.Len(), err)
		}
		positions, err := Positions(memory.DefaultAllocator, builder.Filter(), rawArray{data: data})
		if err != nil || !slices.Equal(positions.Uint32Values(), []uint32{0, 3}) {
			t.Fatalf("%s: %v, %v", name, positions, err)
		}
	}
	for _, test := range typeTests {
		for way, try := range ways {
			if err := try(rawArray{data: raw(test.dtype, 0, 0)}); err != nil {
				t.Errorf("%s of no rows of %v: %v", way, test.dtype, err)
			}
		}
	}
}

// TestValuesWithoutKeys has the first values that their keys cannot hold, beside the last that they can. Null
// rows may have them.
func TestValuesWithoutKeys(t *testing.T) {
	const day = 86_400_000
	first := map[string]struct {
		dtype arrow.DataType
		value any
	}{
		"1 ms":                {arrow.FixedWidthTypes.Date64, int64(1)},
		"-1 ms":               {arrow.FixedWidthTypes.Date64, int64(-1)},
		"2^31 days":           {arrow.FixedWidthTypes.Date64, int64(day << 31)},
		"2^32 days":           {arrow.FixedWidthTypes.Date64, int64(day << 32)},
		"-2^31-1 days":        {arrow.FixedWidthTypes.Date64, int64(day * (-1<<31 - 1))},
		"2147484 s of a day":  {arrow.FixedWidthTypes.Time32s, int32(2147484)},
		"2^29 s of a day":     {arrow.FixedWidthTypes.Time32s, int32(1 << 29)},
		"-2147484 s of a day": {arrow.FixedWidthTypes.Time32s, int32(-2147484)},
		"9223372036854776 s":  {arrow.FixedWidthTypes.Timestamp_s, int64(9223372036854776)},
		"-9223372036854776 s": {arrow.FixedWidthTypes.Timestamp_s, int64(-9223372036854776)},
		"2^61 s":              {arrow.FixedWidthTypes.Timestamp_s, int64(1 << 61)},
		"-2^61 s":             {arrow.FixedWidthTypes.Timestamp_s, int64(-1 << 61)},
		"-2^63 s":             {arrow.FixedWidthTypes.Timestamp_s, int64(math.MinInt64)},
		"2^15, 4 digits":      {&arrow.Decimal32Type{Precision: 4}, int32(1 << 15)},
		"-2^15-1, 4 digits":   {&arrow.Decimal64Type{Precision: 4}, int64(-1<<15 - 1)},
		"2^16, 4 digits":      {&arrow.Decimal128Type{Precision: 4}, [2]uint64{1 << 16, 0}},
		"2^192, 4 digits":     {&arrow.Decimal256Type{Precision: 4}, [4]uint64{3: 1}},
		"2^256-2^192+2^64":    {&arrow.Decimal256Type{Precision: 11}, [4]uint64{0, 1, 0, math.MaxUint64}},
	}
	last := map[string]struct {
		dtype arrow.DataType
		value any
	}{
		"day 2^31-1":          {arrow.FixedWidthTypes.Date64, int64(day * (1<<31 - 1))},
		"day -2^31":           {arrow.FixedWidthTypes.Date64, int64(day * -1 << 31)},
		"2147483 s of a day":  {arrow.FixedWidthTypes.Time32s, int32(2147483)},
		"9223372036854775 s":  {arrow.FixedWidthTypes.Timestamp_s, int64(9223372036854775)},
		"-9223372036854775 s": {arrow.FixedWidthTypes.Timestamp_s, int64(-9223372036854775)},
		"2^15-1, 4 digits":    {&arrow.Decimal32Type{Precision: 4}, int32(1<<15 - 1)},
		"-2^15, 4 digits":     {&arrow.Decimal128Type{Precision: 4}, [2]uint64{1<<64 - 1<<15, math.MaxUint64}},
	}
	rows := func(dtype arrow.DataType, value any, bitmap []byte) rawArray {
		bytes, err := binary.Append(nil, binary.LittleEndian, value)
		if err != nil {
			t.Fatal(err)
		}
		return rawArray{data: raw(dtype, 2, 0, bitmap, slices.Concat(make([]byte, len(bytes)), bytes))}
	}
	for way, try := range ways {
		for name, test := range first {
			if err := try(rows(test.dtype, test.value, nil)); !errors.Is(err, ErrValue) {
				t.Errorf("%s of %s: error %v", way, name, err)
			}
			if err := try(rows(test.dtype, test.value, []byte{0b01})); err != nil {
				t.Errorf("%s of %s in a null row: error %v", way, name, err)
			}
		}
		for name, test := range last {
			if err := try(rows(test.dtype, test.value, nil)); err != nil {
				t.Errorf("%s of %s: error %v", way, name, err)
			}
		}
	}
}

// FuzzArrays makes arrays of any bytes. If there is no error, arrow-go must read the same keys.
func FuzzArrays(f *testing.F) {
	for i := range len(typeTests) {
		f.Add(uint8(i), uint8(i%4), int32s(0, 3, 5, 9, 9), []byte("hello world"), []byte{0x5d}, 3, 1)
		f.Add(uint8(i), uint8(i%4), int32s(3, 0x61626364, 0, 0, 14, 0, 0, 1), []byte("a longer hello world"), []byte(nil), 2, 0)
		f.Add(uint8(i), uint8(3), int32s(1, 2, 5), make([]byte, 200), []byte(nil), 2, 2)
	}
	f.Fuzz(func(t *testing.T, which, encoding uint8, first, second, bitmap []byte, n, offset int) {
		plain := typeTests[int(which)%len(typeTests)].dtype
		if n > 1<<12 { // null arrays have no buffers that bound them
			n %= 1 << 12
		}
		values := raw(plain, n, offset, bitmap, first, second)
		data := values
		switch encoding % 4 {
		case 1:
			values = raw(plain, len(second)/4, 0, nil, second, second)
			data = raw(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: plain}, n, offset, bitmap, first)
			data.SetDictionary(values)
		case 2:
			data = raw(extensions.NewOpaqueType(plain, "", ""), n, offset, bitmap, first, second)
		case 3:
			runs := raw(arrow.PrimitiveTypes.Int32, len(first)/4, 0, nil, first)
			values = raw(plain, len(second)/4, 0, nil, second, second)
			data = array.NewData(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, plain), n, []*memory.Buffer{nil}, []arrow.ArrayData{runs, values}, 0, offset)
		}
		var a arrow.Array = rawArray{data: data}
		if err := Add(bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.NewBuilder(), a); err != nil {
			if !errors.Is(err, ErrArray) && !errors.Is(err, ErrValue) {
				t.Fatal(err)
			}
			for way, try := range ways {
				if try(a) == nil {
					t.Fatalf("%s has no error, but Add %v", way, err)
				}
			}
			return
		}
		if n == 0 || encoding%4 == 3 && (!slices.IsSorted(arrow.GetData[int32](first[:len(first)/4*4])) || panics(func() { array.MakeFromData(values) })) {
			return // arrow-go reads values and run ends that no row has
		}
		a = array.MakeFromData(data)
		keys, filter := someKeys(a)
		mask, err := Mask(memory.DefaultAllocator, filter, a)
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range keys {
			if want := key != nil && filter.MayContain(key); mask.Value(i) != want {
				t.Fatalf("row %d, key %x: %v", i, key, !want)
			}
		}
	})
}

func panics(call func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	call()
	return false
}
