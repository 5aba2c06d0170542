package records

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// TestTables reads tables that encoding/csv and encoding/json wrote, in odd pieces. The keys must be
// what was written, and the records all of the input.
func TestTables(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		options  Options
		alphabet string
		write    func(rows [][]string) []byte
	}{
		"lines":         {Options{Field: "2", Delimiter: ","}, "ab\"\r ", writePlain},
		"CSV":           {Options{Field: "2", CSV: true}, "ab\n\", \r", writeCSV},
		"CSV by name":   {Options{Field: "key", CSV: true}, "ab\n\", ", writeCSV},
		"no quotes":     {Options{Field: "2", CSV: true}, "ab", writePlain},
		"JSON":          {Options{Field: "key", JSONL: true}, "ab\n\"\\,{}é\x00", writeJSON},
		"other columns": {Options{Field: "3", CSV: true}, "ab\n\",", writeCSV},
	} {
		rows := randomRows(random, c.alphabet, 300)
		var want []string
		column := 1
		if c.options.Field == "3" {
			column = 2
		}
		for i, row := range rows {
			if i > 0 || c.options.Field != "key" {
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
				got, whole := readTable(t, c.options, reader(bytes.NewReader(input)))
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
func readTable(t *testing.T, options Options, from io.Reader) (keys []string, whole []byte) {
	t.Helper()
	in, err := options.Open("table", from, func(text string) { t.Error(text) })
	if err == nil {
		whole = append(whole, in.Header...)
		err = in.Work(func(*Chunk) {}, func(c *Chunk) error {
			for i, key := range c.Keys {
				keys = append(keys, string(key))
				whole = append(whole, c.Record(i, '\n')...)
			}
			return nil
		})
	}
	if err != nil {
		t.Error(err)
	}
	return keys, whole
}

// randomRows returns n random rows of three fields, below a row of names. Some are longer than a chunk.
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
