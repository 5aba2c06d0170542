package parquetgo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/internal/oracle"
)

// columns are columns of every type that parquet-go writes filters for.
var columns = []struct {
	node parquet.Node
	want bloomparquet.Type
}{
	{parquet.Leaf(parquet.Int32Type), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 32}},
	{parquet.Leaf(parquet.Int64Type), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Int, Bits: 64}},
	{parquet.Leaf(parquet.FloatType), bloomparquet.Type{Physical: bloomparquet.Float}},
	{parquet.Leaf(parquet.DoubleType), bloomparquet.Type{Physical: bloomparquet.Double}},
	{parquet.Leaf(parquet.ByteArrayType), bloomparquet.Type{Physical: bloomparquet.ByteArray}},
	{parquet.Leaf(parquet.FixedLenByteArrayType(7)), bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 7}},
	{parquet.Int(8), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 8}},
	{parquet.Int(64), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Int, Bits: 64}},
	{parquet.Uint(16), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 16}},
	{parquet.Uint(32), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 32}},
	{parquet.Uint(64), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Uint, Bits: 64}},
	{parquet.Decimal(2, 9, parquet.Int32Type), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Decimal, Precision: 9, Scale: 2}},
	{parquet.Decimal(3, 18, parquet.Int64Type), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Decimal, Precision: 18, Scale: 3}},
	{parquet.Decimal(4, 20, parquet.FixedLenByteArrayType(9)), bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 9, Logical: bloomparquet.Decimal, Precision: 20, Scale: 4}},
	{parquet.Decimal(4, 20, parquet.ByteArrayType), bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.Decimal, Precision: 20, Scale: 4}},
	{parquet.String(), bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.String}},
	{parquet.Enum(), bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.Enum}},
	{parquet.JSON(), bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.JSON}},
	{parquet.BSON(), bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.BSON}},
	{parquet.UUID(), bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 16, Logical: bloomparquet.UUID}},
	{parquet.Date(), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Date}},
	{parquet.Time(parquet.Millisecond), bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Time, Unit: bloomparquet.Millis, UTC: true}},
	{parquet.Time(parquet.Nanosecond), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Time, Unit: bloomparquet.Nanos, UTC: true}},
	{parquet.Timestamp(parquet.Millisecond), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Timestamp, Unit: bloomparquet.Millis, UTC: true}},
	{parquet.TimestampAdjusted(parquet.Microsecond, false), bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Timestamp, Unit: bloomparquet.Micros}},
}

