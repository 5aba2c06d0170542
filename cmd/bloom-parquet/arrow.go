package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// arrowMagic is how a file of Arrow IPC begins (Feather version 2, too).
const arrowMagic = "ARROW1"

// arrowStream is how a stream of Arrow IPC begins.
const arrowStream = "\xff\xff\xff\xff"

// isArrow reports whether a file is one of Arrow IPC. A stream of it is an error.
func isArrow(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	start := make([]byte, len(arrowMagic))
	_, err = io.ReadFull(file, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // too short to be one
	}
	if err == nil && strings.HasPrefix(string(start), arrowStream) {
		err = fmt.Errorf("%s: this looks like a stream of Arrow IPC: files of it are read, which begin with %s", name, arrowMagic)
	}
	return string(start) == arrowMagic, err
}

// eachRecordBatch calls do with the record batches of a file of Arrow IPC and the number of a
// column. start is called before, with the type of the column. Either may be nil.
func eachRecordBatch(name, column string, start func(*ipc.FileReader, arrow.DataType) error, do func(batch arrow.RecordBatch, column int) error) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	defer func() {
		if p := recover(); p != nil { // arrow-go panics for some bytes that are not of the format
			err = fmt.Errorf("malformed: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("%s: %s", name, withoutPrefix(err))
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, err := ipc.NewFileReader(file, ipc.WithAllocator(bounded{memory.DefaultAllocator, 64<<20 + 1000*info.Size()}))
	if err != nil {
		return err
	}
	defer r.Close()
	columns := r.Schema().FieldIndices(column)
	switch len(columns) {
	case 0:
		missing := &bloomparquet.NoColumnError{Path: column}
		for _, field := range r.Schema().Fields() {
			missing.Columns = append(missing.Columns, field.Name)
		}
		return missing
	case 1:
	default:
		return fmt.Errorf("%d columns %q", len(columns), column)
	}
	if start != nil {
		if err := start(r, r.Schema().Field(columns[0]).Type); err != nil {
			return err
		}
	}
	if do == nil {
		return nil
	}
	for i := range r.NumRecords() {
		batch, err := r.RecordBatchAt(i)
		if err != nil {
			return fmt.Errorf("record batch %d: %w", i, err)
		}
		err = do(batch, columns[0])
		batch.Release()
		if err != nil {
			return fmt.Errorf("record batch %d: %w", i, err)
		}
	}
	return nil
}

// bounded is an allocator of no more bytes at once than a file accounts for: a few bytes of a
// compressed buffer can say that it has 2^60 bytes.
type bounded struct {
	memory.Allocator
	most int64
}

func (b bounded) check(size int) {
	if size < 0 || int64(size) > b.most {
		panic(fmt.Sprintf("a buffer of %d bytes", size)) // eachRecordBatch recovers
	}
}

func (b bounded) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, old)
}

// copyArrow writes the rows of files of Arrow IPC that pass, and returns their number.
func (f *filterCommand) copyArrow(s *streams, out io.Writer) (passed int64, err error) {
	list, err := f.readKeys(s)
	if err != nil {
		return 0, err
	}
	schema, t, err := f.checkArrow()
	if err != nil {
		return 0, err
	}
	keys, err := typeOfArrow(t)
	if err != nil && list != nil {
		return 0, fmt.Errorf("%s: column %s: %w", f.inputs[0], f.Column, err)
	}
	wanted, err := f.tester(s, list, keys)
	if err != nil {
		return 0, err
	}
	write, end, err := f.arrowSink(out, schema)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.inputs[0], err)
	}
	all := int64(0)
	progress, done := bar(s, "filtering", int64(len(f.inputs)))
	defer done()
	for _, name := range f.inputs {
		rowsOf := bloomarrow.NewRecordFilter(wanted)
		rowsOf.Invert = f.Invert
		err := eachRecordBatch(name, f.Column, nil, func(batch arrow.RecordBatch, column int) error {
			rows, err := rowsOf.FilterRecordBatch(context.Background(), batch, column)
			if err != nil {
				return err
			}
			defer rows.Release()
			passed += rows.NumRows()
			all += batch.NumRows()
			return write(rows)
		})
		if err != nil {
			return 0, err
		}
		progress(1)
	}
	f.warnNone(s, list, passed, all)
	return passed, end()
}

// checkArrow returns the schema of the first file and the type of its column. The files must have the same
// columns.
func (f *filterCommand) checkArrow() (schema *arrow.Schema, t arrow.DataType, err error) {
	for _, name := range f.inputs {
		err := eachRecordBatch(name, f.Column, func(r *ipc.FileReader, dtype arrow.DataType) error {
			switch {
			case schema == nil:
				schema, t = r.Schema(), dtype
			case bloomarrow.KeyKind(dtype) != bloomarrow.KeyKind(t):
				return f.otherKind(bloomarrow.KeyKind(dtype), bloomarrow.KeyKind(t))
			case !slices.EqualFunc(r.Schema().Fields(), schema.Fields(), arrow.Field.Equal):
				return fmt.Errorf("the columns differ from those of %s", f.inputs[0])
			}
			return nil
		}, nil)
		if err != nil {
			return nil, nil, err
		}
	}
	return schema, t, nil
}

// arrowSink returns a function to write rows, and one to call at the end.
func (f *filterCommand) arrowSink(out io.Writer, schema *arrow.Schema) (write func(arrow.RecordBatch) error, end func() error, err error) {
	if !f.CSV && !f.JSONL {
		w, err := ipc.NewFileWriter(out, ipc.WithSchema(schema))
		return w.Write, w.Close, err
	}
	text := &arrowText{textWriter: textWriter{csv: f.CSV}, out: out}
	return text.write, func() error { return nil }, text.start(schema)
}
