// Command indexing times bloom-parquet prune, which it builds, with an index and without one, in a table of
// many files of random ids with filters of parquet-go. It prints the medians for one key, and for 10,000 keys
// with one present key in a hundred. It fails if a row group that has a key is missing from an answer. Cold
// means that the kernel keeps no file in memory, which takes root, and a temporary folder (TMPDIR) on a disk.
//
//	go run ./indexing
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/compare/duckdb/internal/command"
	"github.com/lanebloom/bloom/compare/internal/race"
)

const (
	groups    = 8 // of a file
	groupRows = 4000
	caches    = "/proc/sys/vm/drop_caches"
)

func main() {
	files := flag.Int("files", 2000, "files of the table: 2,000 are some 600 MB")
	rounds := flag.Int("rounds", 3, "times each way runs; the median counts")
	flag.Parse()
	if *files < 1 || *rounds < 1 {
		log.Fatal("-files and -rounds must be at least 1")
	}
	race.Exit(run(*files, *rounds, func() error { return dropCaches(caches) }))
}

// dropCaches makes the kernel keep no file in memory. What is not on the disk yet would stay.
func dropCaches(name string) error {
	syscall.Sync()
	if err := os.WriteFile(name, []byte("3"), 0); err != nil {
		return fmt.Errorf("cold times need root, and Linux: %w", err)
	}
	return nil
}

// row is a row of a file.
type row struct {
	ID int64 `parquet:"id"`
}

// table is a folder of files, and the program that looks for keys in them.
type table struct {
	program, folder string
	files           int
}

// run returns the times in which prune finds keys. It calls drop before each cold one.
func run(files, rounds int, drop func() error) (figures race.Figures, err error) {
	if err := drop(); err != nil { // before all that takes long
		return figures, err
	}
	dir, err := os.MkdirTemp("", "indexing")
	if err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := &table{folder: filepath.Join(dir, "files"), files: files}
	if t.program, err = command.Build(dir); err != nil {
		return figures, err
	}
	if err := t.write(); err != nil {
		return figures, err
	}
	index := filepath.Join(dir, "table.index")
	took, _, err := t.exec("index", "--column", "id", "-o", index, t.folder)
	if err != nil {
		return figures, err
	}
	info, err := os.Stat(index)
	if err != nil {
		return figures, err
	}
	figures.Add(race.Figure{Name: "Index/way=with an index/made", Ns: race.Three(float64(took)), MB: race.Three(float64(info.Size()) / 1e6)})
	for _, n := range []int{1, 10_000} {
		lines, places := t.keys(n)
		name := filepath.Join(dir, "keys")
		if err := os.WriteFile(name, lines, 0o644); err != nil {
			return figures, err
		}
		for _, flags := range [][]string{nil, {"--index", index}} {
			args := slices.Concat([]string{"prune", "--column", "id"}, flags, []string{name, t.folder})
			warm, cold := t.prune(func() error { return nil }, places, args), t.prune(drop, places, args)
			for _, w := range []*race.Way{warm, cold} {
				if err := (race.Race{Rounds: rounds, Operations: 1}).Run(w); err != nil {
					return figures, fmt.Errorf("%d keys, %q: %w", n, flags, err)
				}
			}
			at := fmt.Sprintf("Index/way=%s an index/keys=%d/caches=", [...]string{"without", "with"}[len(flags)/2], n)
			figures.Add(warm.Figure(at+"warm"), cold.Figure(at+"cold"))
		}
	}
	return figures, nil
}

// prune returns a way that runs a command. Each answer must have all the given places.
func (t *table) prune(prepare func() error, places map[string]bool, args []string) *race.Way {
	return &race.Way{
		Name: "prune",
		Ready: func(int) error {
			err := prepare()
			if err == nil {
				_, _, err = t.exec("--version") // the program itself is in memory, cold or not
			}
			return err
		},
		Run: func(int) (int, error) {
			_, answer, err := t.exec(args...)
			return 0, errors.Join(err, hasAll(answer, places))
		},
	}
}

// exec runs the program, and returns how long that took and what it printed. A message of prune is an error: it
// gives one if it asks files instead of the index.
func (t *table) exec(args ...string) (time.Duration, string, error) {
	c := exec.Command(t.program, args...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	start := time.Now()
	err := c.Run()
	took := time.Since(start)
	if err == nil && args[0] == "prune" && said.Len() > 0 {
		err = errors.New("a message")
	}
	if err != nil {
		return 0, "", fmt.Errorf("%q: %w: %s", args, err, said.Bytes())
	}
	return took, out.String(), nil
}

// hasAll returns an error if prune's answer lacks one of the places.
func hasAll(answer string, places map[string]bool) error {
	missing := maps.Clone(places)
	for line := range strings.Lines(answer) {
		if fields := strings.SplitN(line, "\t", 3); len(fields) == 3 {
			delete(missing, fields[0]+"\t"+fields[1])
		}
	}
	if len(missing) > 0 || len(places) == 0 {
		return fmt.Errorf("%d of %d row groups that have keys are missing in the answer", len(missing), len(places))
	}
	return nil
}

// ids returns the rows of a file.
func ids(file int) []row {
	random := rand.New(rand.NewPCG(7, uint64(file)))
	rows := make([]row, groups*groupRows)
	for i := range rows {
		rows[i].ID = random.Int64()
	}
	return rows
}

// keys returns lines of n keys. One of a hundred is in the table, and the first is: in these files and row groups, as prune writes them.
func (t *table) keys(n int) (lines []byte, places map[string]bool) {
	absent := rand.New(rand.NewPCG(7, uint64(t.files)))
	places = map[string]bool{}
	for i := range n {
		key := absent.Int64()
		if i%100 == 0 {
			file, at := i*t.files/n, i*31%(groups*groupRows)
			key = ids(file)[at].ID
			places[fmt.Sprintf("%s\t%d", t.path(file), at/groupRows)] = true
		}
		lines = fmt.Appendln(lines, key)
	}
	return lines, places
}

// path returns the name of a file.
func (t *table) path(file int) string {
	return filepath.Join(t.folder, fmt.Sprintf("%04d.parquet", file))
}

// write writes the files.
func (t *table) write() error {
	if err := os.Mkdir(t.folder, 0o755); err != nil {
		return err
	}
	for i := range t.files {
		var out bytes.Buffer
		w := parquet.NewGenericWriter[row](&out, parquet.MaxRowsPerRowGroup(groupRows), parquet.BloomFilters(parquet.SplitBlockFilter(11, "id")))
		_, err := w.Write(ids(i))
		if err := errors.Join(err, w.Close(), os.WriteFile(t.path(i), out.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	return nil
}
