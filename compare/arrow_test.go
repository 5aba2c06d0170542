package compare

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/adapter/parquet/arrowgo"
)

// arrowTypes lists the types for which arrow-go's writer of Parquet makes filters, and values of
// them as arrow-go reads them from text.
var arrowTypes = []struct {
	dtype arrow.DataType
	value func(random *rand.Rand) string
}{
	{arrow.BinaryTypes.String, anyText}, {arrow.BinaryTypes.LargeString, anyText},
	{arrow.PrimitiveTypes.Int8, integer(8, true)}, {arrow.PrimitiveTypes.Uint8, integer(8, false)},
	{arrow.PrimitiveTypes.Int16, integer(16, true)}, {arrow.PrimitiveTypes.Uint16, integer(16, false)},
	{arrow.PrimitiveTypes.Int32, integer(32, true)}, {arrow.PrimitiveTypes.Uint32, integer(32, false)},
	{arrow.PrimitiveTypes.Int64, integer(64, true)}, {arrow.PrimitiveTypes.Uint64, integer(64, false)},
	{arrow.PrimitiveTypes.Float32, decimalText(1000)}, {arrow.PrimitiveTypes.Float64, decimalText(1000)}, {arrow.FixedWidthTypes.Float16, decimalText(100)},
	{arrow.FixedWidthTypes.Date32, day}, {arrow.FixedWidthTypes.Date64, day},
	{arrow.FixedWidthTypes.Time32s, second}, {arrow.FixedWidthTypes.Time32ms, second}, {arrow.FixedWidthTypes.Time64us, second}, {arrow.FixedWidthTypes.Time64ns, second},
	{arrow.FixedWidthTypes.Timestamp_s, instant}, {arrow.FixedWidthTypes.Timestamp_ms, instant},
	{arrow.FixedWidthTypes.Timestamp_us, instant}, {arrow.FixedWidthTypes.Timestamp_ns, instant},
	{&arrow.Decimal128Type{Precision: 5, Scale: 2}, decimalText(900)}, {&arrow.Decimal128Type{Precision: 19, Scale: 4}, decimalText(1e9)},
	{&arrow.Decimal128Type{Precision: 38, Scale: 10}, decimalText(1e9)}, {&arrow.Decimal256Type{Precision: 50, Scale: 10}, decimalText(1e9)},
}

func anyText(random *rand.Rand) string { return fmt.Sprintf("%x", random.Uint64()>>random.IntN(64)) }

func integer(bits int, signed bool) func(random *rand.Rand) string {
	return func(random *rand.Rand) string {
		if signed {
			return fmt.Sprint(int64(random.Uint64()) >> (64 - bits))
		}
		return fmt.Sprint(random.Uint64() >> (64 - bits))
	}
}

func decimalText(below int) func(random *rand.Rand) string {
	return func(random *rand.Rand) string {
		return fmt.Sprintf("%d.%02d", random.IntN(2*below)-below, random.IntN(100))
	}
}

func day(random *rand.Rand) string {
	return fmt.Sprintf("%04d-%02d-%02d", 1900+random.IntN(200), 1+random.IntN(12), 1+random.IntN(28))
}

func second(random *rand.Rand) string {
	return fmt.Sprintf("%02d:%02d:%02d", random.IntN(24), random.IntN(60), random.IntN(60))
}

func instant(random *rand.Rand) string { return day(random) + "T" + second(random) + "Z" }

// TestArrowKeys writes columns of Arrow into Parquet files. The filter of the file must be that
// of the column's keys, and their kind that of the file's column.
func TestArrowKeys(t *testing.T) {
	for i, test := range arrowTypes {
		t.Run(test.dtype.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(i), 30))
			b := array.NewBuilder(memory.DefaultAllocator, test.dtype)
			for range 2000 {
				if random.IntN(10) == 0 {
					b.AppendNull()
				} else if err := b.AppendValueFromString(test.value(random)); err != nil {
					t.Fatal(err)
				}
			}
			column := b.NewArray()
			blocks, kind := parquetFilter(t, column)
			if got := bloomarrow.KeyKind(test.dtype); got != kind {
				t.Errorf("the keys are of the kind %s, and those of the file %s", got, kind)
			}
			set, err := bloom.OpenSet(bloom.Parquet, make([]byte, len(blocks)))
			if err != nil {
				t.Fatal(err)
			}
			if err := bloomarrow.Add(set, column); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(set.AppendFilter(nil), blocks) {
				t.Fatalf("the filter of the file has other keys, of %d bytes", len(blocks))
			}
		})
	}
}

// parquetFilter writes a file of one column and returns the blocks of its filter, and the kind of its keys.
func parquetFilter(t *testing.T, column arrow.Array) (blocks []byte, kind bloom.KeyKind) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "column", Type: column.DataType(), Nullable: true}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{column}, int64(column.Len()))
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(
		parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterNDV(int64(column.Len()))), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	chunk, err := r.MetaData().RowGroup(0).ColumnChunk(0)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := arrowgo.Open(r, "column")
	if err != nil {
		t.Fatal(err)
	}
	framed := out.Bytes()[chunk.BloomFilterOffset():][:chunk.BloomFilterLength()]
	size := 32 // a power of two, after a header of fewer bytes than the blocks or some 20
	for 2*size <= len(framed) {
		size *= 2
	}
	return framed[len(framed)-size:], opened.Type().KeyKind()
}
