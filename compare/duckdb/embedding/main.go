// Command embedding gives a large file of DuckDB Bloom filters of two columns of ids, numbers and texts: with bloom-parquet embed, which it builds, and by
// writing the file anew with DuckDB and with arrow-go. It prints the time, the memory and the size of each, and how long DuckDB
// takes to find an id in the old file and in the new ones.
//
//	go run ./embedding
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/lanebloom/bloom/compare/duckdb/internal/command"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 6_000_000, "rows of the file: 6 million are some 390 MB")
	rounds := flag.Int("rounds", 3, "times each way runs; the shortest counts")
	way := flag.String("way", "", "only write the second file from the first that is named, with duckdb or arrow-go, as a process of its own does")
	flag.Parse()
	err := error(nil)
	if *way != "" {
		err = rewrite(*way, flag.Arg(0), flag.Arg(1))
	} else {
		err = run(*rows, *rounds)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(rows, rounds int) (err error) {
	dir, err := os.MkdirTemp("", "embedding")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	old := filepath.Join(dir, "old.parquet")
	program, err := command.Build(dir)
	if err != nil {
		return err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // what SET says is for a connection
	if _, err := db.Exec(fmt.Sprintf(`SET threads = 1; SET enable_external_file_cache = false;
		COPY (SELECT (hash(n) >> 1)::BIGINT AS id, hash(n + 1, 3) AS session, 'user ' || (hash(n, 5) %% 100000) AS name,
			TIMESTAMP '2024-05-01' + to_seconds(n) AS at, (hash(n, 7) %% 100000) / 100 AS price, md5(n::VARCHAR) AS token FROM range(%d) t(n))
		TO '%s' (FORMAT parquet)`, rows, old)); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ways := []struct {
		name string
		args []string
	}{
		{"`bloom-parquet embed`", []string{program, "embed", "--column", "id,token", "-o"}},
		{"written anew by DuckDB, with the dictionaries of 200,000 values that its filters need", []string{self, "-way", "duckdb"}},
		{"written anew by arrow-go", []string{self, "-way", "arrow-go"}},
	}
	fmt.Print("|  | time | memory | size | a number is found in | a text in |\n|---|---:|---:|---:|---:|---:|\n")
	if err := report(db, "the file of DuckDB, without filters of these columns", old, rows, rounds, 0, 0); err != nil {
		return err
	}
	for i, way := range ways {
		out := filepath.Join(dir, fmt.Sprint(i, ".parquet"))
		var best time.Duration
		var most int64
		for range rounds {
			c := exec.Command(way.args[0], append(way.args[1:len(way.args):len(way.args)], out, old)...)
			start := time.Now()
			if said, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", way.name, err, said)
			}
			if took := time.Since(start); best == 0 || took < best {
				best = took
			}
			most = max(most, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
		}
		if err := report(db, way.name, out, rows, rounds, best, most); err != nil {
			return err
		}
	}
	return nil
}

// report prints the size of a file, what it took to write it, and how long DuckDB takes to find an id.
func report(db *sql.DB, name, path string, rows, rounds int, took time.Duration, memory int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var queries [2]time.Duration
	for i, where := range []string{fmt.Sprintf("id = (hash(%d::BIGINT) >> 1)::BIGINT", rows/3), fmt.Sprintf("token = md5('%d')", rows/3)} {
		for range rounds {
			found, start := 0, time.Now()
			if err := db.QueryRow(fmt.Sprintf(`SELECT count(name) FROM '%s' WHERE %s`, path, where)).Scan(&found); err != nil || found != 1 {
				return fmt.Errorf("%s: DuckDB finds %d rows: %w", name, found, err)
			}
			if t := time.Since(start); queries[i] == 0 || t < queries[i] {
				queries[i] = t
			}
		}
	}
	wrote := " | "
	if took > 0 {
		wrote = fmt.Sprintf("%.2f s | %d MB", took.Seconds(), memory/1e6)
	}
	fmt.Printf("| %s | %s | %d MB | %d ms | %d ms |\n", name, wrote, info.Size()/1e6, queries[0].Milliseconds(), queries[1].Milliseconds())
	return nil
}

// rewrite writes a file anew, with filters at 1 % of the ids. DuckDB gives every column with a dictionary one.
func rewrite(way, out, in string) (err error) {
	if way == "duckdb" {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			return err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		_, err = db.Exec(fmt.Sprintf(`SET threads = 1;
			COPY (FROM '%s') TO '%s' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 200000, STRING_DICTIONARY_PAGE_SIZE_LIMIT 100000000)`, in, out))
		return err
	}
	reader, err := file.OpenParquetFile(in, false)
	if err != nil {
		return err
	}
	defer reader.Close()
	arrows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	records, err := arrows.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return err
	}
	defer records.Release()
	to, err := os.Create(out)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(records.Schema(), to, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(122_880),
		parquet.WithBloomFilterEnabledFor("id", true), parquet.WithBloomFilterNDVFor("id", 122_880), parquet.WithBloomFilterFPPFor("id", 0.01),
		parquet.WithBloomFilterEnabledFor("token", true), parquet.WithBloomFilterNDVFor("token", 122_880), parquet.WithBloomFilterFPPFor("token", 0.01)), pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	for records.Next() {
		if err := w.WriteBuffered(records.RecordBatch()); err != nil {
			return err
		}
	}
	return errors.Join(records.Err(), w.Close())
}
