// Command rowsof finds the rows of a large Parquet file that have one of many keys: with bloom-parquet
// filter, which it builds, and with a semi-join of DuckDB: of keys in lines, and of keys in a column of another
// Parquet file. All find equally many, or it fails.
// Beside them it tells how long it takes only to read the row groups that may have keys, with the reader
// that bloom-parquet has. It generates the file with DuckDB.
//
//	go run ./rowsof -rows 20000000
//	go run ./rowsof -keys 100 -there 100
package main

import (
	"bytes"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
	"github.com/lanebloom/bloom/compare/duckdb/internal/command"
	"github.com/lanebloom/bloom/compare/internal/race"
)

func main() {
	rows := flag.Int("rows", 5_300_000, "rows of the file: 5.3 million are some 400 MB")
	keys := flag.Int("keys", 10_000, "keys to find")
	there := flag.Int("there", 500, "of which this many are there, each in one row")
	sorted := flag.Bool("sorted", false, "ids are in order, and the keys are from a fiftieth of their range")
	rounds := flag.Int("rounds", 5, "times each way runs, in turn; the shortest counts")
	threads := flag.Int("threads", 1, "threads of DuckDB, and of Go in the other ways")
	only := flag.Bool("read", false, "only read the file and the keys that are named, as the first way does in a process of its own")
	flag.Parse()
	if *only {
		if err := read(flag.Arg(0), flag.Arg(1)); err != nil {
			log.Fatal(err)
		}
		return
	}
	race.Exit(run(*rows, *keys, *there, *rounds, *threads, *sorted))
}

// table is the file, and its keys.
type table struct {
	db         *sql.DB
	dir, file  string
	keys       string // of lines
	wanted     string // the same keys in a Parquet file, with another column
	command    string // bloom-parquet
	threads    int
	groups, of int // read, of all
}

func run(rows, keys, there, rounds, threads int, sorted bool) (figures race.Figures, err error) {
	dir, err := os.MkdirTemp("", "rowsof")
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := command.DuckDB()
	if err != nil {
		return figures, err
	}
	defer db.Close()
	t := &table{db: db, dir: dir, file: filepath.Join(dir, "events.parquet"), keys: filepath.Join(dir, "keys"), wanted: filepath.Join(dir, "wanted.parquet"), threads: threads}
	if t.command, err = command.Build(dir); err != nil {
		return figures, err
	}
	if err := t.generate(rows, keys, there, sorted); err != nil {
		return figures, err
	}
	way := func(name string, find func() (int, error)) *race.Way {
		return &race.Way{Name: name, Run: func(int) (int, error) { return find() }}
	}
	ways := []*race.Way{
		way("reading the row groups that remain", func() (int, error) { return there, t.read() }),
		way("bloom-parquet filter, keys in lines", func() (int, error) { return t.filter("--keys", t.keys) }),
		way("DuckDB's semi-join, keys in lines", func() (int, error) {
			return t.duckdb(fmt.Sprintf("SELECT key FROM read_csv('%s', header = false, columns = {'key': 'BIGINT'})", t.keys))
		}),
		way("bloom-parquet filter, keys in Parquet", func() (int, error) { return t.filter("--keys", t.wanted, "--keys-column", "key") }),
		way("DuckDB's semi-join, keys in Parquet", func() (int, error) { return t.duckdb(fmt.Sprintf("SELECT key FROM '%s'", t.wanted)) }),
	}
	if err := (race.Race{Rounds: rounds, Operations: 1}).Run(ways...); err != nil {
		return figures, err
	}
	info, err := os.Stat(t.file)
	if err != nil {
		return figures, err
	}
	var version string
	if err := db.QueryRow("SELECT version()").Scan(&version); err != nil {
		return figures, err
	}
	figures.Config = map[string]string{"duckdb": version, "row-groups-that-remain": fmt.Sprintf("%d of %d", t.groups, t.of)}
	figures.Add(race.Figure{Name: fmt.Sprintf("Rows/keys=%d/file", keys), MB: race.Three(float64(info.Size()) / 1e6)})
	for _, w := range ways {
		figures.Add(race.Figure{Name: fmt.Sprintf("Rows/keys=%d/way=%s", keys, w.Name), Ns: race.Three(w.Least())})
	}
	return figures, nil
}

