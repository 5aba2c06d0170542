package bloomarrow

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// FilterRecordBatch returns those rows of a record batch whose value in a column may be in the
// filter. The schema, its metadata and those of the batch stay. The result has memory of the
// allocator of ctx (compute.WithAllocator); release it. As many columns are filtered at once as
// the compute.ExecCtx of ctx allows.
//
// It does what compute.FilterRecordBatch does with a [Mask]. It also filters what arrow-go cannot:
// views, run-end encoded arrays, decimals of 32 and 64 bits, and extensions of these and of
// dictionaries. Filtered views share the buffers of the batch, and filtered dictionaries their
// values. Other columns that arrow-go does not filter, such as list views, are the error
// arrow.ErrNotImplemented: test with Mask, and filter the other columns of the batch.
//
// The other errors are those of [Positions] for the column that is tested, and [ErrArray] if
// there is no such column. The other columns must be well-formed: arrow-go may panic if not.
func FilterRecordBatch(ctx context.Context, filter Tester, batch arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	return NewRecordFilter(filter).FilterRecordBatch(ctx, batch, column)
}

// RecordFilter filters record batches one after the other. It remembers which values of the last
// dictionary of the tested column may be in the filter, in a bit for each value: batches that share
// the dictionary, as those of a file of Arrow IPC do, test it once. So keys that are added to the
// filter in the meantime may be missed. It is not safe for concurrent use.
type RecordFilter struct {
	// Invert keeps the other rows: those that are certainly not in the filter, and null rows.
	Invert bool

	query query
}

// NewRecordFilter returns a RecordFilter that keeps the rows that may be in the filter.
func NewRecordFilter(filter Tester) *RecordFilter {
	return &RecordFilter{query: query{filter: filter}}
}

