package compare

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"unsafe"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/golden"
)

// TestParquetIntegers compares columns of integers with the INT32 and INT64 columns of the
// other libraries.
func TestParquetIntegers(t *testing.T) {
	t.Run("int32", func(t *testing.T) {
		checkIntegers(t, func(values []int32) bloom.Keys { return bloom.Integers(unsigned[uint32](values)) })
	})
	t.Run("int64", func(t *testing.T) {
		checkIntegers(t, func(values []int64) bloom.Keys { return bloom.Integers(unsigned[uint64](values)) })
	})
}

// unsigned returns the same integers as type U, which must have the size of S.
func unsigned[U uint32 | uint64, S int32 | int64](values []S) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

func checkIntegers[V int32 | int64](t *testing.T, column func([]V) bloom.Keys) {
	for name, w := range map[string]witnessOf[V]{
		"parquet-go": parquetGo[V]{},
		"arrow-go":   arrowGo[V]{},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(8, 9))
			for range 30 {
				n, bits := 1<<random.IntN(12), 1<<random.IntN(6) // a size for both
				values := make([]V, n+3000)
				for i := range values {
					values[i] = V(random.Uint64())
				}
				copy(values, []V{-1, 0, 1, V(-1) << (8*unsafe.Sizeof(values[0]) - 1)}[:min(n, 4)])
				got := bloom.Policy{Format: bloom.Parquet, BitsPerKey: bits}.AppendFilter(nil, column(values[:n]))
				want, err := w.CreateFilter(values[:n], bits)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%d integers at %d bits: filters differ", n, bits)
				}
				f, err := bloom.Open(bloom.Parquet, want)
				if err != nil {
					t.Fatal(err)
				}
				hits := make([]uint64, (len(values)+63)/64)
				f.MayContainBatch(column(values), hits)
				answers, err := w.KeyMayMatch(got, values)
				if err != nil {
					t.Fatal(err)
				}
				for i, yes := range answers {
					if hits[i/64]>>(i%64)&1 != 0 != yes {
						t.Fatalf("%d integers at %d bits: the witness says %v about %d", n, bits, yes, values[i])
					}
				}
			}
		})
	}
}

// parquetFiles writes files of one column of BYTE_ARRAY with each library. parquet-go's
// filters have the blocks that keys at 10 bits want, arrow-go's a power of two of blocks.
var parquetFiles = map[string]func(keys [][]byte) ([]byte, error){
	"parquet-go": func(keys [][]byte) ([]byte, error) {
		var out bytes.Buffer
		type row struct {
			Column []byte `parquet:"column"`
		}
		w := parquet.NewGenericWriter[row](&out, parquet.BloomFilters(parquet.SplitBlockFilter(10, "column")))
		rows := make([]row, len(keys))
		for i, key := range keys {
			rows[i].Column = key
		}
		if _, err := w.Write(rows); err != nil {
			return nil, err
		}
		err := w.Close()
		return out.Bytes(), err
	},
	"arrow-go": func(keys [][]byte) ([]byte, error) {
		var out bytes.Buffer
		root, err := schema.NewGroupNode("schema", arrow.Repetitions.Required,
			schema.FieldList{schema.NewByteArrayNode("column", arrow.Repetitions.Required, -1)}, -1)
		if err != nil {
			return nil, err
		}
		w, err := file.NewParquetWriterWithError(&out, root, file.WithWriterProps(arrow.NewWriterProperties(
			arrow.WithBloomFilterEnabled(true), arrow.WithBloomFilterNDV(int64(len(keys))))))
		if err != nil {
			return nil, err
		}
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			return nil, err
		}
		column, err := group.NextColumn()
		if err != nil {
			return nil, err
		}
		values := make([]arrow.ByteArray, len(keys))
		for i, key := range keys {
			values[i] = key
		}
		if _, err := column.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil); err != nil {
			return nil, err
		}
		err = w.Close()
		return out.Bytes(), err
	},
}

