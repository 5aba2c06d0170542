package compare

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet/arrowgo"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// prunedFiles are files with a column of each type and 3 row groups of 200 rows.
var prunedFiles = map[string]func(t *testing.T) []byte{
	"parquet-go": parquetGoTypes,
	"arrow-go":   arrowGoTypes,
}

func parquetGoTypes(t *testing.T) []byte {
	t.Helper()
	type row struct {
		I8    int8      `parquet:"i8"`
		I16   int16     `parquet:"i16"`
		I32   int32     `parquet:"i32"`
		I64   int64     `parquet:"i64,dict"`
		U32   uint32    `parquet:"u32"`
		U64   uint64    `parquet:"u64"`
		F32   float32   `parquet:"f32"`
		F64   float64   `parquet:"f64"`
		Text  string    `parquet:"text,dict"`
		Bytes []byte    `parquet:"bytes"`
		Enum  string    `parquet:"enum,enum"`
		JSON  string    `parquet:"json,json"`
		UUID  [16]byte  `parquet:"uuid,uuid"`
		Dec32 int32     `parquet:"dec32,decimal(2:9)"`
		Dec64 int64     `parquet:"dec64,decimal(3:18)"`
		Date  int32     `parquet:"date,date"`
		Milli time.Time `parquet:"milli,timestamp(millisecond)"`
		Micro time.Time `parquet:"micro,timestamp(microsecond)"`
		Null  *string   `parquet:"null,optional"`
	}
	schema := parquet.SchemaOf(row{})
	var filters []parquet.BloomFilterColumn
	for _, path := range schema.Columns() {
		filters = append(filters, parquet.SplitBlockFilter(10, path...))
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.BloomFilters(filters...), parquet.MaxRowsPerRowGroup(200))
	for i := range 600 {
		text := fmt.Sprint("text ", i)
		r := row{int8(i), int16(-i), int32(i) - 300, int64(i % 50), uint32(i) << 24, uint64(i) << 60, float32(i), 1 / float64(i+1), text, []byte(text), text, text,
			[16]byte{byte(i), 15: byte(i >> 8)}, int32(i), int64(-i), int32(i), time.UnixMilli(int64(i)), time.UnixMicro(int64(i)), nil}
		if i%2 == 0 {
			r.Null = &text
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func arrowGoTypes(t *testing.T) []byte {
	t.Helper()
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
		&arrow.FixedSizeBinaryType{ByteWidth: 6}, arrow.PrimitiveTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond},
		&arrow.Decimal128Type{Precision: 25, Scale: 3},
	}
	var fields []arrow.Field
	for i, typ := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: typ, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(
		arrowparquet.WithBloomFilterEnabled(true), arrowparquet.WithBloomFilterNDV(200), arrowparquet.WithStats(true)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range 200 {
			for _, field := range b.Fields() {
				if i%9 == 8 {
					field.AppendNull()
				} else if err := field.AppendValueFromString(textFor(field.Type(), random)); err != nil {
					t.Fatal(field.Type(), err)
				}
			}
		}
		record := b.NewRecordBatch()
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
		record.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// textFor returns a random value of a type as arrow-go reads it.
func textFor(typ arrow.DataType, random *rand.Rand) string {
	n := random.IntN(100)
	switch typ.ID() {
	case arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return "AAECAwQF"[:6] + fmt.Sprint(n/10%10, n%10)[:1] + "A" // base64
	case arrow.DATE32:
		return time.Unix(int64(n)*86400, 0).UTC().Format(time.DateOnly)
	case arrow.TIME32, arrow.TIME64:
		return fmt.Sprintf("00:01:%02d", n%60)
	case arrow.TIMESTAMP:
		if typ.(*arrow.TimestampType).TimeZone == "" {
			return time.Unix(int64(n), 0).UTC().Format("2006-01-02T15:04:05")
		}
		return time.Unix(int64(n), 0).UTC().Format(time.RFC3339)
	}
	return fmt.Sprint(n)
}

// TestPruneFiles opens columns of every type, written by both libraries, with both. The two say the
// same of them, and the matrix agrees with the checks of both for every value of the file, for
// random bytes, and for every row group.
func TestPruneFiles(t *testing.T) {
	for writer, write := range prunedFiles {
		data := write(t)
		theirs, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		reader, err := file.NewParquetReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		for leaf, path := range theirs.Schema().Columns() {
			one, err := parquetgo.Open(theirs, path[0])
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint("writer=", writer, "/", path[0], " ", one.Type()), func(t *testing.T) {
				other, err := arrowgo.Open(reader, path[0])
				if err != nil {
					t.Fatal(err)
				}
				a, b := one.Meta(), other.Meta()
				a.Input, b.Input, a.Decompress, b.Decompress = nil, nil, nil, nil // functions are never equal
				if !reflect.DeepEqual(a, b) {
					t.Fatalf("opened by parquet-go as %+v, by arrow-go as %+v", a, b)
				}
				checkPruned(t, theirs, reader, leaf, one, other)
			})
		}
	}
}

func checkPruned(t *testing.T, theirs *parquet.File, reader *file.Reader, leaf int, columns ...*bloomparquet.Column) {
	var keys [][]byte
	groups := make([]map[string]bool, len(theirs.RowGroups()))
	for g, group := range theirs.RowGroups() {
		groups[g] = map[string]bool{}
		pages := group.ColumnChunks()[leaf].Pages()
		for page, err := pages.ReadPage(); err == nil; page, err = pages.ReadPage() {
			values := make([]parquet.Value, page.NumValues())
			n, _ := page.Values().ReadValues(values)
			for _, v := range values[:n] {
				if key := v.AppendBytes(nil); !v.IsNull() && !groups[g][string(key)] {
					groups[g][string(key)] = true
					keys = append(keys, key)
				}
			}
		}
		pages.Close()
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		key := bytes.Clone(keys[random.IntN(len(keys))])
		key[random.IntN(len(key))] ^= byte(1 + random.IntN(255))
		keys = append(keys, key)
	}
	for _, column := range columns {
		m := column.Meta()
		m.Chunks = slices.Clone(m.Chunks)
		for i := range m.Chunks {
			m.Chunks[i].Min, m.Chunks[i].Max = nil, nil
		}
		unbounded, err := bloomparquet.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		k, err := bloomparquet.KeysOf(m.Type, keys)
		if err != nil {
			t.Fatal(err)
		}
		all, err := rowGroups(k, unbounded)
		if err != nil {
			t.Fatal(err)
		}
		bounded, err := rowGroups(k, column)
		if err != nil {
			t.Fatal(err)
		}
		floats := m.Type.Physical == bloomparquet.Float || m.Type.Physical == bloomparquet.Double // 0 and NaN pass
		for g := range groups {
			check := theirs.RowGroups()[g].ColumnChunks()[leaf].BloomFilter()
			arrows := arrowHashes(t, reader, g, leaf, keys)
			for i, key := range keys {
				said, err := check.Check(parquet.Kind(m.Type.Physical).Value(key))
				if err != nil {
					t.Fatal(err)
				}
				if ours := groupMayHave(all[g], i); said != arrows[i] || ours != said && (!floats || !ours) {
					t.Fatalf("row group %d, %x: %v, parquet-go says %v, arrow-go %v", g, key, ours, said, arrows[i])
				}
				if groups[g][string(key)] && !groupMayHave(bounded[g], i) {
					t.Fatalf("row group %d has %x, between %x and %x", g, key, m.Chunks[g].Min, m.Chunks[g].Max)
				}
			}
		}
	}
}

// arrowHashes returns arrow-go's answers about a row group.
func arrowHashes(t *testing.T, reader *file.Reader, group, leaf int, keys [][]byte) (answers []bool) {
	filters, err := reader.GetBloomFilterReader().RowGroup(group)
	if err != nil {
		t.Fatal(err)
	}
	if err := filters.VisitColumnBloomFilter(leaf, func(f metadata.BloomFilter) error {
		for _, key := range keys {
			answers = append(answers, f.CheckHash(f.Hasher().Sum64(key)))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(keys) {
		t.Fatal("arrow-go finds no filter")
	}
	return answers
}

// rowGroups returns what Prune yields, with hits of its own for each row group.
func rowGroups(k *bloomparquet.Keys, columns ...*bloomparquet.Column) (all []bloomparquet.RowGroup, err error) {
	groups, err := k.Prune(columns...)
	if err != nil {
		return nil, err
	}
	for group := range groups {
		group.Hits = slices.Clone(group.Hits)
		all = append(all, group)
	}
	return all, nil
}

// groupMayHave reports whether a key may be in a row group.
func groupMayHave(group bloomparquet.RowGroup, key int) bool {
	return group.Hits[key/64]>>(key%64)&1 != 0
}
