package bloomarrow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// TestFilterRecordBatch filters batches of the column that is tested, the numbers of the rows,
// and views. The rows must be those of a plain loop.
func TestFilterRecordBatch(t *testing.T) {
	eachArray(t, func(t *testing.T, mem memory.Allocator, random *rand.Rand, a arrow.Array) {
		numbers, views := numbersAndViews(mem, random, a.Len())
		defer numbers.Release()
		defer views.Release()
		fields := metadata("field")
		schema := metadata("schema")
		batch := array.NewRecordBatchWithMetadata(arrow.NewSchema([]arrow.Field{
			{Name: "number", Type: numbers.DataType()},
			{Name: "view", Type: views.DataType(), Nullable: true, Metadata: fields},
			{Name: "key", Type: a.DataType(), Nullable: true, Metadata: fields},
		}, &schema), []arrow.Array{numbers, views, a}, int64(a.Len()), metadata("batch"))
		defer batch.Release()

		for _, invert := range []bool{false, true} {
			checkFiltered(t, mem, batch, schema, invert)
		}
	})
}

// checkFiltered filters a batch by its column 2. Column 0 numbers the rows.
func checkFiltered(t *testing.T, mem memory.Allocator, batch arrow.RecordBatch, schema arrow.Metadata, invert bool) {
	keys, filter := someKeys(batch.Column(2))
	f := NewRecordFilter(filter)
	f.Invert = invert
	for range 2 { // the second time with the dictionary that is kept
		got, err := f.FilterRecordBatch(compute.WithAllocator(context.Background(), mem), batch, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Release()
		if !got.Schema().Equal(batch.Schema()) || !got.Schema().Metadata().Equal(schema) || !got.(arrow.RecordBatchWithMetadata).Metadata().Equal(metadata("batch")) {
			t.Fatal("another schema, or other metadata")
		}
		row := 0
		for i, key := range keys {
			if (key != nil && filter.MayContain(key)) == invert {
				continue
			}
			if int64(row) >= got.NumRows() || got.Column(0).(*array.Int64).Value(row) != int64(i) {
				t.Fatalf("row %d is not number %d of the batch", row, i)
			}
			for _, c := range []int{1, 2} {
				wantKey, wantOK := referenceKey(batch.Column(c), i)
				gotKey, gotOK := referenceKey(got.Column(c), row)
				if !slices.Equal(gotKey, wantKey) || gotOK != wantOK {
					t.Fatalf("row %d of column %d: %x, %v, want %x, %v", row, c, gotKey, gotOK, wantKey, wantOK)
				}
			}
			row++
		}
		if int64(row) != got.NumRows() {
			t.Fatalf("%d rows, want %d", got.NumRows(), row)
		}
	}
}

// counting counts the keys that a filter is asked for.
type counting struct {
	*bloom.Filter
	keys int
}

func (c *counting) MayContainBatch(keys bloom.Keys, hits []uint64) int {
	c.keys += keys.Len()
	return c.Filter.MayContainBatch(keys, hits)
}

// TestDictionaryOfBatches filters batches. Three batches in a row share a dictionary. Each dictionary and
// each batch is released before the next one is made.
func TestDictionaryOfBatches(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	const values, rows = 50, 300
	known := []uint64{0, 1, 49, 60, 99, 100, 149}
	filter := &counting{Filter: bloom.Policy{Format: bloom.Parquet, BitsPerKey: 20}.NewFilter(bloom.Integers(known))}
	f := NewRecordFilter(filter)
	for first := uint64(0); first < 3*values; first += values {
		numbers := array.NewUint64Builder(mem)
		for i := range uint64(values) {
			numbers.Append(first + i)
		}
		dictionary := numbers.NewArray()
		numbers.Release()
		filter.keys = 0
		for range 3 {
			indices := array.NewUint8Builder(mem)
			want := 0
			for i := range rows {
				indices.Append(uint8(i % values))
				if slices.Contains(known, first+uint64(i%values)) {
					want++
				}
			}
			index := indices.NewArray()
			indices.Release()
			column := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: index.DataType(), ValueType: dictionary.DataType()}, index, dictionary)
			index.Release()
			batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "key", Type: column.DataType()}}, nil), []arrow.Array{column}, rows)
			column.Release()
			got, err := f.FilterRecordBatch(compute.WithAllocator(context.Background(), mem), batch, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.NumRows() != int64(want) {
				t.Errorf("%d rows of the dictionary from %d on, want %d", got.NumRows(), first, want)
			}
			got.Release()
			batch.Release()
		}
		dictionary.Release()
		if filter.keys != values {
			t.Errorf("%d keys tested for a dictionary of %d", filter.keys, values)
		}
	}
}