// generate writes the file and the keys. An id is in one row, and the file has filters of them.
func (t *table) generate(rows, keys, there int, sorted bool) error {
	id := "((n::hugeint * 11400714819323198485) % 9223372036854775783)::bigint" // neighbours are far from each other
	step, from := rows/there, 0
	if sorted {
		id, step, from = "(n * 1000)::bigint", rows/50/there, rows/2
	}
	for _, query := range []string{
		"CREATE MACRO id_of(n) AS " + id,
		fmt.Sprintf(`COPY (SELECT id_of(n) AS id, 'customer ' || (n * 31 %% 100003) AS customer, TIMESTAMP '2024-05-01' + INTERVAL (n) SECOND AS at,
			(n * 7919 %% 1000003) / 100 AS price, md5(n::varchar) AS note FROM range(%d) r(n) ORDER BY n)
			TO '%s' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 200000)`, rows, t.file),
		fmt.Sprintf(`COPY (SELECT CASE WHEN k < %d THEN id_of(%d + k * %d) ELSE id_of(%d + k * %d // 20) + 1 END FROM range(%d) r(k)) TO '%s' (FORMAT csv, HEADER false)`,
			there, from, step, from, step, keys, t.keys),
		fmt.Sprintf(`COPY (SELECT key, md5(key::varchar) AS note FROM read_csv('%s', header = false, columns = {'key': 'BIGINT'})) TO '%s' (FORMAT parquet)`, t.keys, t.wanted),
		fmt.Sprintf("SET threads = %d", t.threads),
	} {
		if _, err := t.db.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

// filter runs bloom-parquet with some keys, and returns how many rows it wrote.
func (t *table) filter(keys ...string) (int, error) {
	out := filepath.Join(t.dir, "found.parquet")
	if _, err := t.exec(t.command, append([]string{"filter", "--column", "id", "-o", out, t.file}, keys...)...); err != nil {
		return 0, err
	}
	file, done, err := open(out)
	if err != nil {
		return 0, err
	}
	defer done()
	return int(file.NumRows()), nil
}

// exec runs a command on as many threads as DuckDB has.
func (t *table) exec(name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(t.threads))
	output, _, err := race.Output(command)
	return string(output), err
}

// duckdb writes the rows that have a key of a query.
func (t *table) duckdb(keys string) (int, error) {
	result, err := t.db.Exec(fmt.Sprintf(`COPY (SELECT * FROM '%s' WHERE id IN (%s)) TO '%s' (FORMAT parquet)`, t.file, keys, filepath.Join(t.dir, "joined.parquet")))
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// read reads all values of the row groups that may have keys, in a process of its own.
func (t *table) read() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	output, err := t.exec(program, "-read", t.file, t.keys)
	if err == nil {
		_, err = fmt.Sscan(output, &t.groups, &t.of)
	}
	return err
}

// read prints how many row groups may have keys, and of how many.
func read(path, list string) error {
	file, done, err := open(path)
	if err != nil {
		return err
	}
	defer done()
	column, err := parquetgo.Open(file, "id")
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	keys, err := bloomparquet.ParseKeys(column.Type(), bytes.Split(bytes.TrimSpace(lines), []byte("\n")))
	if err != nil {
		return err
	}
	groups, err := keys.Prune(column)
	if err != nil {
		return err
	}
	values, n := make([]parquet.Value, 8192), 0
	for group := range groups {
		if group.Count == 0 {
			continue
		}
		n++
		for _, chunk := range file.RowGroups()[group.Index].ColumnChunks() {
			if err := readAll(chunk, values); err != nil {
				return err
			}
		}
	}
	fmt.Println(n, column.Len())
	return nil
}

func readAll(chunk parquet.ColumnChunk, values []parquet.Value) error {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for r := page.Values(); err == nil; {
			_, err = r.ReadValues(values)
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		parquet.Release(page)
	}
}

func open(path string) (file *parquet.File, done func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		file, err = parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	}
	return file, func() { f.Close() }, err
}
