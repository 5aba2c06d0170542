// Command embedding gives a large file of DuckDB Bloom filters of two columns of ids, numbers and texts: with bloom-parquet embed, which it builds, and by
// writing the file anew with DuckDB and with arrow-go. It tells the time, the memory and the size of each, and how long DuckDB
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

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/lanebloom/bloom/compare/duckdb/internal/command"
	"github.com/lanebloom/bloom/compare/internal/race"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 6_000_000, "rows of the file: 6 million are some 390 MB")
	rounds := flag.Int("rounds", 3, "times each way runs; the shortest counts")
	way := flag.String("way", "", "only write the second file from the first that is named, with duckdb or arrow-go, as a process of its own does")
	asJSON := flag.Bool("json", false, "print JSON, for the command figures")
	flag.Parse()
	if *way != "" {
		if err := rewrite(*way, flag.Arg(0), flag.Arg(1)); err != nil {
			log.Fatal(err)
		}
		return
	}
	figures, err := run(*rows, *rounds)
	if err == nil {
		err = figures.Print(os.Stdout, *asJSON)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(rows, rounds int) (figures race.Figures, err error) {
	dir, err := os.MkdirTemp("", "embedding")
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	old := filepath.Join(dir, "old.parquet")
	program, err := command.Build(dir)
	if err != nil {
		return figures, err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return figures, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // what SET says is for a connection
	if _, err := db.Exec(fmt.Sprintf(`SET threads = 1; SET enable_external_file_cache = false;
		COPY (SELECT (hash(n) >> 1)::BIGINT AS id, hash(n + 1, 3) AS session, 'user ' || (hash(n, 5) %% 100000) AS name,
			TIMESTAMP '2024-05-01' + to_seconds(n) AS at, (hash(n, 7) %% 100000) / 100 AS price, md5(n::VARCHAR) AS token FROM range(%d) t(n))
		TO '%s' (FORMAT parquet)`, rows, old)); err != nil {
		return figures, err
	}
	self, err := os.Executable()
	if err != nil {
		return figures, err
	}
	ways := []struct {
		name string
		args []string
	}{
		{"`bloom-parquet embed`", []string{program, "embed", "--column", "id,token", "-o"}},
		{"written anew by DuckDB, with the dictionaries of 200,000 values that its filters need", []string{self, "-way", "duckdb"}},
		{"written anew by arrow-go", []string{self, "-way", "arrow-go"}},
	}
	if err := report(&figures, db, "the file of DuckDB, without filters of these columns", old, rows, rounds); err != nil {
		return figures, err
	}
	for i, way := range ways {
		out, most := filepath.Join(dir, fmt.Sprint(i, ".parquet")), int64(0)
		run := &race.Way{Name: way.name, Run: func(int) (int, error) {
			c := exec.Command(way.args[0], append(way.args[1:len(way.args):len(way.args)], out, old)...)
			c.Env = append(os.Environ(), "GOMAXPROCS=1") // one thread each
			if said, err := c.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%w: %s", err, said)
			}
			most = max(most, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
			return 0, nil
		}}
		if err := (race.Race{Rounds: rounds, Operations: 1}).Run(run); err != nil {
			return figures, err
		}
		figures.Add(race.Figure{Name: "embed/way=" + way.name + "/write", Ns: race.Three(run.Least()), MB: race.Three(float64(most) / 1e6)})
		if err := report(&figures, db, way.name, out, rows, rounds); err != nil {
			return figures, err
		}
	}
	return figures, nil
}

// report adds the size of a file, and how long DuckDB takes to find a number and a text.
func report(figures *race.Figures, db *sql.DB, name, path string, rows, rounds int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	figures.Add(race.Figure{Name: "embed/way=" + name + "/size", MB: race.Three(float64(info.Size()) / 1e6)})
	for _, query := range [][2]string{{"number", fmt.Sprintf("id = (hash(%d::BIGINT) >> 1)::BIGINT", rows/3)}, {"text", fmt.Sprintf("token = md5('%d')", rows/3)}} {
		what, where := query[0], query[1]
		find := &race.Way{Name: name, Run: func(int) (found int, err error) {
			if err = db.QueryRow(fmt.Sprintf(`SELECT count(name) FROM '%s' WHERE %s`, path, where)).Scan(&found); err == nil && found != 1 {
				err = fmt.Errorf("DuckDB finds %d rows", found)
			}
			return found, err
		}}
		if err := (race.Race{Rounds: rounds, Operations: 1}).Run(find); err != nil {
			return err
		}
		figures.Add(race.Figure{Name: "embed/way=" + name + "/" + what, Ns: race.Three(find.Least())})
	}
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