// TestUnfilterable has a column that arrow-go does not filter.
func TestUnfilterable(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	lists := array.NewListViewBuilder(mem, arrow.PrimitiveTypes.Int32)
	defer lists.Release()
	lists.AppendNull()
	column := lists.NewArray()
	defer column.Release()
	numbers, views := numbersAndViews(mem, rand.New(rand.NewPCG(1, 2)), 1)
	defer numbers.Release()
	defer views.Release()
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "number", Type: numbers.DataType()}, {Name: "list", Type: column.DataType(), Nullable: true}}, nil),
		[]arrow.Array{numbers, column}, 1)
	defer batch.Release()
	_, filter := someKeys(numbers)
	if _, err := FilterRecordBatch(compute.WithAllocator(context.Background(), mem), filter, batch, 0); !errors.Is(err, arrow.ErrNotImplemented) {
		t.Fatalf("error %v", err)
	}
}

// TestIntervals has intervals of 16 bytes, which arrow-go does not filter, and lists of them, which are left to it.
func TestIntervals(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	numbers, views := numbersAndViews(mem, rand.New(rand.NewPCG(1, 2)), 100)
	defer numbers.Release()
	defer views.Release()
	intervals := array.NewMonthDayNanoIntervalBuilder(mem)
	defer intervals.Release()
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.FixedWidthTypes.MonthDayNanoInterval)
	defer lists.Release()
	for i := range 100 {
		interval := arrow.MonthDayNanoInterval{Months: int32(i), Days: -1, Nanoseconds: int64(i) << 40}
		intervals.Append(interval)
		lists.Append(true)
		lists.ValueBuilder().(*array.MonthDayNanoIntervalBuilder).Append(interval)
	}
	_, filter := someKeys(numbers)
	filterBy := func(mem memory.Allocator, column arrow.Array) (arrow.RecordBatch, error) {
		defer column.Release()
		batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "number", Type: numbers.DataType()}, {Name: "other", Type: column.DataType()}}, nil),
			[]arrow.Array{numbers, column}, 100)
		defer batch.Release()
		return FilterRecordBatch(compute.WithAllocator(context.Background(), mem), filter, batch, 0)
	}
	kept, err := filterBy(mem, intervals.NewArray())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Release()
	passed, err := Positions(mem, filter, numbers)
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Release()
	positions := passed.Uint32Values()
	if len(positions) == 0 || len(positions) == 100 || int64(len(positions)) != kept.NumRows() {
		t.Fatalf("%d rows are kept of %d that pass", kept.NumRows(), len(positions))
	}
	for i, p := range positions {
		if got := kept.Column(1).(*array.MonthDayNanoInterval).Value(i); got.Months != int32(p) || got.Days != -1 || got.Nanoseconds != int64(p)<<40 {
			t.Errorf("row %d is %v", p, got)
		}
	}
	if _, err := filterBy(memory.DefaultAllocator, lists.NewArray()); !errors.Is(err, arrow.ErrNotImplemented) {
		t.Errorf("lists: %v", err)
	}
}

func metadata(name string) arrow.Metadata { return arrow.MetadataFrom(map[string]string{"of": name}) }

// storage returns the type of an extension's storage.
func storage(t arrow.DataType) arrow.DataType {
	if extension, ok := t.(arrow.ExtensionType); ok {
		return extension.StorageType()
	}
	return t
}

// numbersAndViews returns the numbers of n rows, and a slice of views of strings, some null.
func numbersAndViews(mem memory.Allocator, random *rand.Rand, n int) (numbers, views arrow.Array) {
	ints, strings := array.NewInt64Builder(mem), array.NewStringViewBuilder(mem)
	defer ints.Release()
	defer strings.Release()
	strings.Append("ahead")
	for i := range n {
		ints.Append(int64(i))
		if random.IntN(5) == 0 {
			strings.AppendNull()
		} else {
			strings.Append(fmt.Sprintf("row %d of %x", i, random.Uint64()>>random.IntN(64)))
		}
	}
	all := strings.NewArray()
	defer all.Release()
	return ints.NewArray(), array.NewSlice(all, 1, int64(n+1))
}
