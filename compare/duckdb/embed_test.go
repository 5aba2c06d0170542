package duckdb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

var (
	embedTables = flag.Int("embed-tables", 20, "how many random tables TestEmbed gives filters")
	embedFrom   = flag.Uint64("embed-from", 0, "seed of the first of them")
)

// embedded is what TestEmbed counts.
type embedded struct {
	tables             map[string]int // by writer
	refused            int            // tables that arrow-go cannot read or write
	columns, filters   int
	excluded           int // keys, by filters alone
	probes, probesNo   int // of DuckDB, and those that exclude the key
	queries            int
	rate               float64 // the sum of those of all filters whose rate was to be 1 % at most
	rates              int
	mixed              int // row groups whose filters this library does not trust, because of who wrote the file
	db                 *sql.DB
	command, old, file string
}

// TestEmbed writes random tables with DuckDB, arrow-go and parquet-go, and lets bloom-parquet embed give every column filters. It wants
// the bytes before the footer to stay, every reader to read equal rows, no filter to exclude a value, and DuckDB to find as many rows
// as before.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	e := &embedded{tables: map[string]int{}, db: open(t), command: build(t), old: filepath.Join(dir, "old.parquet"), file: filepath.Join(dir, "new.parquet")}
	exec(t, e.db, `SET threads = 1; SET enable_external_file_cache = false; SET TimeZone = 'UTC'`)
	for seed := *embedFrom; seed < *embedFrom+uint64(*embedTables); seed++ {
		random := rand.New(rand.NewPCG(44, seed))
		writer := []string{"DuckDB", "arrow-go", "parquet-go"}[seed%3]
		exprs := randomExprs(random)
		name := fmt.Sprintf("seed %d by %s", seed, writer)
		copyRandom(t, e.db, random, exprs, seed, e.old)
		var err error
		switch writer {
		case "arrow-go":
			err = rewriteArrowGo(random, e.old)
		case "parquet-go":
			err = rewriteParquetGo(random, e.old)
		}
		if err != nil {
			e.refused++
			t.Logf("%s: %v", name, err)
			continue
		}
		e.tables[writer]++
		if e.check(t, name, random); t.Failed() {
			t.Fatalf("%s: %s", name, strings.Join(exprs, ",\n"))
		}
	}
	t.Logf("tables %v, %d refused by arrow-go or parquet-go; %d columns, %d filters, %d of them not trusted; they exclude %d keys; DuckDB's %d probes exclude %d; %d queries; mean rate %.4f",
		e.tables, e.refused, e.columns, e.filters, e.mixed, e.excluded, e.probes, e.probesNo, e.queries, e.rate/float64(e.rates))
	if tables := *embedTables; e.refused > tables/10 || e.filters < 5*tables || e.excluded < 100*tables || e.probesNo < tables/4 || e.queries < 5*tables {
		t.Error("that is too little of something")
	}
	if mean := e.rate / float64(e.rates); mean > 0.01 {
		t.Errorf("the mean rate is %v, and not 1 %% at most", mean)
	}
}

// probed are the types for which parquet_bloom_probe is right: of a BLOB it takes the text (see prunedColumns).
var probed = strings.Fields("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE VARCHAR DATE")

