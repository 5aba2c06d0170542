package duckdb

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	arrowcompress "github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// codedRow is a row whose values do not get smaller by compression, but for Few.
type codedRow struct {
	ID    int64   `parquet:"id"`
	Small int32   `parquet:"small"`
	Text  string  `parquet:"text"`
	Real  float64 `parquet:"real"`
	Maybe *int64  `parquet:"maybe,optional"`
	Few   string  `parquet:"few,dict"`
}

// fields returns the values of a row as bloom-parquet prints them, and takes them for keys.
func (r codedRow) fields() []string {
	maybe := ""
	if r.Maybe != nil {
		maybe = fmt.Sprint(*r.Maybe)
	}
	return []string{fmt.Sprint(r.ID), fmt.Sprint(r.Small), r.Text, strconv.FormatFloat(r.Real, 'g', -1, 64), maybe, r.Few}
}

var codedColumns = []string{"id", "small", "text", "real", "maybe", "few"}

// codings are the compressions, by their names in DuckDB and in the libraries. Of the last one,
// bloom-parquet reads no pages.
var codings = []struct {
	name    string
	parquet compress.Codec
	arrow   arrowcompress.Compression
}{
	{"UNCOMPRESSED", &parquet.Uncompressed, arrowcompress.Codecs.Uncompressed},
	{"SNAPPY", &parquet.Snappy, arrowcompress.Codecs.Snappy},
	{"GZIP", &parquet.Gzip, arrowcompress.Codecs.Gzip},
	{"BROTLI", &parquet.Brotli, arrowcompress.Codecs.Brotli},
	{"ZSTD", &parquet.Zstd, arrowcompress.Codecs.Zstd},
	{"LZ4_RAW", &parquet.Lz4Raw, arrowcompress.Codecs.Lz4Raw},
}

// TestCodecs writes random rows with every writer and compression, and wants bloom-parquet to find the rows of
// some keys and no others, and to put all keys into a filter.
func TestCodecs(t *testing.T) {
	dir := t.TempDir()
	command := build(t)
	db := open(t)
	plain, file, list, filter := filepath.Join(dir, "plain.parquet"), filepath.Join(dir, "file.parquet"), filepath.Join(dir, "keys"), filepath.Join(dir, "filter")
	for seed := range uint64(4) {
		for _, coding := range codings {
			random := rand.New(rand.NewPCG(seed, 38))
			rows := randomRows(random, []int{1, 10, 300, 5000, 30_000}[random.IntN(5)]+random.IntN(100))
			writeParquetGo(t, plain, rows, &parquet.Uncompressed, random)
			for _, writer := range []string{"DuckDB", "parquet-go", "arrow-go"} {
				switch writer {
				case "DuckDB":
					dictionary := []int{0, 1 << 15}[random.IntN(2)] // none, or all
					exec(t, db, fmt.Sprintf(`COPY (SELECT * FROM '%s') TO '%s' (FORMAT parquet, COMPRESSION %s, ROW_GROUP_SIZE 4096, DICTIONARY_SIZE_LIMIT %d)`,
						plain, file, coding.name, dictionary))
				case "parquet-go":
					writeParquetGo(t, file, rows, coding.parquet, random)
				case "arrow-go":
					writeArrowGo(t, file, rows, coding.arrow, random)
				}
				name := fmt.Sprintf("seed %d, %d rows, %s by %s", seed, len(rows), coding.name, writer)
				column := random.IntN(len(codedColumns))
				keys, want := map[string]bool{}, strings.Join(codedColumns, ",")+"\n"
				for range 1 + random.IntN(20) {
					if key := rows[random.IntN(len(rows))].fields()[column]; key != "" {
						keys[key] = true
					}
				}
				lines := "" // keys, one a line
				for key := range keys {
					lines += key + "\n"
				}
				for _, row := range rows {
					if fields := row.fields(); keys[fields[column]] {
						want += strings.Join(fields, ",") + "\n"
					}
				}
				if err := os.WriteFile(list, []byte(lines), 0o644); err != nil {
					t.Fatal(err)
				}
				out, said := run(command, "filter", "--column", codedColumns[column], "--keys", list, "--as=csv", file)
				if coding.name == "LZ4_RAW" {
					if out != "" || !strings.HasSuffix(said, "exit status 2") || !strings.Contains(said, "has the compression LZ4_RAW") {
						t.Errorf("%s: %d bytes, %s", name, len(out), said)
					}
					continue
				}
				if out != want {
					t.Errorf("%s, column %s: %d bytes of the rows of %d keys, want %d: %s", name, codedColumns[column], len(out), len(keys), len(want), said)
				}
				if _, said := run(command, "build", "--column", codedColumns[column], "--bits-per-key", "30", "-o", filter, file); said != "" {
					t.Errorf("%s: build: %s", name, said)
				}
				absent := 0 // nulls
				for _, row := range rows {
					if row.fields()[column] == "" {
						absent++
					}
				}
				if out, said = run(command, "filter", "--column", codedColumns[column], "-v", "--as=csv", filter, file); strings.Count(out, "\n") != 1+absent {
					t.Errorf("%s, column %s: %d rows are not in the filter of all, want %d: %s", name, codedColumns[column], strings.Count(out, "\n")-1, absent, said)
				}
			}
		}
	}
}

