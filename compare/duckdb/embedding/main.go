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

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/lanebloom/bloom/compare/duckdb/internal/command"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// ofDuckDB is the file that gets filters.
const ofDuckDB = "the file of DuckDB, without filters of these columns"

func main() {
	rows := flag.Int("rows", 6_000_000, "rows of the file: 6 million are some 390 MB")
	rounds := flag.Int("rounds", 3, "times each way runs; the shortest counts")
	way := flag.String("way", "", "only write the first file that is named, new, or from the second with duckdb or arrow-go, as a process of its own does")
	flag.Parse()
	if *way == "" {
		race.Exit(run(*rows, *rounds))
		return
	}
	write := map[string]func() error{
		"new":      func() error { return writeNew(flag.Arg(0), *rows) },
		"duckdb":   func() error { return writeByDuckDB(flag.Arg(0), flag.Arg(1)) },
		"arrow-go": func() error { return writeByArrowGo(flag.Arg(0), flag.Arg(1)) },
	}[*way]
	if err := write(); err != nil {
		log.Fatal(err)
	}
}

// run writes all files before it asks DuckDB, because the memory that this program has taken counts as that of the others: see race.Output.
func run(rows, rounds int) (figures race.Figures, err error) {
	dir, err := os.MkdirTemp("", "embedding")
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := command.Build(dir)
	if err != nil {
		return figures, err
	}
	self, err := os.Executable()
	if err != nil {
		return figures, err
	}
	old := filepath.Join(dir, "old.parquet")
	if _, _, err := race.Output(exec.Command(self, "-way", "new", "-rows", fmt.Sprint(rows), old)); err != nil {
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
	names, files := []string{ofDuckDB}, []string{old}
	for i, way := range ways {
		out, most := filepath.Join(dir, fmt.Sprint(i, ".parquet")), 0.0
		write := &race.Way{Name: way.name, Run: func(int) (int, error) {
			c := exec.Command(way.args[0], append(way.args[1:len(way.args):len(way.args)], out, old)...)
			c.Env = append(os.Environ(), "GOMAXPROCS=1") // one thread each
			_, mb, err := race.Output(c)
			most = max(most, mb)
			return 0, err
		}}
		if err := (race.Race{Rounds: rounds, Operations: 1}).Run(write); err != nil {
			return figures, err
		}
		figures.Add(race.Figure{Name: "Embed/way=" + way.name + "/write", Ns: race.Three(write.Least()), MB: most})
		names, files = append(names, way.name), append(files, out)
	}
	db, err := command.DuckDB("SET threads = 1; SET enable_external_file_cache = false")
	if err != nil {
		return figures, err
	}
	defer db.Close()
	for i, name := range names {
		if err := report(&figures, db, name, files[i], rows, rounds); err != nil {
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
	figures.Add(race.Figure{Name: "Embed/way=" + name + "/size", MB: race.Three(float64(info.Size()) / 1e6)})
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
		figures.Add(race.Figure{Name: "Embed/way=" + name + "/" + what, Ns: race.Three(find.Least())})
	}
	return nil
}

// writeNew writes the file of DuckDB.
func writeNew(out string, rows int) error {
	return inDuckDB(fmt.Sprintf(`COPY (SELECT (hash(n) >> 1)::BIGINT AS id, hash(n + 1, 3) AS session, 'user ' || (hash(n, 5) %% 100000) AS name,
			TIMESTAMP '2024-05-01' + to_seconds(n) AS at, (hash(n, 7) %% 100000) / 100 AS price, md5(n::VARCHAR) AS token FROM range(%d) t(n))
		TO '%s' (FORMAT parquet)`, rows, out))
}

// writeByDuckDB writes a file anew. DuckDB gives every column with a dictionary a filter at 1 %.
func writeByDuckDB(out, in string) error {
	return inDuckDB(fmt.Sprintf(`COPY (FROM '%s') TO '%s' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 200000, STRING_DICTIONARY_PAGE_SIZE_LIMIT 100000000)`, in, out))
}

// inDuckDB runs a query on one thread.
func inDuckDB(query string) error {
	db, err := command.DuckDB("SET threads = 1; " + query)
	if err != nil {
		return err
	}
	return db.Close()
}

// writeByArrowGo writes a file anew, with filters of the ids and the tokens at 1 %.
func writeByArrowGo(out, in string) error {
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
