package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestVerify compares filters of a few bits per key, which have many false positives, with a map, for every
// flag, and for readings of all keys after many records and after few.
func TestVerify(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	dir := t.TempDir()
	var known, stream, streamCSV strings.Builder
	exact := map[string]bool{}
	for i := range 3000 {
		key := fmt.Sprint("key ", i)
		exact[key] = true
		fmt.Fprintln(&known, key)
	}
	var lines []string
	for range 20_000 {
		key := fmt.Sprint("key ", random.IntN(6000))
		lines = append(lines, key)
		fmt.Fprintln(&stream, key)
		fmt.Fprintf(&streamCSV, "\"%s\",x\n", key)
	}
	write := func(name string, data []byte) cli.Input {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return cli.Input(path)
	}
	filter := write("filter", bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 3}.AppendFilter(nil, bloom.Strings(strings.Split(known.String(), "\n"))))
	all := write("known", []byte(known.String()))
	for _, most := range []int{pendingMemory, 10_000, 0} {
		for _, invert := range []bool{false, true} {
			for _, table := range []bool{false, true} {
				command := filterCommand{FilterFlags: cli.FilterFlags{Format: &cli.Format{Format: bloom.LevelDB}}, Invert: invert, Verify: all, File: filter, Stream: []cli.Input{write("stream", []byte(stream.String()))}}
				form := "%s\n"
				if table {
					command.Stream = []cli.Input{write("stream.csv", []byte(streamCSV.String()))}
					command.tableFlags = tableFlags{Field: "1", CSV: true}
					form = "\"%s\",x\n"
				}
				var want bytes.Buffer
				n := 0
				for _, line := range lines {
					if exact[line] != invert {
						fmt.Fprintf(&want, form, line)
						n++
					}
				}
				verifyMemory = most
				if got := output(t, &command); !bytes.Equal(got, want.Bytes()) {
					t.Errorf("most %d, invert %v, table %v: %d bytes of output, want %d", most, invert, table, len(got), want.Len())
				}
				command.Count = true
				if got := output(t, &command); string(got) != fmt.Sprintln(n) {
					t.Errorf("most %d, invert %v, table %v: counted %q, want %d", most, invert, table, got, n)
				}
			}
		}
	}
	verifyMemory = pendingMemory
}
