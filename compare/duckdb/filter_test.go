package duckdb

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var filterTables = flag.Int("filter-tables", 5, "how many random tables TestFilter filters")

// TestFilter writes random tables with DuckDB, whose dictionaries overflow in some row groups, and compares the rows that
// bloom-parquet filter finds by a key, or by many, with those of the table in memory. Row groups with a dictionary have filters.
func TestFilter(t *testing.T) {
	db, command, dir := open(t), build(t), t.TempDir()
	exec(t, db, `SET threads = 1`)
	path, list := filepath.Join(dir, "t.parquet"), filepath.Join(dir, "keys")
	filters, found := 0, 0
	for seed := range *filterTables {
		random := rand.New(rand.NewPCG(59, uint64(seed)))
		rows, different := 100+random.IntN(20_000), 1+random.IntN(6000)
		exec(t, db, fmt.Sprintf(`CREATE OR REPLACE TABLE t AS SELECT i AS "row",
			CASE WHEN hash(i, %[2]d) %% 9 = 0 THEN NULL ELSE 'key ' || (i // 3000 * %[4]d + hash(i, %[2]d) %% %[3]d) END AS text,
			(i // 2000 + hash(i, %[2]d) %% %[3]d)::BIGINT AS number FROM range(%[1]d) r(i)`, rows, seed, different, random.IntN(2)*random.IntN(5000)))
		exec(t, db, fmt.Sprintf(`COPY t TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048, DICTIONARY_SIZE_LIMIT %d, COMPRESSION %s, PARQUET_VERSION %s)`, path,
			[]int{100, 1000, 3000, 100_000}[random.IntN(4)], []string{"uncompressed", "snappy", "zstd", "gzip"}[random.IntN(4)], []string{"V1", "V2"}[random.IntN(2)]))
		filters += len(rowsOf[int64](t, db, fmt.Sprintf(`SELECT bloom_filter_offset FROM parquet_metadata('%s') WHERE bloom_filter_offset > 0`, path)))
		for _, column := range []string{"text", "number"} {
			keys := rowsOf[string](t, db, fmt.Sprintf(`SELECT DISTINCT %[1]s::VARCHAR AS k FROM t WHERE %[1]s IS NOT NULL ORDER BY hash(k)`, column))
			lists := [][]string{keys[:1], keys[len(keys)/2:][:1], {"999999999"}, keys[:min(len(keys), 20)]}
			for _, wanted := range lists {
				want := rowsOf[int64](t, db, fmt.Sprintf(`SELECT "row" FROM t WHERE %s::VARCHAR IN ('%s') ORDER BY 1`, column, strings.Join(wanted, "','")))
				if err := os.WriteFile(list, []byte(strings.Join(wanted, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				got := filtered(t, command, "--column", column, "--keys", list, "--as=jsonl", path)
				if found += len(got); !slices.Equal(got, want) {
					t.Errorf("seed %d, %d keys of %s: %d rows, want %d", seed, len(wanted), column, len(got), len(want))
				}
			}
		}
	}
	t.Logf("%d tables, %d filters, %d rows found", *filterTables, filters, found)
	if filters == 0 || found == 0 {
		t.Error("nothing was filtered")
	}
}

// filtered returns the numbers of the rows that bloom-parquet filter prints.
func filtered(t *testing.T, command string, args ...string) (rows []int64) {
	t.Helper()
	c := osexec.Command(command, append([]string{"filter"}, args...)...)
	var messages bytes.Buffer
	c.Stderr = &messages
	out, err := c.Output()
	if exit := (*osexec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		t.Fatalf("%q: %v: %s", args, err, messages.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		number, _, _ := strings.Cut(strings.TrimPrefix(line, `{"row":`), ",")
		row, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	slices.Sort(rows)
	return rows
}
