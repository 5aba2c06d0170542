package arrowgo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/internal/oracle"
)

// TestRandomTables writes random tables of Arrow with arrow-go, and wants no row group to be pruned
// that has a key, as a scan of the file finds them. Every other footer loses its column_orders.
func TestRandomTables(t *testing.T) {
	excluded, unordered, columns, refused := 0, 0, 0, 0
	const tables = 3000
	for seed := range uint64(tables) {
		random := rand.New(rand.NewPCG(27, seed))
		typ := randomType(random, 0)
		t.Run(fmt.Sprintf("seed %d, %v", seed, typ), func(t *testing.T) {
			data, err := randomTable(random, typ)
			if err != nil {
				refused++
				t.Log(err)
				return
			}
			r := open(t, data)
			if seed%2 == 1 {
				r.MetaData().ColumnOrders = nil
			}
			for leaf := range r.MetaData().Schema.NumColumns() {
				c, err := OpenAt(r, leaf)
				if err != nil {
					t.Fatal(err)
				}
				if c.Type().Physical == bloomparquet.Boolean {
					continue
				}
				n := oracle.CheckPrune(t, random, c, scan(t, r, leaf))
				if r.MetaData().Schema.Column(leaf).MaxRepetitionLevel() > 0 && n > 0 {
					t.Errorf("bounds inside a repeated field exclude %d keys", n)
				}
				excluded += n
				columns++
				if seed%2 == 1 {
					oracle.CheckUnordered(t, c, n)
					unordered += n
				}
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d columns, bounds exclude %d keys, %d of them without column_orders; arrow-go refuses %d tables", columns, excluded, unordered, refused)
	if unordered < 4_000 {
		t.Errorf("bounds without column_orders exclude %d keys", unordered)
	}
	if excluded < 10_000 || columns < tables || refused > tables/20 {
		t.Errorf("%d columns, bounds exclude %d keys; arrow-go refuses %d tables", columns, excluded, refused)
	}
}

// leaves are types of Arrow that arrow-go writes to Parquet.
var leaves = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean,
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
	&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 16},
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms,
	arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms,
	arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_ns,
	&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 30, Scale: 2}, &arrow.Decimal256Type{Precision: 60, Scale: 3},
}

// randomType returns a leaf, or a dictionary, lists and structs of leaves. Texts are more frequent
// than others, for their empty values.
func randomType(random *rand.Rand, depth int) arrow.DataType {
	if depth < 3 && random.IntN(3) == 0 {
		of, nullable := randomType(random, depth+1), random.IntN(3) > 0
		switch random.IntN(4) {
		case 0:
			return arrow.StructOf(arrow.Field{Name: "a", Type: of, Nullable: nullable}, arrow.Field{Name: "b", Type: randomType(random, 3), Nullable: true})
		case 1:
			return arrow.LargeListOfField(arrow.Field{Name: "element", Type: of, Nullable: nullable})
		default:
			return arrow.ListOfField(arrow.Field{Name: "element", Type: of, Nullable: nullable})
		}
	}
	leaf := leaves[random.IntN(len(leaves))]
	if random.IntN(4) == 0 {
		leaf = leaves[12+random.IntN(4)]
	}
	numbers := arrow.IsInteger(leaf.ID()) || arrow.IsFloating(leaf.ID()) && leaf.ID() != arrow.FLOAT16
	if random.IntN(3) == 0 && (numbers || arrow.IsBaseBinary(leaf.ID())) {
		index := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint16}[random.IntN(3)]
		return &arrow.DictionaryType{IndexType: index, ValueType: leaf}
	}
	return leaf
}

