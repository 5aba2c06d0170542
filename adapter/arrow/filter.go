package bloomarrow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// FilterRecordBatch tests one column of a record batch, and returns a batch of the rows that may be in the
// filter. The returned batch has the same schema and metadata. Its memory comes from the allocator of ctx
// (see compute.WithAllocator); release the batch after use. FilterRecordBatch filters columns concurrently,
// as many at a time as the compute.ExecCtx of ctx allows.
//
// FilterRecordBatch does what compute.FilterRecordBatch does with a [Mask]. It also filters types that
// arrow-go cannot filter: views, run-end encoded arrays, decimals of 32 and 64 bits, intervals of 16 bytes,
// and extension types based on any of these or on dictionaries. Filtered views share the buffers of the
// batch, and filtered dictionary arrays share its dictionaries. For other types that arrow-go cannot filter,
// such as list views and lists of 16-byte intervals, the error is [arrow.ErrNotImplemented]. In this case,
// use [Mask], and filter the other columns of the batch yourself.
//
// For the tested column, FilterRecordBatch returns the same errors as [Mask]. It also returns [ErrArray] if
// the batch has no column with the given index, or if any column has a malformed value in a row to copy.
func FilterRecordBatch(ctx context.Context, filter Tester, batch arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	return NewRecordFilter(filter).FilterRecordBatch(ctx, batch, column)
}

// RecordFilter filters a sequence of record batches. If the tested column has a dictionary, a RecordFilter
// remembers which values of the dictionary may be in the filter. So if the next batches share the dictionary,
// as the batches of an Arrow IPC file do, the RecordFilter does not test the dictionary again. It may then
// miss keys that were added to the filter between batches. A RecordFilter needs one bit of memory for each
// value of the dictionary. A RecordFilter is not safe for concurrent use.
type RecordFilter struct {
	// Invert makes the RecordFilter keep the other rows instead: null rows and rows that are certainly
	// not in the filter.
	Invert bool

	query    query
	checkers []checker // of the columns
	words    []uint64  // hits
}

// NewRecordFilter returns a RecordFilter that keeps the rows that may be in filter.
func NewRecordFilter(filter Tester) *RecordFilter {
	return &RecordFilter{query: query{filter: filter}}
}

// FilterRecordBatch filters a batch in the same way as the function [FilterRecordBatch].
func (f *RecordFilter) FilterRecordBatch(ctx context.Context, batch arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	if column < 0 || int64(column) >= batch.NumCols() {
		return nil, fmt.Errorf("%w: column %d of %d", ErrArray, column, batch.NumCols())
	}
	f.checkers = append(f.checkers, make([]checker, max(0, len(batch.Columns())-len(f.checkers)))...)
	size := 0
	for _, c := range batch.Columns() {
		size += sizeOf(c.Data())
	}
	if batch.NumRows() > int64(max(mostFreeRows, size)) {
		return f.filterParts(ctx, batch, column)
	}
	hits, n, err := f.query.rows(batch.Column(column), f.Invert, f.room)
	if err != nil {
		return nil, err
	}
	return f.take(ctx, batch, hits, n)
}

// room returns memory for words. Calls reuse it.
func (f *RecordFilter) room(words int) []uint64 {
	f.words = slices.Grow(f.words[:0], words)[:words]
	return f.words
}

