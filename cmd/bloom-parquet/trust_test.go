package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestTrust finds the rows of files whose bounds or filters are wrong, if these are not believed.
func TestTrust(t *testing.T) {
	t.Setenv(apartVariable, "1")
	t.Cleanup(func() { trusted = "both" })
	type row struct {
		Key int64 `parquet:"key"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.MaxRowsPerRowGroup(2), parquet.BloomFilters(parquet.SplitBlockFilter(40, "key")))
	if _, err := w.Write([]row{{1}, {4}, {2}, {3}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bounds := edited(t, out.Bytes(), func(m *format.FileMetaData) {
		s := &m.RowGroups[0].Columns[0].MetaData.Statistics
		s.MinValue, s.MaxValue = binary.LittleEndian.AppendUint64(nil, 2), binary.LittleEndian.AppendUint64(nil, 3)
	})
	filters := edited(t, out.Bytes(), func(m *format.FileMetaData) {
		a, b := &m.RowGroups[0].Columns[0].MetaData, &m.RowGroups[1].Columns[0].MetaData
		a.BloomFilterOffset, b.BloomFilterOffset = b.BloomFilterOffset, a.BloomFilterOffset
	})
	dir := t.TempDir()
	input, keys := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) int {
		file, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		messages, err := os.Create(filepath.Join(dir, "err"))
		if err != nil {
			t.Fatal(err)
		}
		defer messages.Close()
		return run(&cli.Streams{In: os.Stdin, Out: file, Err: messages, Args: args, Program: "bloom-parquet"})
	}
	for _, test := range []struct {
		name  string
		data  []byte
		trust string
		found int // exit status of prune and filter
		whole int // of commands that read all values
	}{
		{"good", out.Bytes(), "both", cli.ExitSome, cli.ExitSome}, {"good", out.Bytes(), "nothing", cli.ExitSome, cli.ExitSome},
		{"bounds", bounds, "both", cli.ExitNone, exitApart}, {"bounds", bounds, "bounds", cli.ExitNone, exitApart},
		{"bounds", bounds, "filters", cli.ExitSome, cli.ExitSome}, {"bounds", bounds, "nothing", cli.ExitSome, cli.ExitSome},
		{"filters", filters, "both", cli.ExitNone, cli.ExitSome},
		{"filters", filters, "bounds", cli.ExitSome, cli.ExitSome}, {"filters", filters, "nothing", cli.ExitSome, cli.ExitSome},
	} {
		if err := os.WriteFile(input, test.data, 0o644); err != nil {
			t.Fatal(err)
		}
		for command, want := range map[string]int{
			fmt.Sprint("prune --column key ", keys): test.found, fmt.Sprint("filter --column key --as=jsonl --keys ", keys): test.found,
			"build --column key": test.whole, "embed --column key --replace --dry-run": test.whole,
		} {
			args := append(strings.Fields(command), "--trust", test.trust, input)
			if status := run(args...); status != want {
				t.Errorf("wrong %s, %q: status %d, want %d", test.name, args, status, want)
			}
		}
	}
	// What is not believed is replaced.
	if status := run("embed", "--column", "key", "--trust", "bounds", "-o", "other", input); status != cli.ExitSome {
		t.Fatalf("status %d", status)
	}
	written := filepath.Join(dir, "out")
	if err := os.Rename(written, input); err != nil {
		t.Fatal(err)
	}
	if status := run("prune", "--column", "key", keys, input); status != cli.ExitSome {
		t.Errorf("after embed: status %d", status)
	}
}

// TestOptions gives a new file the metadata of an old one, but for those that speak of the old one's filters.
func TestOptions(t *testing.T) {
	type row struct{ K int64 }
	name := filepath.Join(t.TempDir(), "a.parquet")
	old := []parquet.WriterOption{parquet.KeyValueMetadata("made by", "me")}
	for _, key := range []string{bloomparquet.MarkKey, bloomparquet.OriginsKey} {
		old = append(old, parquet.KeyValueMetadata(key, "x"))
	}
	if err := parquet.WriteFile(name, []row{{1}}, old...); err != nil {
		t.Fatal(err)
	}
	file, err := openParquet(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.close()
	config, err := parquet.NewWriterConfig(file.options()...)
	if err != nil {
		t.Fatal(err)
	}
	if got := config.KeyValueMetadata; len(got) != 1 || got["made by"] != "me" {
		t.Errorf("metadata %q", got)
	}
}
