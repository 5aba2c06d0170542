package arrowgo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/internal/oracle"
)

// columns are columns of every type that arrow-go writes filters for.
var columns = []struct {
	physical parquet.Type
	width    int
	logical  schema.LogicalType
	want     bloomparquet.Type
}{
	{parquet.Types.Int32, 0, nil, bloomparquet.Type{Physical: bloomparquet.Int32}},
	{parquet.Types.Int64, 0, nil, bloomparquet.Type{Physical: bloomparquet.Int64}},
	{parquet.Types.Int96, 0, nil, bloomparquet.Type{Physical: bloomparquet.Int96}},
	{parquet.Types.Float, 0, nil, bloomparquet.Type{Physical: bloomparquet.Float}},
	{parquet.Types.Double, 0, nil, bloomparquet.Type{Physical: bloomparquet.Double}},
	{parquet.Types.ByteArray, 0, nil, bloomparquet.Type{Physical: bloomparquet.ByteArray}},
	{parquet.Types.FixedLenByteArray, 7, nil, bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 7}},
	{parquet.Types.Int32, 0, schema.NewIntLogicalType(8, true), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 8}},
	{parquet.Types.Int32, 0, schema.NewIntLogicalType(16, false), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 16}},
	{parquet.Types.Int32, 0, schema.NewIntLogicalType(32, false), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 32}},
	{parquet.Types.Int64, 0, schema.NewIntLogicalType(64, false), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Uint, Bits: 64}},
	{parquet.Types.Int32, 0, schema.NewDecimalLogicalType(9, 2), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Decimal, Precision: 9, Scale: 2}},
	{parquet.Types.Int64, 0, schema.NewDecimalLogicalType(18, 3), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Decimal, Precision: 18, Scale: 3}},
	{parquet.Types.FixedLenByteArray, 9, schema.NewDecimalLogicalType(20, 4), bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 9, Logical: bloomparquet.Decimal, Precision: 20, Scale: 4}},
	{parquet.Types.ByteArray, 0, schema.NewDecimalLogicalType(20, 4), bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.Decimal, Precision: 20, Scale: 4}},
	{parquet.Types.ByteArray, 0, schema.StringLogicalType{}, bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.String}},
	{parquet.Types.ByteArray, 0, schema.EnumLogicalType{}, bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.Enum}},
	{parquet.Types.ByteArray, 0, schema.JSONLogicalType{}, bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.JSON}},
	{parquet.Types.ByteArray, 0, schema.BSONLogicalType{}, bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.BSON}},
	{parquet.Types.FixedLenByteArray, 16, schema.UUIDLogicalType{}, bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 16, Logical: bloomparquet.UUID}},
	{parquet.Types.FixedLenByteArray, 2, schema.Float16LogicalType{}, bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 2, Logical: bloomparquet.Float16}},
	{parquet.Types.FixedLenByteArray, 12, schema.IntervalLogicalType{}, bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 12, Logical: bloomparquet.Interval}},
	{parquet.Types.Int32, 0, schema.DateLogicalType{}, bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Date}},
	{parquet.Types.Int32, 0, schema.NewTimeLogicalType(true, schema.TimeUnitMillis), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Time, Unit: bloomparquet.Millis, UTC: true}},
	{parquet.Types.Int64, 0, schema.NewTimeLogicalType(false, schema.TimeUnitMicros), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Time, Unit: bloomparquet.Micros}},
	{parquet.Types.Int64, 0, schema.NewTimestampLogicalType(true, schema.TimeUnitMillis), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Timestamp, Unit: bloomparquet.Millis, UTC: true}},
	{parquet.Types.Int64, 0, schema.NewTimestampLogicalType(false, schema.TimeUnitNanos), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Timestamp, Unit: bloomparquet.Nanos}},
}

// valuesOf returns values of one width from their bytes.
func valuesOf[V any](values [][]byte) []V {
	all := make([]V, len(values))
	for i, value := range values {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&all[i])), unsafe.Sizeof(all[i])), value)
	}
	return all
}

