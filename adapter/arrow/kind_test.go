package bloomarrow

import (
	"context"
	"encoding"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// TestKeyKind wants another kind for each meaning of equal keys.
func TestKeyKind(t *testing.T) {
	dictionary := func(values arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: values}
	}
	seconds := arrow.FixedWidthTypes.Duration_s
	for _, test := range []struct {
		dtype arrow.DataType
		want  bloom.KeyKind
	}{
		{arrow.PrimitiveTypes.Int64, "INT64"},
		{arrow.PrimitiveTypes.Uint64, "INT64 (UINT)"},
		{arrow.PrimitiveTypes.Int32, "INT32"},
		{arrow.PrimitiveTypes.Int8, "INT32"},
		{arrow.PrimitiveTypes.Uint16, "INT32 (UINT)"},
		{arrow.PrimitiveTypes.Float64, "DOUBLE"},
		{arrow.FixedWidthTypes.Float16, "FIXED[2] (FLOAT16)"},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, "FIXED[3] (DECIMAL 2)"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 7}, "FIXED[7]"},
		{seconds, "INT64 (DURATION SECONDS)"},
		{arrow.FixedWidthTypes.Duration_ms, "INT64 (DURATION MILLIS)"},
		{arrow.FixedWidthTypes.Duration_us, "INT64 (DURATION MICROS)"},
		{arrow.FixedWidthTypes.Duration_ns, "INT64 (DURATION NANOS)"},
		{dictionary(seconds), "INT64 (DURATION SECONDS)"},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, dictionary(seconds)), "INT64 (DURATION SECONDS)"},
		{extensions.NewOpaqueType(seconds, "", ""), "INT64 (DURATION SECONDS)"},
		{extensions.NewUUIDType(), "FIXED[16] (UUID)"},
		{dictionary(extensions.NewUUIDType()), "FIXED[16] (UUID)"},
		{arrow.FixedWidthTypes.Time32s, "INT32 (TIME MILLIS)"},
		{arrow.FixedWidthTypes.Time32ms, "INT32 (TIME MILLIS)"},
		{arrow.FixedWidthTypes.Time64ns, "INT64 (TIME NANOS)"},
		{arrow.FixedWidthTypes.Timestamp_s, "INT64 (TIMESTAMP MILLIS UTC)"},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, "INT64 (TIMESTAMP MICROS LOCAL)"},
		{arrow.FixedWidthTypes.Date64, "INT32 (DATE)"},
		{arrow.BinaryTypes.StringView, bloom.KindText},
		{arrow.BinaryTypes.LargeBinary, bloom.KindText},
		{arrow.Null, bloom.KindUnknown},
		{arrow.ListOf(seconds), bloom.KindUnknown},
	} {
		if got := KeyKind(test.dtype); got != test.want {
			t.Errorf("%v: %q, want %q", test.dtype, got, test.want)
		}
		if _, err := ParquetType(test.dtype); (err != nil) != (test.want == bloom.KindUnknown) || err != nil && !errors.Is(err, ErrType) {
			t.Errorf("%v: %v", test.dtype, err)
		}
	}
}

// TestOtherKind calls all functions that take a filter, or what becomes one, and a column with keys of the filter's kind, of
// another, and of an unknown one. The values are the same, and so would be all bytes but for their number.
func TestOtherKind(t *testing.T) {
	mem := memory.DefaultAllocator
	numbers := func(dtype arrow.DataType) arrow.Array {
		b := array.NewBuilder(mem, dtype)
		defer b.Release()
		for _, text := range []string{"5", "7"} {
			if err := b.AppendValueFromString(text); err != nil {
				t.Fatal(err)
			}
		}
		return b.NewArray()
	}
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int8,
		arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}
	batchOf := func(a arrow.Array) arrow.RecordBatch {
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: a.DataType()}}, nil)
		return array.NewRecordBatch(schema, []arrow.Array{a}, int64(a.Len()))
	}
	// Each returns how many rows pass, or how many keys are added.
	calls := map[string]func(filter *bloom.Filter, a arrow.Array) (int, error){
		"Mask": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			mask, err := Mask(mem, filter, a)
			return trues(mask), err
		},
		"MaskChunked": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			chunks, err := MaskChunked(mem, filter, arrow.NewChunked(a.DataType(), []arrow.Array{a}))
			if err != nil {
				return 0, err
			}
			return trues(chunks.Chunk(0).(*array.Boolean)), nil
		},
		"Positions": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			positions, err := Positions(mem, filter, a)
			if err != nil {
				return 0, err
			}
			return positions.Len(), nil
		},
		"FilterRecordBatch": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			batch, err := FilterRecordBatch(context.Background(), filter, batchOf(a), 0)
			if err != nil {
				return 0, err
			}
			return int(batch.NumRows()), nil
		},
		"Mask with a Set": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			set := new(bloom.Set)
			copyInto(t, filter, set)
			mask, err := Mask(mem, set, a)
			return trues(mask), err
		},
		"Mask with an AtomicSet": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			set := new(bloom.AtomicSet)
			copyInto(t, filter, set)
			mask, err := Mask(mem, set, a)
			return trues(mask), err
		},
		"Add to a Builder": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			builder := bloom.Policy{BitsPerKey: 10}.NewBuilder()
			if err := builder.SetKeyKind(filter.KeyKind()); err != nil {
				t.Fatal(err)
			}
			err := Add(builder, a)
			return builder.Len(), err
		},
		"Add to a Set": func(filter *bloom.Filter, a arrow.Array) (int, error) {
			set := new(bloom.Set)
			copyInto(t, filter, set)
			before, _ := set.KeyCount()
			err := Add(set, a)
			after, _ := set.KeyCount()
			return int(after - before), err
		},
	}
	for _, of := range types {
		builder := bloom.Policy{BitsPerKey: 20}.NewBuilder()
		if err := errors.Join(builder.SetKeyKind(KeyKind(of)), Add(builder, numbers(of))); err != nil {
			t.Fatal(err)
		}
		known := builder.Filter()
		unknown, err := known.WithKeyKind(bloom.KindUnknown)
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range calls {
			for _, column := range types {
				n, err := call(known, numbers(column))
				if KeyKind(column) == KeyKind(of) && (err != nil || n != 2) {
					t.Errorf("%s, filter of %v, column of %v: %d, %v", name, of, column, n, err)
				}
				if KeyKind(column) != KeyKind(of) && (!errors.Is(err, bloom.ErrKind) || n != 0) {
					t.Errorf("%s, filter of %v, column of %v: %d rows, %v", name, of, column, n, err)
				}
				if _, err := call(unknown, numbers(column)); err != nil {
					t.Errorf("%s, a filter of unknown kind, column of %v: %v", name, column, err)
				}
			}
		}
	}
}

// copyInto copies a filter, with the kind of its keys, into a set.
func copyInto(t *testing.T, filter *bloom.Filter, set encoding.BinaryUnmarshaler) {
	t.Helper()
	file, err := filter.MarshalBinary()
	if err == nil {
		err = set.UnmarshalBinary(file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// trues returns how many rows of a mask are true.
func trues(mask *array.Boolean) (n int) {
	if mask == nil {
		return 0
	}
	for i := range mask.Len() {
		if mask.Value(i) {
			n++
		}
	}
	return n
}
