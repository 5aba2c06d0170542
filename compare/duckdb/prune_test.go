package duckdb

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

// prunedColumns are types of DuckDB, as expressions of a number n below 18,432. Of those without
// probe, parquet_bloom_probe excludes nothing or is wrong. DuckDB gives wider decimals no filter.
var prunedColumns = []struct {
	sql   string
	probe bool
}{
	{"(n // 150)::tinyint", true}, {"n::smallint", true}, {"(n - 3000)::integer", true}, {"(n * 7919 - 500000)::bigint", true},
	{"(n // 75)::utinyint", true}, {"n::usmallint", true}, {"(n * 200000)::uinteger", true}, {"n::ubigint * 1000000000000000", true},
	{"(n / 7)::float", true}, {"((n + 1) / 7)::double", true},
	{"'key ' || n", true}, {"uuid_of(n)", false},
	{"(DATE '1969-06-01' + n::integer)", true}, {"(TIME '00:00:00' + to_microseconds(n * 1001))", false},
	{"(TIMESTAMP '1969-12-31 23:00:00' + to_microseconds(n * 1000001))", true},
	{"(TIMESTAMP '1969-12-31 23:00:00' + to_milliseconds(n * 1001))::timestamp_ms", false},
	{"(TIMESTAMP '1969-12-31 23:00:00' + to_microseconds(n * 1001))::timestamptz", false},
	{"(n / 100 - 20)::decimal(9, 2)", false}, {"(n / 100 - 20)::decimal(18, 4)", false},
}

// TestPrune writes a file of three row groups of each type with DuckDB. It reads keys as DuckDB
// prints them, wants each in the row group that holds it, and compares the filters with
// DuckDB's own probe.
func TestPrune(t *testing.T) {
	db := open(t)
	exec(t, db, `SET TimeZone = 'UTC'`)
	exec(t, db, `CREATE MACRO uuid_of(n) AS md5(n::varchar)::uuid`)
	for _, column := range prunedColumns {
		t.Run(column.sql, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file.parquet")
			// Every third number is in the file.
			exec(t, db, fmt.Sprintf(`COPY (SELECT %s AS k FROM range(0, 18432, 3) r(n) ORDER BY n)
				TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048, DICTIONARY_SIZE_LIMIT 1000000)`, column.sql, path))
			texts := rowsOf[[]byte](t, db, fmt.Sprintf(`SELECT DISTINCT (%s)::varchar FROM range(0, 18432, 20) r(n)`, column.sql))
			c := openColumn(t, path)
			keys, err := bloomparquet.ParseKeys(c.Type(), texts)
			if err != nil {
				t.Fatal(err)
			}
			m, err := rowGroups(keys, c)
			if err != nil {
				t.Fatal(err)
			}
			if len(m) != 3 {
				t.Fatalf("%d row groups", len(m))
			}
			excluded := 0
			for g, group := range m {
				if group.Err != nil {
					t.Fatalf("row group %d: %v", g, group.Err)
				}
				held := map[string]bool{}
				for _, text := range rowsOf[[]byte](t, db, fmt.Sprintf(`SELECT DISTINCT k::varchar FROM read_parquet('%s', file_row_number = true)
					WHERE file_row_number // 2048 = %d`, path, g)) {
					held[string(text)] = true
				}
				for i, text := range texts {
					switch may := mayContain(group, i); {
					case held[string(text)] && !may:
						t.Fatalf("row group %d has %s", g, text)
					case !may:
						excluded++
					}
				}
			}
			if excluded == 0 {
				t.Error("nothing is excluded")
			}
			if column.probe {
				compareProbes(t, db, path, texts[:40], withoutBounds(t, c))
			}
		})
	}
}

