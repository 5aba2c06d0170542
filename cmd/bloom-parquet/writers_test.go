package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// tablesVariable says how many random tables TestWriters takes of each writer. Without it, those of arrow-go
// are the files of testdata/writers: its versions are built for the others, from the module proxy.
const tablesVariable = "BLOOM_PARQUET_TABLES"

// TestWriters compares the rows that filter finds in files of other writers with a scan that uses neither
// filters nor bounds. Each file has a column "row" with different numbers, and keys in "text" and "number",
// with dictionaries that overflow.
func TestWriters(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "writers", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	folder, tables := t.TempDir(), 10
	if text := os.Getenv(tablesVariable); text != "" {
		if tables, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"18.4", "18.7", "18.8"} {
			runArrowGo(t, version, folder, tables)
		}
	}
	for i := range tables {
		writeTable(t, filepath.Join(folder, fmt.Sprintf("parquet-go %d.parquet", i)), rand.New(rand.NewPCG(58, uint64(i))))
	}
	more, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, more...)
	t.Setenv(apartVariable, "1") // no process for each
	wanted, lost, unread := 0, 0, 0
	for _, name := range files {
		texts, err1 := scanRows(name, "text")
		numbers, err2 := scanRows(name, "number")
		if err := errors.Join(err1, err2); err != nil { // parquet-go cannot read all that arrow-go writes, and filter says so
			t.Logf("%s: %v", name, err)
			unread++
			continue
		}
		for column, rows := range map[string]map[string][]string{"text": texts, "number": numbers} {
			keys := slices.Sorted(maps.Keys(rows))
			step := max(1, len(keys)/12)
			lists := [][]string{keys, {keys[len(keys)-1]}, {"7777777777"}}
			for i := 0; i < len(keys); i += step {
				lists = append(lists, []string{keys[i]})
			}
			for _, list := range lists {
				var want []string
				for _, key := range list {
					want = append(want, rows[key]...)
				}
				got, err := filteredRows(t, name, column, list)
				if err != nil {
					t.Log(err)
					unread++
					break
				}
				slices.Sort(want)
				if wanted += len(want); !slices.Equal(got, want) {
					lost += len(want) - len(got)
					t.Errorf("%s, %d keys of %s: %d rows, want %d", name, len(list), column, len(got), len(want))
				}
			}
		}
	}
	t.Logf("%d files, %d not read, %d rows wanted, %d lost", len(files), unread, wanted, lost)
	if unread > len(files)/20 {
		t.Error("too few files are read")
	}
}

// runArrowGo writes tables with a version of arrow-go, and with that of this module also such that say that
// Arrow C++ wrote them.
func runArrowGo(t *testing.T, version, folder string, tables int) {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"main.go": "main.go", "arrow-go-" + version + ".mod": "go.mod", "arrow-go-" + version + ".sum": "go.sum"} {
		data, err := os.ReadFile(filepath.Join("testdata", "arrowgo", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		command := exec.Command(name, args...)
		command.Dir, command.Env = dir, append(os.Environ(), "GOWORK=off")
		if text, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, text)
		}
	}
	program := filepath.Join(dir, "arrowgo.exe")
	run("go", "build", "-o", program, ".")
	run(program, folder, "0", strconv.Itoa(tables))
	if version == "18.8" {
		run(program, folder, "0", strconv.Itoa(tables), "parquet-cpp-arrow version 24.0.0")
	}
}

// writeTable writes a random table with parquet-go, under one of the names that its users may choose.
func writeTable(t *testing.T, name string, r *rand.Rand) {
	t.Helper()
	type row struct {
		Row    int64   `parquet:"row"`
		Text   *string `parquet:"text,dict,optional"`
		Number int64   `parquet:"number,dict"`
	}
	rows, different := make([]row, 50+r.IntN(1000)), 1+r.IntN(600)
	for i := range rows {
		rows[i] = row{Row: int64(i), Number: int64(i/100 + r.IntN(different))}
		if text := fmt.Sprintf("key %d", i/100+r.IntN(different)); r.IntN(9) > 0 {
			rows[i].Text = &text
		}
	}
	by := [][2]string{{"program", "1"}, {"parquet-go", "18.9.0"}, {"parquet-mr", "1.15.0"}, {"github.com/parquet-go/parquet-go", "0.32.0"}}[r.IntN(4)]
	codec := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip}[r.IntN(4)]
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.BloomFilters(parquet.SplitBlockFilter(10, "text"), parquet.SplitBlockFilter(10, "number")),
		parquet.CreatedBy(by[0], by[1], "x"), parquet.Compression(codec), parquet.DictionaryMaxBytes([]int64{200, 1000, 4000, 0}[r.IntN(4)]),
		parquet.PageBufferSize(100+r.IntN(2000)), parquet.DataPageVersion(1+r.IntN(2)), parquet.MaxRowsPerRowGroup(int64(20+r.IntN(500))))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), os.WriteFile(name, out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// scanRows returns the rows of each key.
func scanRows(name, column string) (rows map[string][]string, err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go panics for some pages
			err = fmt.Errorf("%v", p)
		}
	}()
	file, err := openFile(name, column)
	if err != nil {
		return nil, err
	}
	defer file.close()
	columns := file.Schema().Columns()
	row := slices.IndexFunc(columns, func(path []string) bool { return path[0] == "row" })
	rows = map[string][]string{}
	for _, group := range file.RowGroups() {
		keys, err1 := chunkValues(group.ColumnChunks()[file.leaf])
		numbers, err2 := chunkValues(group.ColumnChunks()[row])
		if err := errors.Join(err1, err2); err != nil || len(keys) != len(numbers) {
			return nil, fmt.Errorf("%d keys and %d rows: %w", len(keys), len(numbers), err)
		}
		for i, key := range keys {
			if !key.IsNull() {
				rows[key.String()] = append(rows[key.String()], numbers[i].String())
			}
		}
	}
	return rows, nil
}

