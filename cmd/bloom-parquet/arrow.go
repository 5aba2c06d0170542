package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// arrowMagic is how a file of Arrow IPC begins (Feather version 2, too).
const arrowMagic = "ARROW1"

// isArrow reports whether a file is one of Arrow IPC.
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
	return string(start) == arrowMagic, err
}

// eachRecordBatch calls do with the record batches of a file of Arrow IPC and the number of a
// column. start is called before, if it is not nil.
func eachRecordBatch(name, column string, start func(*ipc.FileReader) error, do func(batch arrow.RecordBatch, column int) error) (err error) {
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
		if err := start(r); err != nil {
			return err
		}
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

// copyArrow writes the rows of a file of Arrow IPC that pass, and returns their number.
func (f *filterCommand) copyArrow(out io.Writer, filter *bloom.Filter) (passed int64, err error) {
	var w *ipc.FileWriter
	rowsOf := bloomarrow.NewRecordFilter(filter)
	rowsOf.Invert = f.Invert
	err = eachRecordBatch(f.Input, f.Column,
		func(r *ipc.FileReader) (err error) {
			w, err = ipc.NewFileWriter(out, ipc.WithSchema(r.Schema()))
			return err
		},
		func(batch arrow.RecordBatch, column int) error {
			rows, err := rowsOf.FilterRecordBatch(context.Background(), batch, column)
			if err != nil {
				return err
			}
			defer rows.Release()
			passed += rows.NumRows()
			return w.Write(rows)
		})
	if err != nil {
		return 0, err
	}
	return passed, w.Close()
}