// randomTable writes a file of a column.
func randomTable(random *rand.Rand, typ arrow.DataType) ([]byte, error) {
	flip := func() bool { return random.IntN(2) == 0 }
	options := []parquet.WriterProperty{
		parquet.WithBloomFilterEnabled(true), parquet.WithBatchSize(int64(1 + random.IntN(40))), parquet.WithDictionaryDefault(flip()),
		parquet.WithDataPageSize(int64(1 + random.IntN(3000))), parquet.WithDictionaryPageSizeLimit(int64(1 + random.IntN(2000))),
		parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[random.IntN(2)]),
		parquet.WithVersion([]parquet.Version{parquet.V1_0, parquet.V2_4, parquet.V2_LATEST}[random.IntN(3)]), parquet.WithPageIndexEnabled(flip()),
	}
	if flip() {
		options = append(options, parquet.WithBloomFilterNDV(100))
	} else {
		options = append(options, parquet.WithMaxBloomFilterBytes(4096), parquet.WithAdaptiveBloomFilterEnabled(flip()))
	}
	nullable := random.IntN(3) > 0
	of := arrow.NewSchema([]arrow.Field{{Name: "k", Type: typ, Nullable: nullable}}, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(of, &out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	buffered, pool := flip(), words(random)
	for range 1 + random.IntN(4) {
		rows := random.IntN(120)
		a := randomArray(random, typ, rows+5, nullable, pool)
		if from := random.IntN(5); from > 0 {
			a = array.NewSlice(a, int64(from), int64(rows+from))
		}
		batch := array.NewRecordBatch(of, []arrow.Array{a}, int64(a.Len()))
		if buffered {
			err = w.WriteBuffered(batch)
		} else {
			err = w.Write(batch)
		}
		if err != nil {
			return nil, err
		}
		if buffered && random.IntN(3) == 0 {
			w.NewBufferedRowGroup()
		}
		if flip() {
			pool = words(random)
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// words returns what the values of a table are made from: their first bytes.
func words(random *rand.Rand) []uint64 {
	pool, shift := make([]uint64, 1+random.IntN(30)), random.IntN(64)
	for i := range pool {
		pool[i] = []uint64{0, 1, ^uint64(0), 1 << 63, 1<<63 - 1, 0x7fc0_7e00, random.Uint64() >> shift, uint64(-random.Int64N(100)), uint64(random.IntN(100))}[random.IntN(9)]
	}
	return pool
}

// randomArray returns an array. What lies in the place of a null is any value.
func randomArray(random *rand.Rand, typ arrow.DataType, n int, nullable bool, pool []uint64) arrow.Array {
	buffers := []*memory.Buffer{nil}
	valid, nulls := func(int) bool { return true }, 0
	if nullable && random.IntN(4) > 0 {
		bits := make([]byte, bitutil.BytesForBits(int64(n)))
		most := 1 + random.IntN(10)
		for i := range n {
			bitutil.SetBitTo(bits, i, random.IntN(10) < most)
		}
		buffers[0], nulls = memory.NewBufferBytes(bits), array.UnknownNullCount
		valid = func(i int) bool { return bitutil.BitIsSet(bits, i) }
	}
	var children []arrow.ArrayData
	var dictionary *array.Data
	switch typ := typ.(type) {
	case *arrow.StructType:
		for _, f := range typ.Fields() {
			children = append(children, randomArray(random, f.Type, n, f.Nullable, pool).Data())
		}
	case arrow.ListLikeType:
		_, large := typ.(*arrow.LargeListType)
		offsets, total := appendOffset(nil, 0, large), 0
		for i := range n {
			if valid(i) {
				total += []int{0, 0, 1, 1, 2, 7}[random.IntN(6)]
			}
			offsets = appendOffset(offsets, total, large)
		}
		buffers = append(buffers, memory.NewBufferBytes(offsets))
		children = append(children, randomArray(random, typ.Elem(), total, typ.ElemField().Nullable, pool).Data())
	case *arrow.DictionaryType:
		distinct := randomArray(random, typ.ValueType, 1+random.IntN(20), false, pool)
		dictionary = distinct.Data().(*array.Data)
		width := typ.IndexType.(arrow.FixedWidthDataType).Bytes()
		indices := make([]byte, n*width)
		for i := range n {
			indices[i*width] = byte(random.IntN(distinct.Len()))
		}
		buffers = append(buffers, memory.NewBufferBytes(indices))
	default:
		buffers = append(buffers, randomLeaves(random, typ, n, pool)...)
	}
	data := array.NewDataWithDictionary(typ, n, buffers, nulls, 0, dictionary)
	if dictionary == nil {
		data = array.NewData(typ, n, buffers, children, nulls, 0)
	}
	return array.MakeFromData(data)
}

func appendOffset(offsets []byte, offset int, large bool) []byte {
	if large {
		return binary.LittleEndian.AppendUint64(offsets, uint64(offset))
	}
	return binary.LittleEndian.AppendUint32(offsets, uint32(offset))
}

// randomLeaves returns the buffers of values.
func randomLeaves(random *rand.Rand, typ arrow.DataType, n int, pool []uint64) []*memory.Buffer {
	large := typ.ID() == arrow.LARGE_STRING || typ.ID() == arrow.LARGE_BINARY
	offsets, values := appendOffset(nil, 0, large), []byte(nil)
	for range n {
		word := pool[random.IntN(len(pool))]
		switch typ.ID() {
		case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
			texts := []string{"", "", "\x00", "a", strings.Repeat("long", 1100), fmt.Sprint("key", word)}
			values = append(values, texts[word%uint64(len(texts))]...)
		case arrow.DECIMAL128, arrow.DECIMAL256: // of few digits, with their sign
			number := int64(word) % 1_000_000
			values = binary.LittleEndian.AppendUint64(values, uint64(number))
			for range typ.(arrow.FixedWidthDataType).Bytes()/8 - 1 {
				values = binary.LittleEndian.AppendUint64(values, uint64(number>>63))
			}
		case arrow.TIMESTAMP, arrow.DATE64: // which are multiplied by 1000, or divided
			values = binary.LittleEndian.AppendUint64(values, uint64(int64(word)/1_000_000))
		case arrow.BOOL:
			values = append(values, byte(word))
		default:
			width := typ.(arrow.FixedWidthDataType).Bytes()
			values = append(values, bytes.Repeat(binary.LittleEndian.AppendUint64(nil, word), 2)[:width]...)
		}
		offsets = appendOffset(offsets, len(values), large)
	}
	if arrow.IsBaseBinary(typ.ID()) {
		return []*memory.Buffer{memory.NewBufferBytes(offsets), memory.NewBufferBytes(values)}
	}
	return []*memory.Buffer{memory.NewBufferBytes(values)}
}

// scan returns the values of a column in each row group, as PLAIN bytes.
func scan(t *testing.T, r *file.Reader, leaf int) (held []map[string]bool) {
	t.Helper()
	for g := range r.NumRowGroups() {
		values := map[string]bool{}
		column, err := r.RowGroup(g).Column(leaf)
		if err != nil {
			t.Fatal(err)
		}
		for column.HasNext() {
			if err := readBatch(column, values); err != nil {
				t.Fatal(err)
			}
		}
		if err := column.Err(); err != nil {
			t.Fatal(err)
		}
		held = append(held, values)
	}
	return held
}

// readBatch adds the next values of a column.
func readBatch(column file.ColumnChunkReader, values map[string]bool) error {
	levels, repetitions := make([]int16, 100), make([]int16, 100)
	switch r := column.(type) {
	case *file.Int32ColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	case *file.Int64ColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	case *file.Int96ColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	case *file.Float32ColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	case *file.Float64ColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	case *file.ByteArrayColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	case *file.FixedLenByteArrayColumnChunkReader:
		return addBatch(r.ReadBatch, levels, repetitions, values)
	}
	return fmt.Errorf("no reader for %T", column)
}

func addBatch[V any](read func(int64, []V, []int16, []int16) (int64, int, error), levels, repetitions []int16, values map[string]bool) error {
	batch := make([]V, len(levels))
	_, n, err := read(int64(len(batch)), batch, levels, repetitions)
	for _, v := range batch[:n] {
		switch v := any(v).(type) {
		case parquet.ByteArray:
			values[string(v)] = true
		case parquet.FixedLenByteArray:
			values[string(v)] = true
		default:
			plain, err := binary.Append(nil, binary.LittleEndian, v)
			if err != nil {
				return err
			}
			values[string(plain)] = true
		}
	}
	return err
}
