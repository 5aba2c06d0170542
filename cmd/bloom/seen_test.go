package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestSavesOnTheWay wants the file of --seen to get what was printed while the input, which has no end, is silent; what
// another run adds meanwhile stays.
func TestSavesOnTheWay(t *testing.T) {
	defer func(period time.Duration) { savePeriod = period }(savePeriod)
	savePeriod = 5 * time.Millisecond
	seen := filepath.Join(t.TempDir(), "seen")
	in, lines, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command := &uniqueCommand{Seen: cli.State(seen), Memory: new(cli.ByteSize(64 << 10)), Quiet: true, Files: []cli.Input{"-"}}
	ended := make(chan error)
	go func() { ended <- command.Run(&cli.Streams{In: in, Out: out, Err: os.Stderr, Program: "bloom"}) }()
	for i := range 3 {
		fmt.Fprintf(lines, "key %d\n", i)
		waitForKeys(t, seen, 2*i+1)
		add := &addCommand{File: cli.State(seen), Keys: []cli.Input{cli.Input(writeLine(t, fmt.Sprint("other ", i)))}}
		if err := add.Run(&cli.Streams{In: in, Out: out, Err: os.Stderr, Program: "bloom"}); err != nil {
			t.Fatal(err)
		}
	}
	lines.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	waitForKeys(t, seen, 6)
}

// waitForKeys looks until a filter has so many keys. It counts its looks: each takes longer beside other work.
func waitForKeys(t *testing.T, path string, want int) {
	t.Helper()
	n := uint64(0)
	for range 100_000 {
		time.Sleep(time.Millisecond)
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		filter, err := bloom.OpenBinary(data)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ = filter.KeyCount(); n == uint64(want) {
			return
		}
	}
	t.Fatalf("the filter has %d keys, want %d", n, want)
}

func writeLine(t *testing.T, line string) (path string) {
	path = filepath.Join(t.TempDir(), "line")
	if err := os.WriteFile(path, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKeysWritten compares the number of keys of the records that were written whole with a loop, for every number of
// bytes.
func TestKeysWritten(t *testing.T) {
	for _, c := range []struct {
		flags   keysFlags
		records []string
	}{
		{keysFlags{}, []string{"a\n", "bb\n", "\n", "ccc\n", "d\n"}},
		{keysFlags{CRLF: true}, []string{"a\r\n", "bb\n", "\r\n", "ccc\r\n", "d\n"}},
		{keysFlags{tableFlags: tableFlags{Field: "1", CSV: true}}, []string{"\"a\n\"\n", "bb\n", "\"\n\n\"\n", "ccc\n"}},
		{keysFlags{tableFlags: tableFlags{Field: "k.*", JSONL: true}}, []string{`{"k":["a","b"]}` + "\n", `{"k":["c"]}` + "\n", `{"k":["d","e","f"]}` + "\n"}},
	} {
		r, err := c.flags.records()
		if err != nil {
			t.Fatal(err)
		}
		r.columns = 1
		for chosen := range uint64(1) << len(c.records) {
			var chunk chunk
			chunk.data = []byte(strings.Join(c.records, ""))
			r.split(&chunk)
			if chunk.err != nil || chunk.len() != len(c.records) {
				t.Fatal(chunk.err, chunk.len())
			}
			chunk.chosen = []uint64{chosen}
			var ends, keys []int // of the chosen records, and the keys before each
			for i, record := range c.records {
				if chosen>>i&1 != 0 {
					from, _ := chunk.keysOf(i)
					ends, keys = append(ends, len(record)), append(keys, from)
				}
			}
			keys = append(keys, len(chunk.keys))
			chunk.gather('\n')
			for wrote := range len(chunk.out) + 1 {
				whole, left := 0, wrote
				for whole < len(ends) && left >= ends[whole] {
					left -= ends[whole]
					whole++
				}
				if got := chunk.keysWritten(wrote, '\n'); got != keys[whole] {
					t.Fatalf("%q: %d bytes of the records %b: %d keys, want %d", c.records, wrote, chosen, got, keys[whole])
				}
			}
		}
	}
}