func chunkValues(chunk parquet.ColumnChunk) (values []parquet.Value, err error) {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		some := make([]parquet.Value, page.NumValues())
		if _, err := page.Values().ReadValues(some); err != nil && err != io.EOF {
			return nil, err
		}
		for _, v := range some {
			values = append(values, v.Clone())
		}
	}
}

// filteredRows returns the numbers of the rows that filter prints, or the error of a file that is not read.
func filteredRows(t *testing.T, name, column string, keys []string) (rows []string, err error) {
	t.Helper()
	list := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(list, []byte(strings.Join(keys, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(list + ".out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s := &cli.Streams{In: os.Stdin, Out: out, Err: out, Args: []string{"filter", "--column", column, "--keys", list, "--as=jsonl", name}, Program: "bloom-parquet"}
	status := run(s)
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if status != cli.ExitSome && status != cli.ExitNone {
		return nil, fmt.Errorf("%s: status %d: %s", name, status, data)
	}
	for line := range strings.Lines(string(data)) {
		var row string
		if _, err := fmt.Sscanf(line, `{"row":%s`, &row); err == nil {
			rows = append(rows, row[:strings.IndexByte(row, ',')])
		}
	}
	slices.Sort(rows)
	return rows, nil
}

// TestRepeatedRoot filters a file whose footer says that the root of its schema is repeated: alone, beside
// another file, as keys, and to a file. A list in it stays refused.
func TestRepeatedRoot(t *testing.T) {
	t.Setenv(apartVariable, "1")
	dir := t.TempDir()
	old, other := filepath.Join("testdata", "writers", "arrow-go-18.4.0.parquet"), filepath.Join("testdata", "writers", "arrow-go-18.7.0.parquet")
	rows, err1 := scanRows(old, "row")
	others, err2 := scanRows(other, "row")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	lines, keys := filepath.Join(dir, "out"), filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, []byte("0\n63\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	common := 0
	for row := range rows {
		if others[row] != nil {
			common++
		}
	}
	for _, test := range []struct {
		want int // lines, or -1 for an error
		args []string
	}{
		{2, []string{"--column", "row", "--keys", keys, old}},
		{4, []string{"--column", "row", "--keys", keys, other, old}},
		{4, []string{"--column", "row", "--keys", keys, old, other}},
		{common, []string{"--column", "row", "--keys", old, "--keys-column", "row", other}},
		{common, []string{"--column", "row", "--keys", other, "--keys-column", "row", old}},
		{-1, []string{"--column", "tags.list.element", "--keys", keys, old}},
		{-1, []string{"--column", "row", "--keys", old, "--keys-column", "tags.list.element", other}},
	} {
		out, err := os.Create(lines)
		if err != nil {
			t.Fatal(err)
		}
		status := run(&cli.Streams{In: os.Stdin, Out: out, Err: out, Args: append([]string{"filter", "--as=jsonl"}, test.args...), Program: "bloom-parquet"})
		data, err := os.ReadFile(lines)
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(data, []byte("\n")); test.want < 0 && status <= cli.ExitNone || test.want >= 0 && (status != cli.ExitSome || got != test.want) {
			t.Errorf("%q: status %d, %d lines, want %d: %.200s", test.args, status, got, test.want, data)
		}
	}
	t.Setenv(apartVariable, "")
	name := filepath.Join(dir, "out.parquet")
	if status := run(&cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Args: []string{"filter", "--column", "row", "--keys", keys, "-o", name, old, other}, Program: "bloom-parquet"}); status != cli.ExitSome {
		t.Fatalf("status %d", status)
	}
	if got, err := scanRows(name, "row"); err != nil || len(got) != 2 || len(got["0"]) != 2 || len(got["63"]) != 2 {
		t.Errorf("rows %v, %v", got, err)
	}
}