// write writes a file with a row group for each list of values. Every seventh row is null.
func write(t *testing.T, node schema.Node, groups [][][]byte, options ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	if err != nil {
		t.Fatal(err)
	}
	options = append([]parquet.WriterProperty{parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterNDV(300), parquet.WithStats(true)}, options...)
	w, err := file.NewParquetWriterWithError(&out, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		column, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		var values [][]byte
		levels := make([]int16, len(group))
		for i, value := range group {
			if !oracle.Null(i) {
				levels[i] = 1
				values = append(values, value)
			}
		}
		if err := writeColumn(column, values, levels); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(column.Close(), g.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeColumn(column file.ColumnChunkWriter, values [][]byte, levels []int16) (err error) {
	switch w := column.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf[int32](values), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf[int64](values), levels, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf[parquet.Int96](values), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf[float32](values), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf[float64](values), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(slicesOf[parquet.ByteArray](values), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(slicesOf[parquet.FixedLenByteArray](values), levels, nil)
	default:
		err = fmt.Errorf("no writer for %T", column)
	}
	return err
}

func slicesOf[V ~[]byte](values [][]byte) []V {
	all := make([]V, len(values))
	for i, value := range values {
		all[i] = value
	}
	return all
}

func open(t *testing.T, data []byte) *file.Reader {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestTypes writes a file of each type with arrow-go, and compares the answers with arrow-go's own
// checks: without bounds they are equal for every key and row group; with bounds, no key
// of a row group is missing.
func TestTypes(t *testing.T) {
	for _, column := range columns {
		for _, dictionary := range []bool{false, true} {
			t.Run(fmt.Sprint(column.want, " ", dictionary), func(t *testing.T) {
				node, err := schema.NewPrimitiveNodeLogical("k", parquet.Repetitions.Optional, column.logical, column.physical, column.width, -1)
				if err != nil {
					t.Fatal(err)
				}
				groups, keys := oracle.Values(column.want)
				r := open(t, write(t, node, groups, parquet.WithDictionaryDefault(dictionary)))
				c, err := Open(r, "k")
				if err != nil {
					t.Fatal(err)
				}
				if c.Type() != column.want {
					t.Fatalf("type %v, want %v", c.Type(), column.want)
				}
				oracle.Compare(t, c, groups, keys, true, library(r))
			})
		}
	}
}

// library is what arrow-go says of the first column.
func library(r *file.Reader) (l oracle.Library) {
	for g := range r.NumRowGroups() {
		l.Rows = append(l.Rows, r.MetaData().RowGroup(g).NumRows())
	}
	l.Check = func(group int) (check func(key []byte) bool, err error) {
		filters, err := r.GetBloomFilterReader().RowGroup(group)
		if err != nil {
			return nil, err
		}
		f, err := filters.GetColumnBloomFilter(0)
		if err == nil && f == nil {
			err = errors.New("arrow-go finds no filter")
		}
		return func(key []byte) bool { return f.CheckHash(f.Hasher().Sum64(key)) }, err
	}
	return l
}

// TestBoundsHelp finds row groups of sorted values by their bounds alone.
func TestBoundsHelp(t *testing.T) {
	node, err := schema.NewPrimitiveNodeLogical("k", parquet.Repetitions.Optional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(open(t, write(t, node, oracle.Customers(), parquet.WithBloomFilterEnabled(false))), "k")
	if err != nil {
		t.Fatal(err)
	}
	oracle.CheckCustomers(t, c)
}

func TestOpen(t *testing.T) {
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		schema.MustGroup(schema.NewGroupNode("deep", parquet.Repetitions.Required, schema.FieldList{
			schema.NewInt32Node("x", parquet.Repetitions.Required, -1),
		}, -1)),
		schema.NewInt32Node("deep.x", parquet.Repetitions.Required, -1),
		schema.NewInt32Node("k", parquet.Repetitions.Required, -1),
	}, -1))
	var out bytes.Buffer
	w, err := file.NewParquetWriterWithError(&out, root)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.Bytes())
	for path, ok := range map[string]bool{"missing": false, "deep": false, "deep.x": false, "k": true} {
		if _, err := Open(r, path); (err == nil) != ok {
			t.Errorf("%s: error %v", path, err)
		}
	}
	missing := (*bloomparquet.NoColumnError)(nil)
	if _, err := Open(r, "K"); !errors.As(err, &missing) || missing.Path != "K" || !slices.Equal(missing.Columns, []string{"deep.x", "deep.x", "k"}) {
		t.Errorf("error %v: it lacks the columns", err)
	}
	for _, leaf := range []int{-1, 3} {
		if _, err := OpenAt(r, leaf); err == nil {
			t.Errorf("there is no column %d", leaf)
		}
	}
	if c, err := OpenAt(r, 0); err != nil || c.Len() != 0 || c.Meta().Path != "deep.x" {
		t.Errorf("the first column: %v", err)
	}
}

// TestTwoTypes wants an error if a row group has another type than the schema: its filter has other bytes.
func TestTwoTypes(t *testing.T) {
	node := schema.NewInt64Node("k", parquet.Repetitions.Optional, -1)
	r := open(t, write(t, node, [][][]byte{{make([]byte, 8)}, {make([]byte, 8)}}))
	r.MetaData().RowGroups[1].Columns[0].MetaData.Type = 5 // DOUBLE
	if _, err := Open(r, "k"); !errors.Is(err, bloomparquet.ErrFooter) || !strings.HasSuffix(err.Error(), "column k has the type INT64 in the schema, but DOUBLE in row group 1") {
		t.Errorf("error %v", err)
	}
}

// TestFooter reads what the key-value metadata say of filters.
func TestFooter(t *testing.T) {
	const origins, mark = "parquet-go version 18.7.0\nDuckDB version v1", "bWFyaw"
	var out bytes.Buffer
	w, err := file.NewParquetWriterWithError(&out, schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		schema.NewInt32Node("k", parquet.Repetitions.Required, -1),
	}, -1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.AppendKeyValueMetadata(bloomparquet.OriginsKey, origins), w.AppendKeyValueMetadata(bloomparquet.MarkKey, mark), w.Close()); err != nil {
		t.Fatal(err)
	}
	column, err := Open(open(t, out.Bytes()), "k")
	if err != nil {
		t.Fatal(err)
	}
	if m := column.Meta(); m.Origins != origins || m.Mark != mark {
		t.Errorf("origins %q, mark %q", m.Origins, m.Mark)
	}
}