// run runs a command. It returns what that printed, and its errors with the status if that is not 0.
func run(command string, args ...string) (out, said string) {
	var stdout, stderr bytes.Buffer
	c := osexec.Command(command, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		fmt.Fprint(&stderr, err)
	}
	return stdout.String(), stderr.String()
}

func randomRows(random *rand.Rand, n int) []codedRow {
	rows := make([]codedRow, n)
	positive := random.IntN(2) == 0
	for i := range rows {
		r := &rows[i]
		*r = codedRow{int64(random.Uint64()), int32(random.Uint32()), fmt.Sprintf("%x", random.Uint64()), random.NormFloat64(), nil, fmt.Sprint("few ", random.IntN(20))}
		if positive { // so that zeros are outside of the bounds
			r.ID, r.Small = r.ID&math.MaxInt64|1, r.Small&math.MaxInt32|1
		}
		if random.IntN(3) > 0 {
			x := int64(random.Uint64())
			r.Maybe = &x
		}
	}
	return rows
}

func writeParquetGo(t *testing.T, path string, rows []codedRow, codec compress.Codec, random *rand.Rand) {
	t.Helper()
	if err := parquet.WriteFile(path, rows, parquet.Compression(codec), parquet.DataPageVersion(1+random.IntN(2)),
		parquet.MaxRowsPerRowGroup(int64(100+random.IntN(9000))), parquet.PageBufferSize(1000+random.IntN(100_000))); err != nil {
		t.Fatal(err)
	}
}

func writeArrowGo(t *testing.T, path string, rows []codedRow, codec arrowcompress.Compression, random *rand.Rand) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "small", Type: arrow.PrimitiveTypes.Int32}, {Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "real", Type: arrow.PrimitiveTypes.Float64}, {Name: "maybe", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "few", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, r := range rows {
		b.Field(0).(*array.Int64Builder).Append(r.ID)
		b.Field(1).(*array.Int32Builder).Append(r.Small)
		b.Field(2).(*array.StringBuilder).Append(r.Text)
		b.Field(3).(*array.Float64Builder).Append(r.Real)
		if maybe := b.Field(4).(*array.Int64Builder); r.Maybe != nil {
			maybe.Append(*r.Maybe)
		} else {
			maybe.AppendNull()
		}
		b.Field(5).(*array.StringBuilder).Append(r.Few)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	version := []arrowparquet.DataPageVersion{arrowparquet.DataPageV1, arrowparquet.DataPageV2}[random.IntN(2)]
	w, err := pqarrow.NewFileWriter(schema, out, arrowparquet.NewWriterProperties(arrowparquet.WithCompression(codec), arrowparquet.WithDataPageVersion(version),
		arrowparquet.WithDictionaryDefault(random.IntN(2) == 0), arrowparquet.WithMaxRowGroupLength(int64(100+random.IntN(9000))), arrowparquet.WithDataPageSize(int64(1000+random.IntN(100_000)))),
		pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // and out
		t.Fatal(err)
	}
}