// filterParts filters a record batch of more rows than bytes, some rows at a time: a few bytes can
// say that there are 2^31 rows, and each that is taken has a position of 4 bytes.
func (f *RecordFilter) filterParts(ctx context.Context, batch arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	var kept []arrow.RecordBatch
	defer func() {
		for _, k := range kept {
			k.Release()
		}
	}()
	rows := int64(0)
	for from := int64(0); from < batch.NumRows(); from += mostFreeRows {
		part := batch.NewSlice(from, min(from+mostFreeRows, batch.NumRows()))
		k, err := f.filterPart(ctx, part, column)
		part.Release()
		if err != nil {
			return nil, err
		}
		if len(kept) > 0 && kept[0].NumRows() == 0 {
			kept[0].Release()
			kept = kept[:0]
		}
		if len(kept) > 0 && k.NumRows() == 0 {
			k.Release()
			continue
		}
		kept = append(kept, k)
		rows += k.NumRows()
	}
	columns := make([]arrow.Array, len(batch.Columns()))
	defer release(columns)
	parts := make([]arrow.Array, len(kept))
	for i := range columns {
		for j, k := range kept {
			parts[j] = k.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(parts, compute.GetAllocator(ctx)); err != nil {
			return nil, err
		}
	}
	return withColumns(batch, columns, rows), nil
}

// filterPart returns a part itself if all of its rows are kept.
func (f *RecordFilter) filterPart(ctx context.Context, part arrow.RecordBatch, column int) (arrow.RecordBatch, error) {
	hits, n, err := f.query.rows(part.Column(column), f.Invert, f.room)
	if err != nil {
		return nil, err
	}
	if int64(n) < part.NumRows() {
		return f.take(ctx, part, hits, n)
	}
	for i, c := range part.Columns() {
		s, err := rowsOf(c)
		if err == nil {
			err = f.checkers[i].check(s, all(s.n))
		}
		if err != nil {
			return nil, err
		}
	}
	part.Retain()
	return part, nil
}

// take takes n rows of a record batch.
func (f *RecordFilter) take(ctx context.Context, batch arrow.RecordBatch, hits []uint64, n int) (arrow.RecordBatch, error) {
	positions := positions(compute.GetAllocator(ctx), hits, n)
	defer positions.Release()

	columns := make([]arrow.Array, len(batch.Columns()))
	defer release(columns)
	ctx = compute.WithAllocator(ctx, cleared{compute.GetAllocator(ctx)})
	group, context := errgroup.WithContext(ctx)
	group.SetLimit(max(1, compute.GetExecCtx(ctx).NumParallel))
	for i, c := range batch.Columns() {
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil { // here, because that ends the program
					err = fmt.Errorf("%w: column %d: %v", ErrArray, i, p)
				}
			}()
			columns[i], err = f.checkers[i].take(context, c, positions)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return withColumns(batch, columns, int64(positions.Len())), nil
}

// withColumns returns a record batch with other columns.
func withColumns(batch arrow.RecordBatch, columns []arrow.Array, rows int64) arrow.RecordBatch {
	var metadata arrow.Metadata
	if b, ok := batch.(arrow.RecordBatchWithMetadata); ok {
		metadata = b.Metadata()
	}
	return array.NewRecordBatchWithMetadata(batch.Schema(), columns, rows, metadata)
}

func release(columns []arrow.Array) {
	for _, c := range columns {
		if c != nil {
			c.Release()
		}
	}
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
func (ch *checker) take(ctx context.Context, c arrow.Array, positions *array.Uint32) (arrow.Array, error) {
	switch t := c.DataType().(type) {
	case *arrow.RunEndEncodedType:
		return ch.takeRuns(ctx, t, c.(*array.RunEndEncoded), positions)
	case *arrow.Decimal32Type:
		return ch.takeAs(ctx, arrow.PrimitiveTypes.Int32, c, positions)
	case *arrow.Decimal64Type:
		return ch.takeAs(ctx, arrow.PrimitiveTypes.Int64, c, positions)
	case *arrow.MonthDayNanoIntervalType:
		return ch.takeAs(ctx, &arrow.FixedSizeBinaryType{ByteWidth: t.Bytes()}, c, positions)
	case arrow.ExtensionType: // arrow-go drops the dictionary of a storage, and then panics
		return ch.takeAs(ctx, t.StorageType(), c, positions)
	}
	s, err := rowsOf(c)
	if err == nil {
		err = ch.check(s, some(positions.Uint32Values()))
	}
	if err != nil {
		return nil, err
	}
	switch c.DataType().(type) {
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return takeViews(compute.GetAllocator(ctx), s, positions.Uint32Values())
	}
	taken, err := compute.TakeArrayOpts(ctx, c, positions, compute.TakeOptions{BoundsCheck: false})
	if errors.Is(err, arrow.ErrInvalid) { // the rows are valid: it is a type in c that arrow-go does not take
		err = fmt.Errorf("%w: rows of %v: %w", arrow.ErrNotImplemented, c.DataType(), err)
	}
	return taken, err
}

// takeAs takes rows as if the values were of another type with the same buffers.
func (ch *checker) takeAs(ctx context.Context, t arrow.DataType, c arrow.Array, positions *array.Uint32) (arrow.Array, error) {
	other := withType(t, c)
	defer other.Release()
	taken, err := ch.take(ctx, other, positions)
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
func takeViews(mem memory.Allocator, s span, positions []uint32) (arrow.Array, error) {
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
func (ch *checker) takeRuns(ctx context.Context, t *arrow.RunEndEncodedType, c *array.RunEndEncoded, positions *array.Uint32) (arrow.Array, error) {
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
	v, err := ch.take(ctx, c.Values(), r)
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
