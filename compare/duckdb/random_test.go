package duckdb

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

// randomTypes are types of DuckDB, with an expression of a value of a random number $, which is
// often small or negative, and may be any.
var randomTypes = []struct{ sql, value string }{
	{"TINYINT", "$ % 128"}, {"SMALLINT", "$ % 32768"}, {"INTEGER", "$ % 2147483648"}, {"BIGINT", "$"},
	{"UTINYINT", "abs($ % 256)"}, {"USMALLINT", "abs($ % 65536)"}, {"UINTEGER", "abs($ % 4294967296)"}, {"UBIGINT", "abs($)"},
	{"FLOAT", "CASE $ % 7 WHEN 0 THEN 'nan' WHEN 1 THEN '-inf' WHEN 2 THEN '-0.0' ELSE $::VARCHAR END"},
	{"DOUBLE", "CASE $ % 7 WHEN 0 THEN 'nan' WHEN 1 THEN 'inf' WHEN 2 THEN '-0.0' ELSE $::VARCHAR END"},
	{"VARCHAR", "CASE $ % 5 WHEN 0 THEN '' WHEN 1 THEN 'key' WHEN 2 THEN repeat('long', 40) ELSE 'key' || $ END"},
	{"BLOB", "CASE $ % 5 WHEN 0 THEN '' WHEN 1 THEN '\\xFF\\x00' ELSE 'key' || $ END"},
	{"UUID", "md5($::VARCHAR)"}, {"DATE", "DATE '1970-01-01' + ($ % 100000)::INTEGER"},
	{"TIME", "TIME '00:00:00' + to_microseconds(abs($ % 86400000000))"}, {"TIMESTAMP", "make_timestamp($ % 1000000000000000)"},
	{"TIMESTAMP_MS", "make_timestamp($ % 1000000000000000)"}, {"TIMESTAMP_NS", "make_timestamp($ % 1000000000000000)"},
	{"DECIMAL(4, 1)", "($ % 1000) / 10"}, {"DECIMAL(9, 2)", "($ % 100000) / 100"}, {"DECIMAL(18, 3)", "($ % 1000000) / 1000"}, {"DECIMAL(30, 2)", "($ % 1000000) / 100"},
}

// shapes are what a column is made of, with an expression of a value v and a random number from 0
// to 9. The null of a row and its empty list are among them.
var shapes = []string{
	"v", "CASE WHEN r < 3 THEN NULL ELSE v END", "CASE WHEN r < 9 THEN NULL ELSE v END",
	"{'a': CASE WHEN r < 3 THEN NULL ELSE v END}", "CASE WHEN r < 3 THEN NULL ELSE {'a': v} END",
	"CASE WHEN r < 4 THEN [] WHEN r < 5 THEN NULL ELSE [v] END", "CASE WHEN r < 4 THEN [] WHEN r < 6 THEN [v, NULL] ELSE [v] END",
	"CASE WHEN r < 5 THEN {'a': []} ELSE {'a': [v]} END", "CASE WHEN r < 5 THEN [] ELSE [[], [v]] END",
}

// TestRandomTables writes random tables with DuckDB, and wants no row group to be pruned that
// has a key, as a scan of the file finds them.
func TestRandomTables(t *testing.T) {
	db := open(t)
	exec(t, db, `SET threads = 1`)
	path, columns, excluded, byBounds := filepath.Join(t.TempDir(), "file.parquet"), 0, 0, map[bloomparquet.Type]int{}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(27, seed))
		exprs := randomExprs(random)
		copyRandom(t, db, random, exprs, seed, path)
		f := openFile(t, path)
		for leaf := range f.Schema().Columns() {
			c, err := parquetgo.OpenAt(f, leaf)
			if err != nil {
				t.Fatal(err)
			}
			columns++
			all, some := checkPrune(t, fmt.Sprintf("seed %d, %s", seed, strings.Join(f.Schema().Columns()[leaf], ".")), random, c, scan(t, f, leaf))
			excluded += all
			byBounds[c.Type()] += some
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, strings.Join(exprs, ",\n"))
		}
	}
	t.Logf("%d columns, %d keys excluded, by bounds alone: %v", columns, excluded, byBounds)
	if excluded < 100_000 {
		t.Errorf("%d keys are excluded of all tables", excluded)
	}
	for of, n := range byBounds {
		integers := of.Physical == bloomparquet.Int32 || of.Physical == bloomparquet.Int64
		if signed := integers && of.Logical != bloomparquet.Uint; signed != (n > 0) {
			t.Errorf("bounds of %v exclude %d keys", of, n)
		}
	}
}

