// Command semijoin takes keys from one Parquet file and finds their rows in another, larger one: by
// Bloom filters with this library and parquet-go, and by DuckDB. Both give the same sum, or
// it fails. It generates the files with DuckDB: orders and their lines, as in TPC-H except for
// keys without an order, of which minimum and maximum tell nothing.
//
//	go run ./semijoin -lines 20000000
package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

func main() {
	log.SetFlags(0)
	lines := flag.Int("lines", 4_000_000, "rows of the larger file")
	wanted := flag.Int("orders", 100, "orders to find the lines of")
	rounds := flag.Int("rounds", 5, "times each way runs, in turn; the shortest counts")
	threads := flag.Int("threads", 1, "threads of DuckDB; this library has one")
	flag.Parse()
	if err := run(*lines, *wanted, *rounds, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(lines, wanted, rounds, threads int) error {
	dir, err := os.MkdirTemp("", "semijoin")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	t := &tables{db: db, orders: filepath.Join(dir, "orders.parquet"), lines: filepath.Join(dir, "lines.parquet")}
	if err := t.generate(lines, wanted); err != nil {
		return err
	}
	if _, err := db.Exec(fmt.Sprintf("SET threads = %d", threads)); err != nil {
		return err
	}
	var ours, theirs []time.Duration
	var a, b answer
	for range rounds {
		start := time.Now()
		if a, err = t.prune(); err != nil {
			return err
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		if b, err = t.duckdb(); err != nil {
			return err
		}
		theirs = append(theirs, time.Since(start))
	}
	if a.rows != b.rows || a.sum != b.sum || b.rows == 0 {
		return fmt.Errorf("%d lines of %d in sum, and DuckDB says %d of %d", a.rows, a.sum, b.rows, b.sum)
	}
	fmt.Printf("%d orders have %d of %d lines, with a sum of %d: both agree\n", a.keys, a.rows, lines, a.sum)
	fmt.Printf("row groups read: %d of %d; lines tested: %d; past the filter: %d\n", a.groups, a.allGroups, a.tested, a.passed)
	fmt.Printf("prune, filter and look up: %6.1f ms, on one thread\n", ms(slices.Min(ours)))
	fmt.Printf("DuckDB's semi-join:        %6.1f ms, on %d\n", ms(slices.Min(theirs)), threads)
	var version string
	if err := db.QueryRow("SELECT version()").Scan(&version); err != nil {
		return err
	}
	fmt.Println("DuckDB", version)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// tables are the two files.
type tables struct {
	db            *sql.DB
	orders, lines string
}

// answer is the sum over the lines of the wanted orders, and the numbers of row groups and rows that were read
// for it.
type answer struct {
	rows, sum                               int64
	keys, groups, allGroups, tested, passed int
}

// generate writes orders of four lines each. The lines of an order are together. Every so manieth
// order is wanted.
func (t *tables) generate(lines, wanted int) error {
	orders := lines / 4
	for _, query := range []string{
		// A multiplication by an odd number mixes the keys: neighbours are far from each other.
		`CREATE MACRO key_of(n) AS ((n::hugeint * 11400714819323198485) % 9223372036854775783)::bigint`,
		fmt.Sprintf(`COPY (SELECT key_of(n) AS o_key, (n %% %d = 7)::integer AS o_wanted FROM range(%d) r(n))
			TO '%s' (FORMAT parquet)`, max(orders/wanted, 8), orders, t.orders),
		fmt.Sprintf(`COPY (SELECT key_of(n // 4) AS l_key, (n * 31 %% 10007)::bigint AS l_price, 'line ' || n AS l_comment FROM range(%d) r(n) ORDER BY n)
			TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 20480, DICTIONARY_SIZE_LIMIT 20480)`, lines, t.lines),
	} {
		if _, err := t.db.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) duckdb() (a answer, err error) {
	err = t.db.QueryRow(fmt.Sprintf(`SELECT count(*), sum(l_price)::bigint FROM '%s'
		WHERE l_key IN (SELECT o_key FROM '%s' WHERE o_wanted = 1)`, t.lines, t.orders)).Scan(&a.rows, &a.sum)
	return a, err
}

// prune reads the wanted keys, prunes the row groups of the lines, and tests the lines of those
// that are left.
func (t *tables) prune() (a answer, err error) {
	ids, err := t.wanted()
	if err != nil {
		return a, err
	}
	a.keys = len(ids)
	exact := make(map[int64]struct{}, len(ids))
	for _, id := range ids {
		exact[id] = struct{}{}
	}
	file, done, err := open(t.lines)
	if err != nil {
		return a, err
	}
	defer done()
	column, err := parquetgo.Open(file, "l_key")
	if err != nil {
		return a, err
	}
	keys, err := bloomparquet.KeysOf(column.Type(), ids)
	if err != nil {
		return a, err
	}
	filter := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 16}.NewFilter(keys.Hashed())
	groups, err := keys.Prune(column)
	if err != nil {
		return a, err
	}
	a.allGroups = column.Len()
	for group := range groups {
		if group.Count == 0 {
			continue
		}
		a.groups++
		if err := a.look(file.RowGroups()[group.Index], filter, exact); err != nil {
			return a, err
		}
	}
	return a, nil
}

// look adds the lines of a row group that have one of the keys. Only the prices that are needed
// are looked at.
func (a *answer) look(group parquet.RowGroup, filter *bloom.Filter, exact map[int64]struct{}) error {
	keys, err := int64s(group.ColumnChunks()[0])
	if err != nil {
		return err
	}
	a.tested += len(keys)
	var prices []int64
	for i := range filter.Hits(bloom.Integers(keys)) {
		a.passed++
		if _, ok := exact[keys[i]]; !ok {
			continue // a false positive
		}
		if prices == nil {
			if prices, err = int64s(group.ColumnChunks()[1]); err != nil {
				return err
			}
		}
		a.rows++
		a.sum += prices[i]
	}
	return nil
}

// wanted returns the keys of the orders that are wanted.
func (t *tables) wanted() (ids []int64, err error) {
	file, done, err := open(t.orders)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, group := range file.RowGroups() {
		chunks := group.ColumnChunks()
		flags, err := int32s(chunks[1])
		if err != nil {
			return nil, err
		}
		if !slices.Contains(flags, 1) {
			continue
		}
		keys, err := int64s(chunks[0])
		if err != nil {
			return nil, err
		}
		for i, flag := range flags {
			if flag == 1 {
				ids = append(ids, keys[i])
			}
		}
	}
	return ids, nil
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

// int64s returns a column of a row group. It must have no nulls.
func int64s(chunk parquet.ColumnChunk) (all []int64, err error) {
	all = make([]int64, 0, chunk.NumValues())
	err = pages(chunk, func(page parquet.Page) {
		data := page.Data()
		dictionary := page.Dictionary()
		if dictionary == nil {
			all = append(all, data.Int64()...)
			return
		}
		values := dictionary.Page().Data()
		numbers := values.Int64()
		for _, i := range data.Int32() {
			all = append(all, numbers[i])
		}
	})
	return all, err
}

// int32s is int64s for the other type.
func int32s(chunk parquet.ColumnChunk) (all []int32, err error) {
	all = make([]int32, 0, chunk.NumValues())
	err = pages(chunk, func(page parquet.Page) {
		data := page.Data()
		dictionary := page.Dictionary()
		if dictionary == nil {
			all = append(all, data.Int32()...)
			return
		}
		values := dictionary.Page().Data()
		numbers := values.Int32()
		for _, i := range data.Int32() {
			all = append(all, numbers[i])
		}
	})
	return all, err
}

// pages calls take with the pages of a column of a row group.
func pages(chunk parquet.ColumnChunk, take func(parquet.Page)) error {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case page.NumNulls() > 0:
			return errors.New("the column has nulls")
		}
		take(page)
		parquet.Release(page)
	}
}
