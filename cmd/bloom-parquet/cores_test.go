package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestCores runs all subcommands on some random tables at once, on one core and on several: what they write
// and say has the same bytes, and filter prints the rows that a scan finds, in the order of the files.
func TestCores(t *testing.T) {
	t.Setenv(apartVariable, "1") // no process for each
	tables := 24
	if testing.Short() {
		tables = 8
	}
	if text := os.Getenv(tablesVariable); text != "" {
		var err error
		if tables, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for from := 0; from < tables; from += 4 {
		random := rand.New(rand.NewPCG(60, uint64(from)))
		folder := t.TempDir()
		var names []string
		for i := range 4 {
			names = append(names, filepath.Join(folder, fmt.Sprintf("%d.parquet", i)))
			writeTable(t, names[i], rand.New(rand.NewPCG(59, uint64(from+i))))
		}
		column := []string{"text", "number"}[random.IntN(2)]
		keys, want := someKeys(t, random, column, names)
		found += len(want)
		list, filter := filepath.Join(folder, "keys"), filepath.Join(folder, "filter")
		write(t, list, []byte(strings.Join(keys, "\n")+"\n"))
		_, built, _ := runOn(t, 1, append([]string{"build", "--column", column}, names...)...)
		write(t, filter, built)
		for _, args := range [][]string{
			{"filter", "--column", column, "--keys", list, "--as=jsonl"},
			{"filter", "--column", column, "--keys", list, "--as=csv", "-v"},
			{"filter", "--column", column, "--keys", list, "-o", "out"},
			{"filter", "--column", column, "-v", "--keys", list, "-o", "out"},
			{"filter", "--column", column, "--as=jsonl", filter},
			{"prune", "--column", column, "--list", list},
			{"prune", "--column", column, "--json", "--trust", "bounds", list},
			{"build", "--column", column, "--format", "nori", "--rate", "0.001"},
			{"index", "--column", column, "-o", filepath.Join(folder, "index")},
			{"inspect", "--column", column},
			{"embed", "--column", "text,number", "--replace", "--verbose", "-o", "out"},
		} {
			inputs := names
			if args[0] == "embed" {
				inputs = names[:1]
			}
			args = append(args, inputs...)
			status, data, messages := runOn(t, 1, args...)
			for _, cores := range []int{2, 4} {
				if status2, data2, messages2 := runOn(t, cores, args...); status2 != status || !bytes.Equal(data2, data) || !bytes.Equal(messages2, messages) {
					t.Errorf("table %d, %d cores: %s: status %d, %d bytes, messages %q; on one core %d, %d bytes, messages %q",
						from, cores, args, status2, len(data2), messages2, status, len(data), messages)
				}
			}
			if args[0] == "filter" && slices.Contains(args, "--as=jsonl") && slices.Contains(args, "--keys") {
				if got := rowNumbers(data); !slices.Equal(got, want) {
					t.Errorf("table %d, %d keys of %s: rows %v, want %v", from, len(keys), column, got, want)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no rows have a key")
	}
	t.Logf("%d tables, %d rows found", tables, found)
}

// someKeys returns keys of a column of some files, and the numbers of the rows that have one, in the order of
// the files.
func someKeys(t *testing.T, random *rand.Rand, column string, names []string) (keys []string, rows []int) {
	t.Helper()
	wanted := map[string]bool{}
	for _, name := range names {
		scanned, err := scanRows(name, column)
		if err != nil {
			t.Fatal(err)
		}
		for key := range scanned {
			if len(wanted) < 40 && random.IntN(len(scanned)) < 12 {
				wanted[key] = true
			}
		}
	}
	for _, name := range names {
		scanned, _ := scanRows(name, column)
		var numbers []int
		for key, rows := range scanned {
			for _, row := range rows {
				if n, err := strconv.Atoi(row); err == nil && wanted[key] {
					numbers = append(numbers, n)
				}
			}
		}
		slices.Sort(numbers)
		rows = append(rows, numbers...)
	}
	for key := range wanted {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys, rows
}

// rowNumbers returns the numbers of the rows in lines of JSON.
func rowNumbers(lines []byte) (rows []int) {
	for line := range strings.Lines(string(lines)) {
		var row int
		if _, err := fmt.Sscanf(line, `{"row":%d`, &row); err == nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// runOn runs a command line on some cores, and returns its status, what it writes and what it says.
func runOn(t *testing.T, cores int, args ...string) (status int, data, messages []byte) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	out, err1 := os.Create(filepath.Join(t.TempDir(), "out"))
	said, err2 := os.Create(filepath.Join(t.TempDir(), "said"))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	defer out.Close()
	defer said.Close()
	status = run(&cli.Streams{In: os.Stdin, Out: out, Err: said, Args: args, Program: "bloom-parquet"})
	data, err1 = os.ReadFile(out.Name())
	messages, err2 = os.ReadFile(said.Name())
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return status, data, messages
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRowGroupErrors wants the error of a file that vanished after the files were checked, behind the row
// groups before it.
func TestRowGroupErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.parquet")
	writeTable(t, name, rand.New(rand.NewPCG(60, 1)))
	for _, names := range [][]string{{name + ".gone"}, {name, name + ".gone", name}} {
		groups, errs := 0, 0
		for g := range rowGroups((&filterCommand{Column: "number"}).openInputs(names, nil, nil)) {
			if errs > 0 {
				t.Errorf("row group %d behind an error", groups)
			}
			if g.err == nil {
				groups++
			} else if errs++; !errors.Is(g.err, fs.ErrNotExist) {
				t.Errorf("%d files: error %v", len(names), g.err)
			}
		}
		if errs != 1 || (groups > 0) != (len(names) > 1) {
			t.Errorf("%d files: %d row groups and %d errors", len(names), groups, errs)
		}
		err := eachRowGroup((&filterCommand{Column: "number"}).openInputs(names, nil, nil), func(*rowGroup, handOn) error { return nil })
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d files: error %v", len(names), err)
		}
	}
}
