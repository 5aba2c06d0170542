package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

var (
	figuresProgram = flag.String("figures", "", "a bloom-parquet whose prune is timed, with and without an index")
	figuresTable   = flag.String("table", "", "folder of the table that it is timed with, which is written if it is not there")
)

// idRow is a row of the table of figures.
type idRow struct {
	ID int64 `parquet:"id"`
}

// The table of figures.
const (
	figuresFiles  = 2000
	figuresGroups = 8 // of a file
	figuresRows   = 4000
)

// TestIndexFigures times prune with an index and without one, in a table of 2,000 files, and compares what it finds with a scan
// of all rows:
//
//	go build -o /tmp/bloom-parquet . && go test -run IndexFigures -v -args -figures /tmp/bloom-parquet -table /tmp/table
func TestIndexFigures(t *testing.T) {
	if *figuresProgram == "" {
		t.Skip("it takes a program to time: -args -figures PROGRAM -table FOLDER")
	}
	table := filepath.Join(*figuresTable, "files")
	if _, err := os.Stat(table); err != nil {
		if err := errors.Join(os.MkdirAll(table, 0o755), writeFiguresTable(table)); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(*figuresTable, "table.index")
	took, out := figure(t, "index", "--column", "id", "-o", index, table)
	info, err := os.Stat(index)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("index: %v, %d MB", took, info.Size()/1e6)
	if err := exec.Command("sync").Run(); err != nil { // what is not on the disk yet stays in memory
		t.Fatal(err)
	}
	absent := rand.New(rand.NewPCG(7, figuresFiles))
	for _, n := range []int{1, 10_000} {
		keys := map[int64]bool{}
		for i := range n { // one of a hundred is in the table
			key := absent.Int64()
			if i%100 == 0 {
				key = ids(i * figuresFiles / n)[i*31%(figuresGroups*figuresRows)].ID
			}
			keys[key] = true
		}
		var lines bytes.Buffer
		for id := range keys {
			fmt.Fprintln(&lines, id)
		}
		name := filepath.Join(*figuresTable, fmt.Sprint(n, " keys"))
		if err := os.WriteFile(name, lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		want := scanFigures(t, table, keys)
		if len(want) == 0 {
			t.Fatal("no row has a key")
		}
		for _, flags := range [][]string{nil, {"--index", index}} {
			for _, cold := range []bool{false, true} {
				var times []time.Duration
				for range 3 {
					if cold && os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0) != nil {
						break // only root may
					}
					figure(t, "--version")
					took, out := figure(t, slices.Concat([]string{"prune", "--column", "id"}, flags, []string{name, table})...)
					times = append(times, took)
					for place := range want {
						if !strings.Contains("\n"+out, "\n"+place+"\t") {
							t.Fatalf("%d keys, %q: row group %q is missing", n, flags, place)
						}
					}
				}
				t.Logf("%d keys in %d row groups, %q, cold %v: %v", n, len(want), flags, cold, times)
			}
		}
	}
}

// figure runs the program, and returns how long that took.
func figure(t *testing.T, args ...string) (time.Duration, string) {
	t.Helper()
	start := time.Now()
	out, err := exec.Command(*figuresProgram, args...).CombinedOutput()
	if took := time.Since(start); err == nil {
		return took, string(out)
	}
	t.Fatalf("%q: %v: %s", args, err, out)
	return 0, ""
}

// ids returns the rows of a file of the table.
func ids(file int) []idRow {
	random := rand.New(rand.NewPCG(7, uint64(file)))
	rows := make([]idRow, figuresGroups*figuresRows)
	for i := range rows {
		rows[i].ID = random.Int64()
	}
	return rows
}

func writeFiguresTable(folder string) error {
	for i := range figuresFiles {
		var out bytes.Buffer
		w := parquet.NewGenericWriter[idRow](&out, parquet.MaxRowsPerRowGroup(figuresRows), parquet.BloomFilters(parquet.SplitBlockFilter(11, "id")))
		_, err := w.Write(ids(i))
		if err := errors.Join(err, w.Close(), os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d.parquet", i)), out.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// scanFigures returns the files and row groups that have a key, as prune writes them.
func scanFigures(t *testing.T, folder string, keys map[int64]bool) map[string]bool {
	t.Helper()
	places := map[string]bool{}
	for i := range figuresFiles {
		name := filepath.Join(folder, fmt.Sprintf("%04d.parquet", i))
		rows, err := parquet.ReadFile[idRow](name)
		if err != nil {
			t.Fatal(err)
		}
		for j, row := range rows {
			if keys[row.ID] {
				places[fmt.Sprintf("%s\t%d", name, j/figuresRows)] = true
			}
		}
	}
	return places
}
