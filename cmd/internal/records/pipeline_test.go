package records

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lanebloom/bloom/cmd/internal/testlines"
)

// TestPipeline reads in odd pieces, and ends in errors.
func TestPipeline(t *testing.T) {
	lines := testlines.Random(rand.New(rand.NewPCG(3, 4)), 3000, chunkSize)
	input := bytes.Join(lines, []byte("\n"))
	failure := errors.New("failure")
	for name, c := range map[string]struct {
		reader    io.Reader
		finishErr error
		want      error
	}{
		"whole":           {bytes.NewReader(input), nil, nil},
		"half":            {iotest.HalfReader(bytes.NewReader(input)), nil, nil},
		"data with EOF":   {iotest.DataErrReader(bytes.NewReader(input)), nil, nil},
		"error":           {io.MultiReader(bytes.NewReader(input), iotest.ErrReader(failure)), nil, failure},
		"error in finish": {bytes.NewReader(input), failure, failure},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][]byte
			err := pipeline(c.reader, &layout{delimiter: '\n', most: mostOfRecord}, func(*Chunk) {}, func(c2 *Chunk) error {
				for _, line := range c2.Keys {
					got = append(got, bytes.Clone(line))
				}
				return c.finishErr
			})
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			want := lines
			if c.want != nil {
				want = want[:min(len(want), len(got))]
			}
			if len(got) != len(want) {
				t.Fatalf("%d lines, want %d", len(got), len(want))
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("line %d differs", i)
				}
			}
		})
	}
}

// TestPipelineStops ends at an error of finishing, though the input has more to
// come and is silent.
func TestPipelineStops(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = w.Write([]byte("a line\n")) }()
	failure := errors.New("failure")
	err := pipeline(r, &layout{delimiter: '\n', most: mostOfRecord}, func(*Chunk) {}, func(*Chunk) error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
}

// TestKeysWritten compares the number of keys of the records that were written whole with a loop, for every number of
// bytes.
func TestKeysWritten(t *testing.T) {
	for _, c := range []struct {
		options Options
		records []string
	}{
		{Options{}, []string{"a\n", "bb\n", "\n", "ccc\n", "d\n"}},
		{Options{CRLF: true}, []string{"a\r\n", "bb\n", "\r\n", "ccc\r\n", "d\n"}},
		{Options{Field: "1", CSV: true}, []string{"\"a\n\"\n", "bb\n", "\"\n\n\"\n", "ccc\n"}},
		{Options{Field: "k.*", JSONL: true}, []string{`{"k":["a","b"]}` + "\n", `{"k":["c"]}` + "\n", `{"k":["d","e","f"]}` + "\n"}},
	} {
		r, err := c.options.layout()
		if err != nil {
			t.Fatal(err)
		}
		r.columns = 1
		for chosen := range uint64(1) << len(c.records) {
			var chunk Chunk
			chunk.data = []byte(strings.Join(c.records, ""))
			r.split(&chunk)
			if chunk.err != nil || chunk.Len() != len(c.records) {
				t.Fatal(chunk.err, chunk.Len())
			}
			chunk.Chosen = []uint64{chosen}
			var ends, keys []int // of the chosen records, and the keys before each
			for i, record := range c.records {
				if chosen>>i&1 != 0 {
					from, _ := chunk.KeysOf(i)
					ends, keys = append(ends, len(record)), append(keys, from)
				}
			}
			keys = append(keys, len(chunk.Keys))
			chunk.Gather('\n')
			for wrote := range len(chunk.Out) + 1 {
				whole, left := 0, wrote
				for whole < len(ends) && left >= ends[whole] {
					left -= ends[whole]
					whole++
				}
				if got := chunk.KeysWritten(wrote, '\n'); got != keys[whole] {
					t.Fatalf("%q: %d bytes of the records %b: %d keys, want %d", c.records, wrote, chosen, got, keys[whole])
				}
			}
		}
	}
}