// FilterRecordBatch is the function [FilterRecordBatch].
func (f *RecordFilter) FilterRecordBatch(ctx context.Context, batch arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	if column < 0 || int64(column) >= batch.NumCols() {
		return nil, fmt.Errorf("%w: column %d of %d", ErrArray, column, batch.NumCols())
	}
	positions, err := f.query.positions(compute.GetAllocator(ctx), batch.Column(column), f.Invert)
	if err != nil {
		return nil, err
	}
	defer positions.Release()

	columns := make([]arrow.Array, len(batch.Columns()))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	ctx = compute.WithAllocator(ctx, cleared{compute.GetAllocator(ctx)})
	group, context := errgroup.WithContext(ctx)
	group.SetLimit(max(1, compute.GetExecCtx(ctx).NumParallel))
	for i, c := range batch.Columns() {
		group.Go(func() (err error) {
			columns[i], err = take(context, c, positions)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var metadata arrow.Metadata
	if b, ok := batch.(arrow.RecordBatchWithMetadata); ok {
		metadata = b.Metadata()
	}
	return array.NewRecordBatchWithMetadata(batch.Schema(), columns, int64(positions.Len()), metadata), nil
}

// cleared is an allocator of memory that is clear. arrow-go's Take needs that: of a bitmap of
// nulls, it sets the bits of valid rows, and does not clear the others.
type cleared struct{ memory.Allocator }

func (c cleared) Allocate(size int) []byte {
	b := c.Allocator.Allocate(size)
	if _, isClear := c.Allocator.(*memory.GoAllocator); !isClear {
		clear(b)
	}
	return b
}

// take returns rows of a column.
func take(ctx context.Context, c arrow.Array, positions *array.Uint32) (arrow.Array, error) {
	switch t := c.DataType().(type) {
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return takeViews(compute.GetAllocator(ctx), c, positions.Uint32Values())
	case *arrow.RunEndEncodedType:
		return takeRuns(ctx, t, c.(*array.RunEndEncoded), positions)
	case *arrow.Decimal32Type:
		return takeAs(ctx, arrow.PrimitiveTypes.Int32, c, positions)
	case *arrow.Decimal64Type:
		return takeAs(ctx, arrow.PrimitiveTypes.Int64, c, positions)
	case arrow.ExtensionType: // arrow-go drops the dictionary of a storage, and then panics
		return takeAs(ctx, t.StorageType(), c, positions)
	}
	return compute.TakeArrayOpts(ctx, c, positions, compute.TakeOptions{BoundsCheck: false})
}

// takeAs takes rows as if the values were of another type with the same buffers.
func takeAs(ctx context.Context, t arrow.DataType, c arrow.Array, positions *array.Uint32) (arrow.Array, error) {
	other := withType(t, c)
	defer other.Release()
	taken, err := take(ctx, other, positions)
	if err != nil {
		return nil, err
	}
	defer taken.Release()
	return withType(c.DataType(), taken), nil
}

// withType returns an array of another type with the same buffers.
func withType(t arrow.DataType, c arrow.Array) arrow.Array {
	d := c.Data().(*array.Data)
	data := array.NewData(t, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
	defer data.Release()
	data.SetDictionary(d.Dictionary())
	return array.MakeFromData(data)
}

// takeViews copies headers.
func takeViews(mem memory.Allocator, c arrow.Array, positions []uint32) (arrow.Array, error) {
	s, err := rowsOf(c)
	if err != nil {
		return nil, err
	}
	bytes, err := s.fixed(arrow.ViewHeaderSizeBytes)
	if err != nil {
		return nil, err
	}
	nulls, offset, err := s.nulls()
	if err != nil {
		return nil, err
	}
	headers := memory.NewResizableBuffer(mem)
	defer headers.Release()
	headers.Resize(arrow.ViewHeaderSizeBytes * len(positions))
	from, to := arrow.GetData[arrow.ViewHeader](bytes), arrow.GetData[arrow.ViewHeader](headers.Bytes())
	for i, row := range positions {
		to[i] = from[row]
	}
	buffers := append([]*memory.Buffer{nil, headers}, s.data.Buffers()[2:]...)
	if nulls != nil {
		bitmap := memory.NewResizableBuffer(mem)
		defer bitmap.Release()
		bitmap.Resize((len(positions) + 7) / 8)
		clear(bitmap.Bytes())
		for i, row := range positions {
			bitutil.SetBitTo(bitmap.Bytes(), i, bitutil.BitIsSet(nulls, offset+int(row)))
		}
		buffers[0] = bitmap
	}
	data := array.NewData(s.dtype, len(positions), buffers, nil, array.UnknownNullCount, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// takeRuns takes the value of each run that a row is in.
func takeRuns(ctx context.Context, t *arrow.RunEndEncodedType, c *array.RunEndEncoded, positions *array.Uint32) (arrow.Array, error) {
	s, err := rowsOf(c)
	if err != nil {
		return nil, err
	}
	values, ends, err := runsOf(s, t)
	if err != nil {
		return nil, err
	}
	mem := compute.GetAllocator(ctx)
	newEnds, runs := array.NewBuilder(mem, t.RunEnds()), array.NewUint32Builder(mem)
	defer newEnds.Release()
	defer runs.Release()
	first := values.offset - c.Values().Data().Offset()
	run, rows := 0, positions.Uint32Values()
	for i, row := range rows {
		for ends[run] <= int(row) {
			run++
		}
		if i+1 == len(rows) || ends[run] <= int(rows[i+1]) { // the last row of the run
			runs.Append(uint32(first + run))
			appendEnd(newEnds, i+1)
		}
	}
	e, r := newEnds.NewArray(), runs.NewUint32Array()
	defer e.Release()
	defer r.Release()
	v, err := take(ctx, c.Values(), r)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	return array.NewRunEndEncodedArrayWithType(t, e, v, len(rows), 0), nil
}

func appendEnd(b array.Builder, end int) {
	switch b := b.(type) {
	case *array.Int16Builder:
		b.Append(int16(end))
	case *array.Int32Builder:
		b.Append(int32(end))
	case *array.Int64Builder:
		b.Append(int64(end))
	}
}
