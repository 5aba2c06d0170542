package parquetgo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/internal/oracle"
)

// TestRandomTables writes random tables with parquet-go, and wants no row group to be pruned
// that has a key, as a scan of the file finds them. Every other footer loses its column_orders.
func TestRandomTables(t *testing.T) {
	excluded, unordered := 0, 0
	for seed := range uint64(6000) {
		random := rand.New(rand.NewPCG(27, seed))
		column := columns[random.IntN(len(columns))]
		shape := []string{"q", "o", "r", "oq", "oo", "orq", "oro", "ror", "orqro"}[random.IntN(9)]
		name := fmt.Sprintf("seed %d, %v in %s", seed, column.want, shape)
		t.Run(name, func(t *testing.T) {
			f := open(t, randomTable(t, random, column.node, column.want, shape))
			if seed%2 == 1 {
				f.Metadata().ColumnOrders = nil
			}
			c, err := OpenAt(f, 0)
			if err != nil {
				t.Fatal(err)
			}
			n := oracle.CheckPrune(t, random, c, scan(t, f))
			if strings.Contains(shape, "r") && n > 0 {
				t.Errorf("bounds inside a repeated field exclude %d keys", n)
			}
			excluded += n
			if seed%2 == 1 {
				oracle.CheckUnordered(t, c, n)
				unordered += n
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("bounds exclude %d keys, %d of them without column_orders", excluded, unordered)
	if excluded < 10_000 || unordered < 5_000 {
		t.Errorf("bounds exclude %d keys of all tables, %d of them without column_orders", excluded, unordered)
	}
}

// randomTable writes a file with a column of a shape (see [oracle.AppendRow]).
func randomTable(t *testing.T, random *rand.Rand, node parquet.Node, of bloomparquet.Type, shape string) []byte {
	t.Helper()
	if random.IntN(2) == 0 {
		node = parquet.Encoded(node, &parquet.RLEDictionary)
	}
	kind, path := node.Type().Kind(), make([]string, len(shape))
	for i := range shape {
		field := len(shape) - 1 - i
		path[field] = fmt.Sprint("f", field)
		switch shape[field] {
		case 'r':
			node = parquet.Repeated(node)
		case 'o':
			node = parquet.Optional(node)
		default:
			node = parquet.Required(node)
		}
		node = parquet.Group{path[field]: node}
	}
	var out bytes.Buffer
	schema := parquet.NewSchema("test", node)
	w := parquet.NewWriter(&out, append(randomOptions(random, path), schema)...)
	pool := oracle.Pool(random, of)
	for range 1 + random.IntN(3) {
		for range random.IntN(150) {
			var row parquet.Row
			for _, slot := range oracle.AppendRow(nil, random, shape) {
				v := parquet.NullValue()
				if !slot.Null {
					v = kind.Value(pool[random.IntN(len(pool))])
				}
				row = append(row, v.Level(slot.Rep, slot.Def, 0))
			}
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		pool = slices.Concat(pool[:len(pool)/2], oracle.Pool(random, of))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if random.IntN(4) > 0 {
		return out.Bytes()
	}
	return rewritten(t, out.Bytes(), schema, randomOptions(random, path))
}

// randomOptions returns options of a writer. It may call itself by the name of any program.
func randomOptions(random *rand.Rand, path []string) []parquet.WriterOption {
	by := [][2]string{{"program", "1"}, {"parquet-go", "18.9.0"}, {"parquet-mr", "1.15.0"}, {"DuckDB", "v1.4.3"}, {"github.com/parquet-go/parquet-go", "0.32.0"}}[random.IntN(5)]
	codec := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Brotli}[random.IntN(5)]
	if random.IntN(2) == 0 {
		codec = &parquet.Uncompressed
	}
	return []parquet.WriterOption{
		parquet.BloomFilters(parquet.SplitBlockFilter(10, path...)), parquet.CreatedBy(by[0], by[1], "x"), parquet.Compression(codec),
		parquet.PageBufferSize(1 + random.IntN(2000)), parquet.DataPageVersion(1 + random.IntN(2)),
		parquet.DictionaryMaxBytes(int64(random.IntN(3) * 500)), parquet.MaxRowsPerRowGroup(int64(1 + random.IntN(200))),
		parquet.ColumnIndexSizeLimit(func([]string) int { return 16 }), parquet.DeprecatedDataPageStatistics(random.IntN(4) > 0),
	}
}

// rewritten returns a file with the row groups of another one, as parquet-go copies them.
func rewritten(t *testing.T, data []byte, schema *parquet.Schema, options []parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewWriter(&out, append(options, schema)...)
	for _, group := range open(t, data).RowGroups() {
		if _, err := w.WriteRowGroup(group); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// scan returns the values of the first column of each row group, as PLAIN bytes.
func scan(t *testing.T, f *parquet.File) (held []map[string]bool) {
	t.Helper()
	var buffer [100]parquet.Value
	for _, group := range f.RowGroups() {
		values := map[string]bool{}
		pages := group.ColumnChunks()[0].Pages()
		for {
			page, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			reader := page.Values()
			for {
				n, err := reader.ReadValues(buffer[:])
				for _, v := range buffer[:n] {
					if !v.IsNull() {
						values[string(v.Bytes())] = true
					}
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := pages.Close(); err != nil {
			t.Fatal(err)
		}
		held = append(held, values)
	}
	return held
}