// check gives a file filters and compares it with what it was.
func (e *embedded) check(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	old := openFile(t, e.old)
	args := []string{"embed"}
	for leaf, path := range old.Schema().Columns() {
		if c, err := parquetgo.OpenAt(old, leaf); err == nil && c.Type().Physical != bloomparquet.Boolean {
			args = append(args, "--column", strings.Join(path, "."))
		}
	}
	anySize, replace, inPlace := random.IntN(2) == 0, random.IntN(2) == 0, random.IntN(2) == 0
	for flag, on := range map[string]bool{"--any-size": anySize, "--replace": replace} {
		if on {
			args = append(args, flag)
		}
	}
	if inPlace {
		data, err := os.ReadFile(e.old)
		if err == nil {
			err = os.WriteFile(e.file, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--in-place", e.file)
	} else {
		args = append(args, "-o", e.file, e.old)
	}
	if _, said := run(e.command, args...); strings.Contains(said, "exit status") {
		t.Fatalf("%s: %s", name, said)
	}
	e.checkBytes(t, name)
	e.checkRows(t, name)
	file := openFile(t, e.file)
	for leaf, path := range file.Schema().Columns() {
		column, err := parquetgo.OpenAt(file, leaf)
		if err != nil || column.Type().Physical == bloomparquet.Boolean {
			continue
		}
		held := scan(t, old, leaf)
		if was := scan(t, file, leaf); !slices.EqualFunc(held, was, maps.Equal[map[string]bool]) {
			t.Fatalf("%s: parquet-go reads other values of %v", name, path)
		}
		e.columns++
		for group := range column.Len() {
			filter, err := column.Filter(group)
			switch {
			case err != nil && strings.Contains(err.Error(), "incomplete"):
				e.mixed++
				continue
			case err != nil:
				t.Fatalf("%s: %v, row group %d: %v", name, path, group, err)
			}
			e.filters++
			stats := filter.Stats()
			if had := old.Metadata().RowGroups[group].Columns[leaf].MetaData.BloomFilterOffset != 0; !had || replace {
				e.rate, e.rates = e.rate+stats.FalsePositiveRate, e.rates+1
				if size := stats.Bits; !anySize && size&(size-1) != 0 {
					t.Fatalf("%s: %v, row group %d: a filter of %d bits", name, path, group, size)
				}
			}
		}
		excluded, _ := checkPrune(t, name, random, column, held)
		e.excluded += excluded
	}
	for column := range 12 {
		if random.IntN(3) == 0 {
			e.checkQueries(t, name, random, fmt.Sprint("k", column))
		}
	}
}

// checkBytes wants the bytes before the footer to be what they were.
func (e *embedded) checkBytes(t *testing.T, name string) {
	t.Helper()
	old, err := os.ReadFile(e.old)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(e.file)
	if err != nil {
		t.Fatal(err)
	}
	if start := len(old) - 8 - int(binary.LittleEndian.Uint32(old[len(old)-8:])); !bytes.HasPrefix(data, old[:start]) {
		t.Fatalf("%s: the bytes before the footer are others", name)
	}
}

// checkRows wants DuckDB and arrow-go to read equal rows.
func (e *embedded) checkRows(t *testing.T, name string) {
	t.Helper()
	for _, pair := range [][2]string{{e.old, e.file}, {e.file, e.old}} {
		rows := 0
		if err := e.db.QueryRow(fmt.Sprintf(`SELECT count(*) FROM (FROM '%s' EXCEPT ALL FROM '%s')`, pair[0], pair[1])).Scan(&rows); err != nil || rows > 0 {
			t.Fatalf("%s: DuckDB reads %d other rows: %v", name, rows, err)
		}
	}
	old, err := readArrowGo(e.old)
	if err != nil {
		return // of both files, then
	}
	file, err := readArrowGo(e.file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range int(old.NumCols()) {
		if !array.ChunkedApproxEqual(old.Column(i).Data(), file.Column(i).Data(), array.WithNaNsEqual(true)) {
			t.Fatalf("%s: arrow-go reads other values of %s", name, old.Column(i).Name())
		}
	}
}

// checkQueries wants DuckDB to find values of a column as often as before, and its probe not to exclude them everywhere.
func (e *embedded) checkQueries(t *testing.T, name string, random *rand.Rand, column string) {
	t.Helper()
	rows, err := e.db.Query(fmt.Sprintf(`SELECT v::VARCHAR, typeof(v), n, a FROM (SELECT %[1]s AS v, count(*) AS n, lead(%[1]s) OVER ()::VARCHAR AS a FROM '%[2]s' WHERE %[1]s IS NOT NULL GROUP BY %[1]s) USING SAMPLE reservoir(3 ROWS) REPEATABLE (%[3]d)`,
		column, e.old, random.IntN(1000)))
	if err != nil {
		t.Fatal(err)
	}
	type value struct {
		text, of string
		n        int
		other    sql.NullString
	}
	var values []value
	for rows.Next() {
		var v value
		if err := rows.Scan(&v.text, &v.of, &v.n, &v.other); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	for _, v := range values {
		literal := fmt.Sprintf("CAST('%s' AS %s)", strings.ReplaceAll(v.text, "'", "''"), v.of)
		var found [2]int // DuckDB finds too few by the bounds of parquet-go of columns with NaN: those of v.n are all
		for i, path := range []string{e.old, e.file} {
			if err := e.db.QueryRow(fmt.Sprintf(`SELECT count(*) FROM '%s' WHERE %s = %s`, path, column, literal)).Scan(&found[i]); err != nil {
				t.Fatal(err)
			}
		}
		if e.queries++; found[0] != found[1] {
			t.Errorf("%s: DuckDB finds %d rows of %d where %s = %s, and before %d", name, found[1], v.n, column, literal, found[0])
		}
		if !slices.Contains(probed, v.of) {
			continue
		}
		groups, no := 0, 0
		if err := e.db.QueryRow(fmt.Sprintf(`SELECT count(*), count(*) FILTER (bloom_filter_excludes) FROM parquet_bloom_probe('%s', '%s', %s)`, e.file, column, literal)).Scan(&groups, &no); err != nil {
			t.Fatal(err)
		}
		if e.probes, e.probesNo = e.probes+groups, e.probesNo+no; no >= groups {
			t.Errorf("%s: DuckDB's probe excludes %s = %s from all of %d row groups", name, column, literal, groups)
		}
	}
}

func readArrowGo(path string) (arrow.Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return pqarrow.ReadTable(context.Background(), bytes.NewReader(data), arrowparquet.NewReaderProperties(memory.DefaultAllocator), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
}

// rewriteArrowGo writes a file anew with arrow-go.
func rewriteArrowGo(random *rand.Rand, path string) error {
	table, err := readArrowGo(path)
	if err != nil {
		return err
	}
	flip := func() bool { return random.IntN(2) == 0 }
	var out bytes.Buffer
	var options []pqarrow.WriterOption
	if flip() {
		options = append(options, pqarrow.WithStoreSchema())
	}
	err = pqarrow.WriteTable(table, &out, int64(500+random.IntN(5000)), arrowparquet.NewWriterProperties(
		arrowparquet.WithBloomFilterEnabled(random.IntN(3) == 0), arrowparquet.WithMaxBloomFilterBytes(4096), arrowparquet.WithDictionaryDefault(flip()),
		arrowparquet.WithDataPageSize(int64(1+random.IntN(30_000))), arrowparquet.WithDictionaryPageSizeLimit(int64(1+random.IntN(20_000))),
		arrowparquet.WithDataPageVersion([]arrowparquet.DataPageVersion{arrowparquet.DataPageV1, arrowparquet.DataPageV2}[random.IntN(2)]),
		arrowparquet.WithVersion([]arrowparquet.Version{arrowparquet.V1_0, arrowparquet.V2_4, arrowparquet.V2_LATEST}[random.IntN(3)]), arrowparquet.WithPageIndexEnabled(flip()),
		arrowparquet.WithCompression(codings[random.IntN(5)].arrow),
	), pqarrow.NewArrowWriterProperties(options...))
	if err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// rewriteParquetGo writes a file anew with parquet-go.
func rewriteParquetGo(random *rand.Rand, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	options := []parquet.WriterOption{
		file.Schema(), parquet.Compression(codings[random.IntN(5)].parquet), parquet.DataPageVersion(1 + random.IntN(2)),
		parquet.PageBufferSize(1 + random.IntN(20_000)), parquet.DictionaryMaxBytes(int64(random.IntN(3) * 2000)), parquet.MaxRowsPerRowGroup(int64(300 + random.IntN(5000))),
	}
	if random.IntN(3) == 0 {
		options = append(options, parquet.BloomFilters(parquet.SplitBlockFilter(10, file.Schema().Columns()[0]...)))
	}
	var out bytes.Buffer
	w := parquet.NewWriter(&out, options...)
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		if _, err := parquet.CopyRows(w, rows); err != nil {
			return err
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
