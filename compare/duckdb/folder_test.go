package duckdb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	arrowcompress "github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/parquet-go/parquet-go"
)

// TestFolder filters a folder of files of three writers. DuckDB says OPTIONAL of all columns, and the others
// REQUIRED of most. Whichever file is the first, the output has the rows of each, as text and as Parquet, and
// DuckDB finds the same values in these.
func TestFolder(t *testing.T) {
	command, db, dir := build(t), open(t), t.TempDir()
	list, out := filepath.Join(dir, "keys"), filepath.Join(dir, "out.parquet")
	random := rand.New(rand.NewPCG(67, 12))
	rows := randomRows(random, 6000)
	for seed, names := range [][3]string{{"duckdb", "parquetgo", "arrowgo"}, {"parquetgo", "arrowgo", "duckdb"}, {"arrowgo", "duckdb", "parquetgo"}} {
		folder := filepath.Join(dir, fmt.Sprint(seed))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		plain := filepath.Join(dir, "plain.parquet")
		writeParquetGo(t, plain, rows, &parquet.Uncompressed, random)
		for i, name := range names {
			path := filepath.Join(folder, fmt.Sprintf("%d %s.parquet", i, name))
			switch name {
			case "duckdb":
				exec(t, db, fmt.Sprintf(`COPY (SELECT * FROM '%s') TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)`, plain, path))
			case "parquetgo":
				writeParquetGo(t, path, rows, &parquet.Snappy, random)
			case "arrowgo":
				writeArrowGo(t, path, rows, arrowcompress.Codecs.Zstd, random)
			}
		}
		var keys, once strings.Builder
		want := strings.Join(codedColumns, ",") + "\n"
		for i := 0; i < len(rows); i += 7 {
			fmt.Fprintln(&keys, rows[i].ID)
			fmt.Fprintln(&once, strings.Join(rows[i].fields(), ","))
		}
		want += strings.Repeat(once.String(), len(names))
		if err := os.WriteFile(list, []byte(keys.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, said := run(command, "filter", "--column", "id", "--keys", list, "--as=csv", folder); got != want || said != "" {
			t.Errorf("%v: %d bytes, want %d: %s", names, len(got), len(want), said)
		}
		if _, said := run(command, "filter", "--column", "id", "--keys", list, "-o", out, folder); said != "" {
			t.Errorf("%v: %s", names, said)
			continue
		}
		different := rowsOf[int64](t, db, fmt.Sprintf(`SELECT count(*) FROM (
			(SELECT * FROM '%[1]s' EXCEPT ALL SELECT p.* FROM '%[2]s' p, range(3) WHERE id IN (SELECT id FROM '%[1]s')) UNION ALL
			(SELECT p.* FROM '%[2]s' p, range(3) WHERE id IN (SELECT id FROM '%[1]s') EXCEPT ALL SELECT * FROM '%[1]s'))`, out, plain))
		if n := rowsOf[int64](t, db, fmt.Sprintf(`SELECT count(*) FROM '%s'`, out)); n[0] != int64(3*strings.Count(keys.String(), "\n")) || different[0] != 0 {
			t.Errorf("%v: DuckDB finds %d rows, and %d others", names, n[0], different[0])
		}
	}
}
