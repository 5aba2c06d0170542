package duckdb

import (
	"fmt"
	"math/rand/v2"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// joinTypes are types of DuckDB whose values are equal to some of the others in their row. The number n of a value
// is $.
var joinTypes = [][]struct{ sql, value string }{
	{{"TINYINT", "$ % 100"}, {"INTEGER", "$"}, {"BIGINT", "$ * 7"}, {"UINTEGER", "abs($)"}, {"UBIGINT", "abs($)"}, {"DECIMAL(9, 2)", "$ / 4"}, {"DECIMAL(18, 3)", "$ / 8"}, {"DECIMAL(30, 0)", "$"}},
	{{"FLOAT", "$ / 8"}, {"DOUBLE", "CASE $ % 5 WHEN 0 THEN 'nan' WHEN 1 THEN '-0.0' ELSE ($ / 8)::VARCHAR END"}},
	{{"VARCHAR", "CASE $ % 5 WHEN 0 THEN '' ELSE 'key' || $ END"}}, {{"BLOB", "('key' || $)"}}, {{"UUID", "md5($::VARCHAR)"}}, {{"DATE", "DATE '1970-01-01' + ($ % 1000)::INTEGER"}},
	{{"TIMESTAMP", "make_timestamp($ * 1000)"}, {"TIMESTAMP_MS", "make_timestamp($ * 1000)"}, {"TIMESTAMP_NS", "make_timestamp($ * 1000)"}},
}

// TestTables compares the rows that bloom-parquet finds by the keys of another table with DuckDB's semi-join, of Parquet,
// CSV and JSON.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	command := build(t)
	db := open(t)
	found := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(44, seed))
		family := joinTypes[seed%uint64(len(joinTypes))]
		rows, keys := family[random.IntN(len(family))], family[random.IntN(len(family))]
		rowsFile, keysFile := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "keys.parquet")
		for _, table := range []struct {
			of          struct{ sql, value string }
			file        string
			more, count int
		}{{rows, rowsFile, 0, 5000}, {keys, keysFile, 7, 1 + random.IntN(500)}} {
			value := strings.ReplaceAll(table.of.value, "$", fmt.Sprintf("((hash(n, %d) %% 2000)::BIGINT - 1000)", seed+uint64(table.more)))
			exec(t, db, fmt.Sprintf("COPY (SELECT n AS id, CASE WHEN n %% 11 = 3 THEN NULL ELSE (%s)::%s END AS k FROM range(%d) t(n)) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)", value, table.of.sql, table.count, table.file))
		}
		want := rowsOf[int64](t, db, fmt.Sprintf("SELECT id FROM '%s' WHERE k IN (SELECT k FROM '%s' WHERE k IS NOT NULL) ORDER BY id", rowsFile, keysFile))
		found += len(want)
		files := []string{keysFile}
		if keys.sql == rows.sql && keys.sql != "BLOB" {
			for _, format := range []string{"csv", "json"} {
				file := filepath.Join(dir, "keys."+format)
				exec(t, db, fmt.Sprintf("COPY (SELECT id, k::VARCHAR AS k FROM '%s') TO '%s' (FORMAT %s)", keysFile, file, format))
				files = append(files, file)
			}
		}
		for _, file := range files {
			out := filepath.Join(dir, "out.parquet")
			output, err := osexec.Command(command, "filter", "--column", "k", "--keys", file, "--keys-column", "k", "-o", out, rowsFile).CombinedOutput()
			if err != nil && len(want) > 0 {
				t.Fatalf("seed %d, %s in %s: %v: %s", seed, keys.sql, rows.sql, err, output)
			}
			if got := rowsOf[int64](t, db, fmt.Sprintf("SELECT id FROM '%s' ORDER BY id", out)); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s, %s in %s: %d rows, and DuckDB has %d: %s", seed, filepath.Base(file), keys.sql, rows.sql, len(got), len(want), output)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d rows in all", found)
	}
}