// write writes a file with a row group for each list of values. Every seventh row is null if the
// column is optional.
func write(t *testing.T, node parquet.Node, groups [][][]byte, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	schema := parquet.NewSchema("test", parquet.Group{"k": node})
	w := parquet.NewWriter(&out, append([]parquet.WriterOption{schema, parquet.BloomFilters(parquet.SplitBlockFilter(10, "k"))}, options...)...)
	for _, values := range groups {
		for i, value := range values {
			v := node.Type().Kind().Value(value)
			switch {
			case !node.Optional():
				v = v.Level(0, 0, 0)
			case oracle.Null(i):
				v = parquet.NullValue().Level(0, 0, 0)
			default:
				v = v.Level(0, 1, 0)
			}
			if _, err := w.WriteRows([]parquet.Row{{v}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t *testing.T, data []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTypes writes a file of each type with parquet-go, and compares the answers with parquet-go's
// own checks: without bounds they are equal for every key and row group; with bounds, no
// key of a row group is missing, and fewer keys are left.
func TestTypes(t *testing.T) {
	for _, column := range columns {
		for name, node := range map[string]parquet.Node{
			"":           column.node,
			"optional":   parquet.Optional(column.node),
			"dictionary": parquet.Encoded(column.node, &parquet.RLEDictionary),
		} {
			t.Run(fmt.Sprint(column.want, " ", name), func(t *testing.T) {
				groups, keys := oracle.Values(column.want)
				data := write(t, node, groups)
				f := open(t, data)
				c, err := Open(f, "k")
				if err != nil {
					t.Fatal(err)
				}
				if c.Type() != column.want {
					t.Fatalf("type %v, want %v", c.Type(), column.want)
				}
				oracle.Compare(t, c, groups, keys, node.Optional(), library(t, f))
			})
		}
	}
}

// library is what parquet-go says of the first column.
func library(t *testing.T, f *parquet.File) (l oracle.Library) {
	for _, group := range f.RowGroups() {
		l.Rows = append(l.Rows, group.NumRows())
	}
	l.Check = func(group int) (func(key []byte) bool, error) {
		chunk := f.RowGroups()[group].ColumnChunks()[0]
		return func(key []byte) bool {
			yes, err := chunk.BloomFilter().Check(chunk.Type().Kind().Value(key))
			if err != nil {
				t.Fatal(err)
			}
			return yes
		}, nil
	}
	return l
}

// TestBoundsHelp finds row groups of sorted values by their bounds alone.
func TestBoundsHelp(t *testing.T) {
	c, err := Open(open(t, write(t, parquet.String(), oracle.Customers())), "k")
	if err != nil {
		t.Fatal(err)
	}
	m := c.Meta()
	for i := range m.Chunks {
		m.Chunks[i].FilterOffset = 0
	}
	if c, err = bloomparquet.Open(m); err != nil {
		t.Fatal(err)
	}
	oracle.CheckCustomers(t, c)
}

// TestUnreadable reads the filters that parquet-go writes and others do not read.
func TestUnreadable(t *testing.T) {
	values := [][][]byte{{[]byte("a"), []byte("b")}}
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"compressed":   {write(t, parquet.String(), values, parquet.BloomFilterCompression(&parquet.Gzip)), bloomparquet.ErrFilter},
		"other column": {write(t, parquet.String(), values, &parquet.WriterConfig{BloomFilters: []parquet.BloomFilterColumn{foreign{parquet.SplitBlockFilter(10, "k")}}}), bloomparquet.ErrFilter},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Open(open(t, test.data), "k")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Filter(0); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

// foreign is a filter that parquet-go does not know for its own. Its writer gives it a header
// without an algorithm: once this changes, this module can give parquet-go filters.
type foreign struct{ parquet.BloomFilterColumn }

func TestOpen(t *testing.T) {
	type point struct {
		X int32    `parquet:"x"`
		L []string `parquet:"l,list"`
	}
	type row struct {
		Deep point  `parquet:"deep"`
		Flag bool   `parquet:"flag"`
		Dot  int64  `parquet:"deep.x"`
		K    string `parquet:"k"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.BloomFilters(parquet.SplitBlockFilter(10, "deep", "l", "list", "element")))
	if _, err := w.Write([]row{{Deep: point{1, []string{"one", "two"}}}, {}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, out.Bytes())
	for path, want := range map[string]string{"missing": "no column", "deep": "no column", "deep.x": `several columns have the path "deep.x"`, "flag": ""} {
		_, err := Open(f, path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	missing := (*bloomparquet.NoColumnError)(nil)
	if _, err := Open(f, "K"); !errors.As(err, &missing) || missing.Path != "K" || !slices.Contains(missing.Columns, "deep.l.list.element") || len(missing.Columns) != 5 {
		t.Errorf("error %v: it lacks the columns", err)
	}
	for _, leaf := range []int{-1, 5} {
		if _, err := OpenAt(f, leaf); err == nil {
			t.Errorf("there is no column %d", leaf)
		}
	}
	c, err := Open(f, "deep.l.list.element")
	if err != nil {
		t.Fatal(err)
	}
	k, err := bloomparquet.KeysOf(c.Type(), []string{"one", "two", "three"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := oracle.RowGroups(k, c)
	if err != nil {
		t.Fatal(err)
	}
	if group := m[0]; group.Hits[0] != 0b011 || group.Rows != 2 {
		t.Errorf("the nested column: hits %b, %v", group.Hits[0], group.Err)
	}
	if k, err := Open(f, "k"); err != nil || !errors.Is(second(k.Filter(0)), bloomparquet.ErrNoFilter) {
		t.Error("a column without filters has one")
	}
}

func second(_ *bloom.Filter, err error) error { return err }

// TestTwoTypes wants an error if a row group has another type than the schema: its filter has other bytes.
func TestTwoTypes(t *testing.T) {
	f := open(t, write(t, parquet.Leaf(parquet.Int64Type), [][][]byte{{make([]byte, 8)}, {make([]byte, 8)}}))
	f.Metadata().RowGroups[1].Columns[0].MetaData.Type = format.Double
	if _, err := Open(f, "k"); !errors.Is(err, bloomparquet.ErrFooter) || !strings.HasSuffix(err.Error(), "column k has the type INT64 in the schema, but DOUBLE in row group 1") {
		t.Errorf("error %v", err)
	}
}

// TestMark gives a column that goes over from its dictionary, whose own filter lacks values, a filter of an
// Embedder, and believes that one, but not the writer's filter beside a copy of the mark.
func TestMark(t *testing.T) {
	var values [][]byte
	for i := range 2000 {
		values = append(values, fmt.Appendf(nil, "value %d", i))
	}
	options := []parquet.WriterOption{parquet.DictionaryMaxBytes(1000), parquet.PageBufferSize(500), parquet.CreatedBy("parquet-go", "18.9.0", "x")}
	node := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	data := write(t, node, [][][]byte{values}, options...)
	column := opened(t, data)
	if _, err := column.Filter(0); !errors.Is(err, bloomparquet.ErrIncomplete) || column.Meta().Chunks[0].Pages != bloomparquet.MixedPages {
		t.Fatalf("pages of the kind %d, error %v", column.Meta().Chunks[0].Pages, err)
	}
	var out bytes.Buffer
	e, err := bloomparquet.NewEmbedder(&out, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	filter, err := bloomparquet.Sizing{Rate: 0.01}.Filter(bloom.Bytes(values))
	if err := errors.Join(err, e.Add(0, 0, filter), e.Close()); err != nil {
		t.Fatal(err)
	}
	column = opened(t, out.Bytes())
	got, err := column.Filter(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		if !got.MayContain(value) {
			t.Fatalf("%s is not in the filter", value)
		}
	}
	copied := write(t, node, [][][]byte{values}, append(options, parquet.KeyValueMetadata(bloomparquet.MarkKey, column.Meta().Mark))...)
	if _, err := opened(t, copied).Filter(0); !errors.Is(err, bloomparquet.ErrIncomplete) {
		t.Errorf("beside a copied mark: error %v", err)
	}
}

// TestOrigins reads who wrote the row groups that another program copied.
func TestOrigins(t *testing.T) {
	const origins = "parquet-go version 18.7.0\nDuckDB version v1"
	data := write(t, parquet.String(), [][][]byte{{[]byte("a")}}, parquet.KeyValueMetadata(bloomparquet.OriginsKey, origins))
	if got := opened(t, data).Meta().Origins; got != origins {
		t.Errorf("origins %q", got)
	}
}

func opened(t *testing.T, data []byte) *bloomparquet.Column {
	t.Helper()
	column, err := Open(open(t, data), "k")
	if err != nil {
		t.Fatal(err)
	}
	return column
}
