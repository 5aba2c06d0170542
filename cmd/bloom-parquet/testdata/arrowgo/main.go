// Command arrowgo writes random Parquet files with a version of arrow-go, for TestWriters: its arguments are
//
//	FOLDER FIRST FILES [CREATED-BY]
//
// The files of the numbers FIRST to FIRST+FILES-1 have a column of row numbers, two of keys, and one of
// lists. Some keys are dictionary arrays that get another dictionary in a later batch; some have dictionaries
// that overflow. File n is the same each time.
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "arrowgo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("want FOLDER FIRST FILES [CREATED-BY]")
	}
	by := parquet.DefaultCreatedBy
	if len(args) > 3 {
		by = args[3]
	}
	first, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	files, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	for n := first; n < first+files; n++ {
		name := filepath.Join(args[0], fmt.Sprintf("%s %d.parquet", by, n))
		if err := write(name, by, rand.New(rand.NewPCG(57, uint64(n)))); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// table is a random table as it is written.
type table struct {
	*rand.Rand
	rows      int // of a row group
	different int // number of different keys
	dict      bool
	other     bool // whether later batches have other dictionaries
}

func write(name, by string, r *rand.Rand) (err error) {
	t := &table{Rand: r, rows: 50 + r.IntN(400), different: 1 + r.IntN(600), dict: r.IntN(2) == 0, other: r.IntN(2) == 0}
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip}
	versions := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}
	properties := parquet.NewWriterProperties(
		parquet.WithCreatedBy(by),
		parquet.WithBloomFilterEnabled(true),
		parquet.WithMaxBloomFilterBytes(16<<10),
		parquet.WithBloomFilterNDV(1000),
		parquet.WithDictionaryDefault(r.IntN(4) > 0),
		parquet.WithDictionaryPageSizeLimit(int64([]int{200, 1000, 4000, 1 << 20}[r.IntN(4)])),
		parquet.WithDataPageSize(int64([]int{100, 1000, 1 << 20}[r.IntN(3)])),
		parquet.WithBatchSize(int64([]int{16, 100, 1024}[r.IntN(3)])),
		parquet.WithCompression(codecs[r.IntN(len(codecs))]),
		parquet.WithDataPageVersion(versions[r.IntN(len(versions))]),
	)
	key := arrow.DataType(arrow.BinaryTypes.String)
	if t.dict {
		key = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: key, Nullable: true},
		{Name: "number", Type: arrow.PrimitiveTypes.Int64, Nullable: r.IntN(2) == 0},
		{Name: "tags", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)},
	}, nil)
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(schema, file, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	row := 0
	for range 1 + r.IntN(3) {
		w.NewBufferedRowGroup()
		for rest := t.rows; rest > 0; {
			n := rest
			if r.IntN(2) == 0 {
				n = min(rest, 1+r.IntN(t.rows))
			}
			batch := t.batch(schema, row, n)
			if err := w.WriteBuffered(batch); err != nil {
				return err
			}
			row, rest = row+n, rest-n
		}
	}
	return w.Close() // and the file
}

// batch returns n rows from a number on.
func (t *table) batch(schema *arrow.Schema, from, n int) arrow.Record {
	rows, numbers := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	tags := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64)
	start := 0
	if t.other {
		start = from
	}
	for i := range n {
		rows.Append(int64(from + i))
		tags.Append(true)
		if i%20 == 0 {
			tags.ValueBuilder().(*array.Int64Builder).Append(int64(i))
		}
		if schema.Field(2).Nullable && t.IntN(9) == 0 {
			numbers.AppendNull()
		} else {
			numbers.Append(int64(start + t.IntN(t.different)))
		}
	}
	return array.NewRecord(schema, []arrow.Array{rows.NewArray(), t.texts(n, start), numbers.NewArray(), tags.NewArray()}, int64(n))
}

// texts returns n texts, as strings or as a dictionary array.
func (t *table) texts(n, start int) arrow.Array {
	text := func() string { return fmt.Sprintf("key %d", start+t.IntN(t.different)) }
	if !t.dict {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for range n {
			if t.IntN(9) == 0 {
				b.AppendNull()
			} else {
				b.Append(text())
			}
		}
		return b.NewArray()
	}
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	for range n {
		if t.IntN(9) == 0 {
			b.AppendNull()
		} else if err := b.AppendString(text()); err != nil {
			panic(err) // it has room
		}
	}
	return b.NewArray()
}