// TestSorted wants the bounds of sorted columns to exclude 97 of 98 row groups for a key: DuckDB 1.4.3 writes
// files without column_orders, and no filter for a column of that many different values.
func TestSorted(t *testing.T) {
	db := open(t)
	for _, test := range []struct {
		sql, key string
		want     int
		err      error
	}{
		{"n - 100000", "77", 1, bloomparquet.ErrNoFilter},
		{"(n - 100000)::INTEGER", "-77", 1, bloomparquet.ErrNoFilter},
		{"((n - 100000) / 100)::DECIMAL(18, 2)", "-77.01", 1, bloomparquet.ErrNoFilter},
		{"TIMESTAMP '1969-12-31 23:00:00' + to_seconds(n)", "1970-01-01T01:02:03", 1, bloomparquet.ErrNoFilter},
		{"n::UBIGINT", "77", 98, bloomparquet.ErrNoOrder},
		{"lpad(n::VARCHAR, 20, '0')", "00000000000000000077", 98, bloomparquet.ErrNoOrder},
	} {
		t.Run(test.sql, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file.parquet")
			exec(t, db, fmt.Sprintf(`COPY (SELECT %s AS k FROM range(%d) r(n) ORDER BY n)
				TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)`, test.sql, 98*2048, path))
			c := openColumn(t, path)
			keys, err := bloomparquet.ParseKeys(c.Type(), [][]byte{[]byte(test.key)})
			if err != nil {
				t.Fatal(err)
			}
			m, err := rowGroups(keys, c)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, group := range m {
				if kept += group.Count; group.Count > 0 && !errors.Is(group.Err, test.err) {
					t.Errorf("row group %d: %v", group.Index, group.Err)
				}
			}
			if kept != test.want || len(m) != 98 {
				t.Errorf("%d of %d row groups, want %d", kept, len(m), test.want)
			}
		})
	}
}

// rowsOf returns the rows of a query, which have one column.
func rowsOf[T any](t *testing.T, db *sql.DB, query string) (all []T) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func openColumn(t *testing.T, path string) *bloomparquet.Column {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	c, err := parquetgo.Open(file, "k")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func withoutBounds(t *testing.T, c *bloomparquet.Column) *bloomparquet.Column {
	t.Helper()
	return without(t, c, func(chunk *bloomparquet.Chunk) { chunk.Min, chunk.Max = nil, nil })
}

func withoutFilters(t *testing.T, c *bloomparquet.Column) *bloomparquet.Column {
	t.Helper()
	return without(t, c, func(chunk *bloomparquet.Chunk) { chunk.FilterOffset = 0 })
}

// without returns the same column without what a function takes away from each row group.
func without(t *testing.T, c *bloomparquet.Column, takeAway func(*bloomparquet.Chunk)) *bloomparquet.Column {
	t.Helper()
	m := c.Meta()
	m.Chunks = slices.Clone(m.Chunks)
	for i := range m.Chunks {
		takeAway(&m.Chunks[i])
	}
	c, err := bloomparquet.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compareProbes wants DuckDB to exclude the row groups that the matrix excludes.
func compareProbes(t *testing.T, db *sql.DB, path string, texts [][]byte, c *bloomparquet.Column) {
	t.Helper()
	keys, err := bloomparquet.ParseKeys(c.Type(), texts)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rowGroups(keys, c)
	if err != nil {
		t.Fatal(err)
	}
	kind := rowsOf[[]byte](t, db, fmt.Sprintf(`SELECT typeof(k) FROM '%s' LIMIT 1`, path))[0]
	for i, text := range texts {
		rows, err := db.Query(fmt.Sprintf(`SELECT row_group_id, bloom_filter_excludes FROM parquet_bloom_probe('%s', 'k', '%s'::%s)`, path, text, kind))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for rows.Next() {
			var group int
			var excludes bool
			if err := rows.Scan(&group, &excludes); err != nil {
				t.Fatal(err)
			}
			if seen++; excludes == mayContain(m[group], i) && string(text) != "0.0" {
				t.Errorf("row group %d: DuckDB excludes %s: %v", group, text, excludes)
			}
		}
		rows.Close()
		if seen != len(m) {
			t.Fatalf("DuckDB tells of %d row groups", seen)
		}
	}
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

// mayContain reports whether a key may be in a row group.
func mayContain(group bloomparquet.RowGroup, key int) bool {
	return group.Hits[key/64]>>(key%64)&1 != 0
}
