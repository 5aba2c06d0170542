package bloomarrow_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/arrow"
)

// A column of customers that paid becomes a filter, and a batch of orders keeps those of these
// customers.
func Example() {
	mem := memory.DefaultAllocator
	paid := array.NewStringBuilder(mem)
	defer paid.Release()
	paid.AppendValues([]string{"ada", "grace", "edsger"}, nil)
	customers := paid.NewStringArray()
	defer customers.Release()

	builder := bloom.Policy{BitsPerKey: 12}.NewBuilder()
	if err := bloomarrow.Add(builder, customers); err != nil {
		fmt.Println(err)
		return
	}
	filter := builder.Filter()

	orders := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: "order", Type: arrow.PrimitiveTypes.Int64},
		{Name: "customer", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil))
	defer orders.Release()
	orders.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3, 4}, nil)
	orders.Field(1).(*array.StringBuilder).AppendValues([]string{"grace", "alan", "", "ada"}, []bool{true, true, false, true})
	batch := orders.NewRecordBatch()
	defer batch.Release()

	kept, err := bloomarrow.FilterRecordBatch(context.Background(), filter, batch, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer kept.Release()
	fmt.Println(kept.Column(0), kept.Column(1))
	// Output: [1 4] ["grace" "ada"]
}

func ExampleMask() {
	numbers := array.NewInt64Builder(memory.DefaultAllocator)
	defer numbers.Release()
	numbers.AppendValues([]int64{7, 8, 42, 0}, []bool{true, true, true, false})
	column := numbers.NewInt64Array()
	defer column.Release()

	// The key of an int64 is its 8 little-endian bytes, as that of a uint64 in Go.
	filter := bloom.Policy{BitsPerKey: 12}.NewFilter(bloom.Integers([]uint64{0, 7, 42}))
	mask, err := bloomarrow.Mask(memory.DefaultAllocator, filter, column)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mask.Release()
	fmt.Println(mask)
	// Output: [true false true false]
}

// columnAndBatch is the code of README.md.
func columnAndBatch(ctx context.Context, customers *arrow.Chunked, batch arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	builder := bloom.Policy{BitsPerKey: 12}.NewBuilder()
	err := bloomarrow.Add(builder, customers.Chunks()...)
	filter := builder.Filter()
	if err != nil {
		return nil, err
	}

	kept, err := bloomarrow.FilterRecordBatch(ctx, filter, batch, column)
	return kept, err
}

var _ = columnAndBatch
