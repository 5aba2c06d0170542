package parquetgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	prune "github.com/lanebloom/bloom/adapter/parquet"
)

// columns are columns of every type that parquet-go writes filters for.
var columns = []struct {
	node parquet.Node
	want prune.Type
}{
	{parquet.Leaf(parquet.Int32Type), prune.Type{Physical: prune.Int32, Logical: prune.Int, Bits: 32}},
	{parquet.Leaf(parquet.Int64Type), prune.Type{Physical: prune.Int64, Logical: prune.Int, Bits: 64}},
	{parquet.Leaf(parquet.FloatType), prune.Type{Physical: prune.Float}},
	{parquet.Leaf(parquet.DoubleType), prune.Type{Physical: prune.Double}},
	{parquet.Leaf(parquet.ByteArrayType), prune.Type{Physical: prune.ByteArray}},
	{parquet.Leaf(parquet.FixedLenByteArrayType(7)), prune.Type{Physical: prune.FixedLenByteArray, Width: 7}},
	{parquet.Int(8), prune.Type{Physical: prune.Int32, Logical: prune.Int, Bits: 8}},
	{parquet.Int(64), prune.Type{Physical: prune.Int64, Logical: prune.Int, Bits: 64}},
	{parquet.Uint(16), prune.Type{Physical: prune.Int32, Logical: prune.Uint, Bits: 16}},
	{parquet.Uint(32), prune.Type{Physical: prune.Int32, Logical: prune.Uint, Bits: 32}},
	{parquet.Uint(64), prune.Type{Physical: prune.Int64, Logical: prune.Uint, Bits: 64}},
	{parquet.Decimal(2, 9, parquet.Int32Type), prune.Type{Physical: prune.Int32, Logical: prune.Decimal, Precision: 9, Scale: 2}},
	{parquet.Decimal(3, 18, parquet.Int64Type), prune.Type{Physical: prune.Int64, Logical: prune.Decimal, Precision: 18, Scale: 3}},
	{parquet.Decimal(4, 20, parquet.FixedLenByteArrayType(9)), prune.Type{Physical: prune.FixedLenByteArray, Width: 9, Logical: prune.Decimal, Precision: 20, Scale: 4}},
	{parquet.Decimal(4, 20, parquet.ByteArrayType), prune.Type{Physical: prune.ByteArray, Logical: prune.Decimal, Precision: 20, Scale: 4}},
	{parquet.String(), prune.Type{Physical: prune.ByteArray, Logical: prune.String}},
	{parquet.Enum(), prune.Type{Physical: prune.ByteArray, Logical: prune.Enum}},
	{parquet.JSON(), prune.Type{Physical: prune.ByteArray, Logical: prune.JSON}},
	{parquet.BSON(), prune.Type{Physical: prune.ByteArray, Logical: prune.BSON}},
	{parquet.UUID(), prune.Type{Physical: prune.FixedLenByteArray, Width: 16, Logical: prune.UUID}},
	{parquet.Date(), prune.Type{Physical: prune.Int32, Logical: prune.Date}},
	{parquet.Time(parquet.Millisecond), prune.Type{Physical: prune.Int32, Logical: prune.Time, Unit: prune.Millis, UTC: true}},
	{parquet.Time(parquet.Nanosecond), prune.Type{Physical: prune.Int64, Logical: prune.Time, Unit: prune.Nanos, UTC: true}},
	{parquet.Timestamp(parquet.Millisecond), prune.Type{Physical: prune.Int64, Logical: prune.Timestamp, Unit: prune.Millis, UTC: true}},
	{parquet.TimestampAdjusted(parquet.Microsecond, false), prune.Type{Physical: prune.Int64, Logical: prune.Timestamp, Unit: prune.Micros}},
}

// randomValue returns the PLAIN bytes of a value.
func randomValue(random *rand.Rand, t prune.Type) []byte {
	width := map[prune.Physical]int{prune.Int32: 4, prune.Float: 4, prune.Int64: 8, prune.Double: 8, prune.FixedLenByteArray: t.Width}[t.Physical]
	if width == 0 {
		return fmt.Appendf(nil, "value-%d", random.IntN(1000))
	}
	b := make([]byte, width)
	for i := range b {
		b[i] = [...]byte{0, 0xff, byte(random.Uint32()), byte(random.Uint32())}[random.IntN(4)]
	}
	if bits := t.Bits; bits > 0 && bits < 32 { // narrow integers are stored as wider ones
		x := binary.LittleEndian.Uint32(b) << (32 - bits)
		if t.Logical == prune.Int {
			x = uint32(int32(x) >> (32 - bits))
		} else {
			x >>= 32 - bits
		}
		binary.LittleEndian.PutUint32(b, x)
	}
	return b
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
			case i%7 == 6:
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

// TestTypes writes a file of each type with parquet-go, and compares the matrix with parquet-go's
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
				random := rand.New(rand.NewPCG(1, 2))
				groups := make([][][]byte, 5)
				var keys [][]byte
				for g := range groups {
					for range 1 + random.IntN(300) {
						groups[g] = append(groups[g], randomValue(random, column.want))
					}
					slices.SortFunc(groups[g], slices.Compare)
					keys = append(keys, groups[g][:len(groups[g])/2]...)
				}
				for range 500 {
					keys = append(keys, randomValue(random, column.want))
				}
				data := write(t, node, groups)
				f := open(t, data)
				c, err := Open(f, "k")
				if err != nil {
					t.Fatal(err)
				}
				if c.Type() != column.want {
					t.Fatalf("type %v, want %v", c.Type(), column.want)
				}
				k, err := prune.KeysOf(c.Type(), keys)
				if err != nil {
					t.Fatal(err)
				}
				plain := withoutBounds(t, c)
				compare(t, f, k, keys, plain)
				checkBounds(t, c, k, keys, groups, node.Optional())
			})
		}
	}
}

