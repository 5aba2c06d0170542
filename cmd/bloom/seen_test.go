package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// waitForKeys looks until a filter has the number of keys. It counts its looks: each takes longer beside other work.
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
