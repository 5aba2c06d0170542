// Package duckdb compares the Bloom filters of Parquet files that DuckDB writes and reads with
// this library's. It is a module of its own because DuckDB is a large library in C++.
package duckdb

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/duckdb/internal/command"
)

// The keys of a file are made of the first numbers. All others are absent.
var columns = []struct {
	name, sql string // the type in SQL, and the key of the number n
	key       func(n int) []byte
	value     func(n int) any
}{
	{"text", "'key' || n", func(n int) []byte { return fmt.Appendf(nil, "key%d", n) }, func(n int) any { return fmt.Sprint("key", n) }},
	{"bigint", "n", func(n int) []byte { return littleEndian(uint64(n), 8) }, func(n int) any { return int64(n) }},
	{"integer", "n::integer", func(n int) []byte { return littleEndian(uint64(n), 4) }, func(n int) any { return int32(n) }},
}

func littleEndian(x uint64, width int) []byte {
	key := make([]byte, width)
	for i := range key {
		key[i] = byte(x >> (8 * i))
	}
	return key
}

// open returns a database in memory. It has one connection, because what SET says is for a connection.
func open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// build builds bloom-parquet, and returns the path of the command.
func build(t *testing.T) string {
	t.Helper()
	name, err := command.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestFiles wants the filter of a file that DuckDB writes to be a set of this library, and
// DuckDB to answer as Reference when it reads a filter of this library in that place.
func TestFiles(t *testing.T) {
	db := open(t)
	for _, column := range columns {
		for _, n := range []int{1, 100, 5000} {
			t.Run(fmt.Sprintf("%s/%d", column.name, n), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file.parquet")
				exec(t, db, fmt.Sprintf(`COPY (SELECT %s AS k FROM range(%d) r(n)) TO '%s'
					(FORMAT parquet, DICTIONARY_SIZE_LIMIT 1000000, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.05)`, column.sql, n, path))
				file, start, size := filterOf(t, path)
				set := mustSet(t, size)
				for i := range n {
					set.Add(column.key(i))
				}
				if theirs := file[start:][:size]; !bytes.Equal(set.AppendFilter(nil), theirs) {
					t.Fatalf("the %d bytes that DuckDB wrote are not those of a set of the keys", size)
				}
				others := mustSet(t, size) // in the place of DuckDB's
				for i := range n {
					others.Add(column.key(7 * i))
				}
				filter := others.AppendFilter(nil)
				copy(file[start:], filter)
				if err := os.WriteFile(path, file, 0o666); err != nil {
					t.Fatal(err)
				}
				for i := range 200 {
					excludes := probe(t, db, path, column.value(i))
					if want := !bloom.Reference(bloom.Parquet, filter, column.key(i)); excludes != want {
						t.Errorf("DuckDB excludes key %d from our filter: %v, want %v", i, excludes, want)
					}
				}
			})
		}
	}
}

func exec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// probe reports whether the filter of the only row group of a file excludes a key.
func probe(t *testing.T, db *sql.DB, path string, key any) (excludes bool) {
	t.Helper()
	row := db.QueryRow(`SELECT bloom_filter_excludes FROM parquet_bloom_probe(?, 'k', ?)`, path, key)
	if err := row.Scan(&excludes); err != nil {
		t.Fatal(err)
	}
	return excludes
}

// filterOf returns a file, and where the blocks of its only filter are.
func filterOf(t *testing.T, path string) (file []byte, start, size int) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	filter := f.RowGroups()[0].ColumnChunks()[0].BloomFilter()
	if filter == nil {
		t.Fatal("DuckDB wrote no filter")
	}
	blocks := make([]byte, filter.Size())
	if _, err := filter.ReadAt(blocks, 0); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(file, blocks) != 1 {
		t.Fatal("the blocks are not at one place of the file")
	}
	return file, bytes.Index(file, blocks), len(blocks)
}

func mustSet(t *testing.T, size int) *bloom.Set {
	t.Helper()
	set, err := bloom.OpenSet(bloom.Parquet, make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	return set
}