// withoutBounds returns the same column without minima and maxima.
func withoutBounds(t *testing.T, c *prune.Column) *prune.Column {
	t.Helper()
	m := c.Meta()
	m.Chunks = slices.Clone(m.Chunks)
	for i := range m.Chunks {
		m.Chunks[i].Min, m.Chunks[i].Max = nil, nil
	}
	c, err := prune.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compare compares the matrix with parquet-go's answer for each key and row group.
func compare(t *testing.T, f *parquet.File, k *prune.Keys, keys [][]byte, c *prune.Column) {
	t.Helper()
	m, err := k.Matrix(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.RowGroups) != len(f.RowGroups()) {
		t.Fatalf("%d row groups, want %d", len(m.RowGroups), len(f.RowGroups()))
	}
	for g, group := range f.RowGroups() {
		filter := group.ColumnChunks()[0].BloomFilter()
		if m.RowGroups[g].Err != nil || m.RowGroups[g].Rows != group.NumRows() {
			t.Fatalf("row group %d of %d rows: %v", g, m.RowGroups[g].Rows, m.RowGroups[g].Err)
		}
		for i, key := range keys {
			want, err := filter.Check(parquet.Kind(c.Type().Physical).Value(key))
			if err != nil {
				t.Fatal(err)
			}
			if got := m.RowGroups[g].MayContain(i); got != want && !unsure(c.Type(), key) {
				t.Fatalf("row group %d, key %x: %v, and parquet-go says %v", g, key, got, want)
			}
		}
	}
}

// unsure reports whether a key is a zero or NaN.
func unsure(t prune.Type, key []byte) bool {
	x := 1.0
	switch t.Physical {
	case prune.Float:
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(key)))
	case prune.Double:
		x = math.Float64frombits(binary.LittleEndian.Uint64(key))
	}
	return x == 0 || math.IsNaN(x)
}

// checkBounds wants all keys where they are.
func checkBounds(t *testing.T, c *prune.Column, k *prune.Keys, keys [][]byte, groups [][][]byte, optional bool) {
	t.Helper()
	m, err := k.Matrix(c)
	if err != nil {
		t.Fatal(err)
	}
	for g, values := range groups {
		held := map[string]bool{}
		for i, value := range values {
			if !optional || i%7 != 6 {
				held[string(value)] = true
			}
		}
		for i, key := range keys {
			if held[string(key)] && !m.RowGroups[g].MayContain(i) {
				t.Fatalf("row group %d has the key %x, between %x and %x", g, key, c.Meta().Chunks[g].Min, c.Meta().Chunks[g].Max)
			}
		}
	}
}

// TestBoundsHelp finds row groups of sorted values by their bounds alone.
func TestBoundsHelp(t *testing.T) {
	groups := make([][][]byte, 10)
	var keys []string
	for g := range groups {
		for i := range 50 {
			groups[g] = append(groups[g], fmt.Appendf(nil, "customer-%03d%02d", g, i))
		}
		keys = append(keys, fmt.Sprintf("customer-%03d25", g))
	}
	c, err := Open(open(t, write(t, parquet.String(), groups)), "k")
	if err != nil {
		t.Fatal(err)
	}
	m := c.Meta()
	for i := range m.Chunks {
		m.Chunks[i].FilterOffset = 0
	}
	c, err = prune.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := prune.KeysOf(c.Type(), keys)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := k.Matrix(c)
	if err != nil {
		t.Fatal(err)
	}
	for g, group := range matrix.RowGroups {
		if group.Count != 1 || !group.MayContain(g) || !errors.Is(group.Err, prune.ErrNoFilter) {
			t.Errorf("row group %d: %d keys, %v", g, group.Count, group.Err)
		}
	}
}

// TestUnreadable reads the filters that parquet-go writes and others do not read.
func TestUnreadable(t *testing.T) {
	values := [][][]byte{{[]byte("a"), []byte("b")}}
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"compressed":   {write(t, parquet.String(), values, parquet.BloomFilterCompression(&parquet.Gzip)), prune.ErrCompression},
		"other column": {write(t, parquet.String(), values, &parquet.WriterConfig{BloomFilters: []parquet.BloomFilterColumn{foreign{parquet.SplitBlockFilter(10, "k")}}}), prune.ErrAlgorithm},
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
	for path, want := range map[string]string{"missing": "no column", "deep": "no column", "deep.x": "2 columns", "flag": ""} {
		_, err := Open(f, path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
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
	k, err := prune.KeysOf(c.Type(), []string{"one", "two", "three"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := k.Matrix(c)
	if err != nil {
		t.Fatal(err)
	}
	if group := m.RowGroups[0]; group.Hits[0] != 0b011 || group.Rows != 2 {
		t.Errorf("the nested column: hits %b, %v", group.Hits[0], group.Err)
	}
	if k, err := Open(f, "k"); err != nil || !errors.Is(second(k.Filter(0)), prune.ErrNoFilter) {
		t.Error("a column without filters has one")
	}
}

func second(_ *bloom.Filter, err error) error { return err }