// TestParquetFiles reads the filters of whole files. Their blocks are a filter of this
// library, which gives the answers that both libraries give for the file.
func TestParquetFiles(t *testing.T) {
	for name, write := range parquetFiles {
		t.Run("writer="+name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(10, 11))
			for _, n := range []int{1, 2, 25, 26, 1000, 3000} {
				keys := randomKeys(random, n)
				data, err := write(keys)
				if err != nil {
					t.Fatal(err)
				}
				checkParquetFile(t, data, keys, randomKeys(random, 3000))
			}
		})
	}
}

// TestDuckDBFile reads the filter of a file that DuckDB 1.5.6 wrote (@duckdb/node-api), of 1,000
// keys 20 times each:
//
//	COPY (SELECT 'key' || printf('%06d', i) AS k FROM range(20) r(j), range(1000) t(i) ORDER BY i)
//	TO 'duckdb.parquet' (FORMAT parquet, COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 100000)
//
// DuckDB's parquet_bloom_probe finds all keys in it and excludes key001000 to key001099. A set of this
// library has the same bytes as its filter, so DuckDB reads ours.
func TestDuckDBFile(t *testing.T) {
	data, err := os.ReadFile("testdata/duckdb.parquet")
	if err != nil {
		t.Fatal(err)
	}
	keys := golden.Decimals.Range(0, 1000)
	checkParquetFile(t, data, keys, golden.Decimals.Range(1000, 4000))
}

func checkParquetFile(t *testing.T, data []byte, keys, absent [][]byte) {
	theirs, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	filter := theirs.RowGroups()[0].ColumnChunks()[0].BloomFilter()
	blocks := make([]byte, filter.Size())
	if _, err := filter.ReadAt(blocks, 0); err != nil {
		t.Fatal(err)
	}
	set, err := bloom.OpenSet(bloom.Parquet, make([]byte, len(blocks)))
	if err != nil {
		t.Fatal(err)
	}
	set.AddBatch(bloom.Bytes(keys))
	if !bytes.Equal(set.AppendFilter(nil), blocks) {
		t.Fatalf("a set of the %d keys differs from the %d bytes of the file", len(keys), len(blocks))
	}
	all := slices.Concat(keys, absent)
	answers := make([]bool, len(all))
	for i, key := range all {
		if answers[i], err = filter.Check(parquet.ByteArrayValue(key)); err != nil {
			t.Fatal(err)
		}
	}
	checkAnswers(t, bloom.Parquet, blocks, all, answers)
	checkAnswers(t, bloom.Parquet, blocks, all, arrowAnswers(t, data, all))
}

// arrowAnswers returns the answers of arrow-go's reader of files.
func arrowAnswers(t *testing.T, data []byte, keys [][]byte) (answers []bool) {
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rowGroup, err := r.GetBloomFilterReader().RowGroup(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := rowGroup.VisitColumnBloomFilter(0, func(f metadata.BloomFilter) error {
		typed := metadata.TypedBloomFilter[arrow.ByteArray]{BloomFilter: f}
		for _, key := range keys {
			answers = append(answers, typed.Check(key))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(keys) {
		t.Fatal("arrow-go finds no filter in the file")
	}
	return answers
}

// TestParquetHeader finds the header of each size in the files of arrow-go, before the
// blocks.
func TestParquetHeader(t *testing.T) {
	for _, n := range []int{1, 100, 5000} {
		data, err := parquetFiles["arrow-go"](randomKeys(rand.New(rand.NewPCG(12, 13)), n))
		if err != nil {
			t.Fatal(err)
		}
		r, err := file.NewParquetReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		column, err := r.MetaData().RowGroup(0).ColumnChunk(0)
		if err != nil {
			t.Fatal(err)
		}
		size := 32
		for ; size < int(column.BloomFilterLength())/2; size *= 2 {
		}
		header, err := headerOfParquet(size)
		if err != nil {
			t.Fatal(err)
		}
		got := data[column.BloomFilterOffset():][:column.BloomFilterLength()]
		if len(got) != len(header)+size || !bytes.HasPrefix(got, header) {
			t.Errorf("%d keys: arrow-go's header %x, parquet-go's %x of %d bytes", n, got[:len(got)-size], header, size)
		}
	}
}