// TestDictionary reads the dictionaries of files of an unknown program, of every codec and width, which have
// all values of their filters. A filter of another row group's values is not believed.
func TestDictionary(t *testing.T) {
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw}
	for _, physical := range []parquet.Type{parquet.Types.Int32, parquet.Types.Int64, parquet.Types.ByteArray, parquet.Types.FixedLenByteArray} {
		for _, codec := range codecs {
			groups := make([][][]byte, 2)
			for i := range 5000 {
				value := fmt.Appendf(nil, "%08d", i%100)
				if physical == parquet.Types.Int32 {
					value = value[4:]
				}
				groups[0] = append(groups[0], value)
				groups[1] = append(groups[1], append([]byte("9"), value[1:]...))
			}
			node, err := schema.NewPrimitiveNode("k", parquet.Repetitions.Optional, physical, -1, 8)
			if err != nil {
				t.Fatal(err)
			}
			data := write(t, node, groups, parquet.WithCreatedBy("program version 1"), parquet.WithCompression(codec), parquet.WithDictionaryDefault(true))
			reader := open(t, data)
			column, err := Open(reader, "k")
			if err != nil {
				t.Fatal(err)
			}
			meta := column.Meta()
			if meta.Chunks[0].Pages != bloomparquet.DictionaryPages {
				t.Fatalf("pages of the kind %d", meta.Chunks[0].Pages)
			}
			for i := range groups {
				if _, err := column.Filter(i); err != nil {
					t.Errorf("%v, %v, row group %d: %v", physical, codec, i, err)
				}
			}
			meta.Chunks[0].FilterOffset, meta.Chunks[1].FilterOffset = meta.Chunks[1].FilterOffset, meta.Chunks[0].FilterOffset
			meta.Chunks[0].FilterLength, meta.Chunks[1].FilterLength = meta.Chunks[1].FilterLength, meta.Chunks[0].FilterLength
			wrong, err := bloomparquet.Open(meta)
			if err != nil {
				t.Fatal(err)
			}
			for i := range groups {
				if _, err := wrong.Filter(i); !errors.Is(err, bloomparquet.ErrIncomplete) {
					t.Errorf("%v, %v, the filter of another row group: %v", physical, codec, err)
				}
			}
		}
	}
}
