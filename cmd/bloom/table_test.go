package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestTables reads tables that encoding/csv and encoding/json wrote, in odd pieces. The keys must be
// what was written, and the records all of the input.
func TestTables(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		flags    tableFlags
		alphabet string
		write    func(rows [][]string) []byte
	}{
		"lines":         {tableFlags{Field: "2", Delimiter: ","}, "ab\"\r ", writePlain},
		"CSV":           {tableFlags{Field: "2", CSV: true}, "ab\n\", \r", writeCSV},
		"CSV by name":   {tableFlags{Field: "key", CSV: true}, "ab\n\", ", writeCSV},
		"no quotes":     {tableFlags{Field: "2", CSV: true}, "ab", writePlain},
		"JSON":          {tableFlags{Field: "key", JSONL: true}, "ab\n\"\\,{}é\x00", writeJSON},
		"other columns": {tableFlags{Field: "3", CSV: true}, "ab\n\",", writeCSV},
	} {
		flags := keysFlags{tableFlags: c.flags}
		rows := randomRows(random, c.alphabet, 300)
		var want []string
		column := 1
		if c.flags.Field == "3" {
			column = 2
		}
		for i, row := range rows {
			if i > 0 || c.flags.Field != "key" {
				want = append(want, strings.ReplaceAll(row[column], "\r\n", "\n")) // as encoding/csv reads it
			}
		}
		input := c.write(rows)
		for pieces, reader := range map[string]func(io.Reader) io.Reader{
			"whole":         func(r io.Reader) io.Reader { return r },
			"one byte":      iotest.OneByteReader,
			"half":          iotest.HalfReader,
			"data with EOF": iotest.DataErrReader,
			"no last end":   func(io.Reader) io.Reader { return bytes.NewReader(input[:len(input)-1]) },
		} {
			t.Run(name+"/"+pieces, func(t *testing.T) {
				got, whole := readTable(t, flags, reader(bytes.NewReader(input)))
				if !bytes.Equal(whole, input) {
					t.Errorf("the records have %d bytes, want %d", len(whole), len(input))
				}
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Fatalf("key %d is %.100q, want %.100q", i, got[i], want[i])
					}
				}
				if len(got) != len(want) {
					t.Errorf("%d keys, want %d", len(got), len(want))
				}
			})
		}
	}
}

// readTable returns the keys of an input, and its header and records one after the other.
func readTable(t *testing.T, flags keysFlags, from io.Reader) (keys []string, whole []byte) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = io.Copy(w, from)
		w.Close()
	}()
	err = flags.read(&cli.Streams{In: r, Err: os.Stderr, Program: "bloom"}, "-", func(int) {}, func(in *input) error {
		whole = append(whole, in.header...)
		return in.work(func(*chunk) {}, func(c *chunk) error {
			for i, key := range c.keys {
				keys = append(keys, string(key))
				whole = append(whole, c.record(i, '\n')...)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	return keys, whole
}

// randomRows returns rows of three fields, of which the first are names. Some are longer than a
// chunk.
func randomRows(random *rand.Rand, alphabet string, n int) [][]string {
	letters := []rune(alphabet)
	rows := [][]string{{"a", "key", "b"}}
	for range n {
		row := make([]string, 3)
		for i := range row {
			length := random.IntN(12)
			if random.IntN(300) == 0 {
				length = random.IntN(3 * chunkSize)
			}
			var field strings.Builder
			for range length {
				field.WriteRune(letters[random.IntN(len(letters))])
			}
			row[i] = field.String()
		}
		rows = append(rows, row)
	}
	return rows
}

func writePlain(rows [][]string) []byte {
	var text bytes.Buffer
	for _, row := range rows {
		fmt.Fprintln(&text, strings.Join(row, ","))
	}
	return text.Bytes()
}

func writeCSV(rows [][]string) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.WriteAll(rows) // a buffer takes it
	return text.Bytes()
}

func writeJSON(rows [][]string) []byte {
	var text bytes.Buffer
	for _, row := range rows[1:] {
		line, _ := json.Marshal(map[string]any{"b": row[0], "key": row[1], "list": row}) // no error: strings
		text.Write(append(line, '\n'))
	}
	return text.Bytes()
}