// randomExprs returns the columns of a random table.
func randomExprs(random *rand.Rand) (exprs []string) {
	for range 12 {
		typ, shape := randomTypes[random.IntN(len(randomTypes))], shapes[random.IntN(len(shapes))]
		value := fmt.Sprintf("(%s)::%s", typ.value, typ.sql)
		// Some columns have few values, so that they get a dictionary, and a filter.
		x := fmt.Sprintf("x // %d %% %d", 1+random.IntN(50), []int64{20, 300, 1 << 62}[random.IntN(3)])
		expr := strings.ReplaceAll(shape, "v", "("+strings.ReplaceAll(value, "$", "("+x+")")+")")
		exprs = append(exprs, fmt.Sprintf("%s AS k%d", expr, len(exprs)))
	}
	return exprs
}

// copyRandom writes a table of these columns with DuckDB.
func copyRandom(t *testing.T, db *sql.DB, random *rand.Rand, exprs []string, seed uint64, path string) {
	t.Helper()
	number := []string{"(hash(n, 3) >> 1)::BIGINT", "-n", "n * 1001", "n % 9",
		"CASE hash(n + 1) % 3 WHEN 0 THEN (hash(n, 3) >> 1)::BIGINT WHEN 1 THEN -n ELSE n % 9 END"}[random.IntN(5)]
	exec(t, db, fmt.Sprintf(`COPY (SELECT %s FROM (SELECT hash(n, %d)::UBIGINT %% 10 AS r, %s AS x FROM range(%d) t(n)))
		TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
		strings.Join(exprs, ", "), seed, number, 1+random.IntN(7000), path))
}

// checkPrune tests values of all row groups. It returns how often a key was excluded by filter and
// bounds, and how often by bounds alone.
func checkPrune(t *testing.T, name string, random *rand.Rand, c *bloomparquet.Column, held []map[string]bool) (excluded, byBounds int) {
	t.Helper()
	keys := [][]byte{}
	for _, values := range held {
		for value := range values {
			if random.IntN(len(values)) < 300 {
				keys = append(keys, []byte(value))
			}
		}
	}
	k, err := bloomparquet.KeysOf(c.Type(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for what, column := range map[string]*bloomparquet.Column{"filter": withoutBounds(t, c), "bounds": withoutFilters(t, c), "bounds and filter": c} {
		m, err := rowGroups(k, column)
		if err != nil {
			t.Fatal(err)
		}
		for g, group := range m {
			for i, key := range keys {
				if held[g][string(key)] && !mayContain(group, i) {
					chunk := c.Meta().Chunks[g]
					t.Fatalf("%s, %v: row group %d has the key %x, and is pruned by %s: bounds %x to %x", name, c.Type(), g, key, what, chunk.Min, chunk.Max)
				}
			}
			switch what {
			case "bounds":
				byBounds += len(keys) - group.Count
			case "bounds and filter":
				excluded += len(keys) - group.Count
			}
		}
	}
	return excluded, byBounds
}

// openFile opens a file that is read into memory, for the next one has the same name.
func openFile(t *testing.T, path string) *parquet.File {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// scan returns the values of a column in each row group, as PLAIN bytes.
func scan(t *testing.T, f *parquet.File, leaf int) (held []map[string]bool) {
	t.Helper()
	buffer := make([]parquet.Value, 1000)
	for _, group := range f.RowGroups() {
		values := map[string]bool{}
		pages := group.ColumnChunks()[leaf].Pages()
		for {
			page, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for reader := page.Values(); !errors.Is(err, io.EOF); {
				var n int
				if n, err = reader.ReadValues(buffer); err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				for _, v := range buffer[:n] {
					if !v.IsNull() {
						values[string(v.Bytes())] = true
					}
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
