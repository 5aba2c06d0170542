package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tiny are options for a run of about a second.
func tiny() options {
	return options{
		Sizes: []int{1000, 20_000}, BitsPerKey: 10, Queries: 50_000, Rounds: 2, Cores: 1, Reference: "goleveldb",
	}
}

// rates are the smallest and the largest share of absent keys that may pass a filter
// with 10 bits per key. The share of LevelDB's filters rises from 20,000 keys on.
var rates = map[string]struct{ least, most float64 }{
	"lanebloom":            {0.007, 0.012},
	"lanebloom, Parquet":   {0.008, 0.015},
	"lanebloom, RocksDB":   {0.008, 0.012},
	"lanebloom, Pebble":    {0.007, 0.014},
	"C++ LevelDB":          {0.007, 0.012},
	"C++ RocksDB":          {0.008, 0.012},
	"C++ RocksDB before 5": {0.007, 0.014},
	"Pebble":               {0.007, 0.014},
	"goleveldb":            {0.007, 0.012},
	"Badger":               {0.007, 0.012},
	"bits-and-blooms":      {0.006, 0.010},
	"holiman":              {0.006, 0.010},
	"blobloom":             {0.008, 0.012},
	"parquet-go":           {0.008, 0.015},
	"BinaryFuse8":          {0.003, 0.005},
}

// sameFilter has the libraries whose filters, and so rates, are those of another one.
var sameFilter = map[string]string{
	"lanebloom": "C++ LevelDB", "goleveldb": "C++ LevelDB", "Badger": "C++ LevelDB",
	"lanebloom, RocksDB": "C++ RocksDB", "lanebloom, Pebble": "Pebble", "C++ RocksDB before 5": "Pebble",
}

// TestRun runs all libraries. The program itself checks that no known key is missing,
// and that every call gives the same answers.
func TestRun(t *testing.T) {
	o := tiny()
	o.JSON = filepath.Join(t.TempDir(), "report.json")
	o.Markdown = filepath.Join(t.TempDir(), "report.md")
	var out bytes.Buffer
	if err := run(t.Context(), &o, &out); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(o.Markdown); err != nil || !bytes.Equal(text, out.Bytes()) {
		t.Errorf("the Markdown file is not what was printed, %v", err)
	}
	data, err := os.ReadFile(o.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sizes) != len(o.Sizes) {
		t.Fatalf("%d sizes, want %d", len(r.Sizes), len(o.Sizes))
	}
	for i, size := range r.Sizes {
		if size.Keys != o.Sizes[i] {
			t.Errorf("size %d is of %d keys, want %d", i, size.Keys, o.Sizes[i])
		}
		checkRows(t, size.Rows)
	}
	for _, name := range libraries {
		if n := strings.Count(out.String(), "| "+name+" |"); n < len(o.Sizes) {
			t.Errorf("the Markdown has %d rows of %s", n, name)
		}
	}
}

func checkRows(t *testing.T, rows []row) {
	t.Helper()
	jobs := map[string]int{} // timed, by library
	byName := map[string]row{}
	for _, row := range rows {
		byName[row.Library] = row
	}
	for _, row := range rows {
		for _, timing := range []*timing{row.Build, row.Absent, row.Present} {
			if timing == nil {
				continue
			}
			jobs[row.Library]++
			if timing.NsPerKey <= 0 || timing.Ratio <= 0 || timing.RatioP10 > timing.RatioP90 {
				t.Errorf("%s: %+v", row.Library, *timing)
			}
		}
		want := rates[row.Library]
		if rate := row.FalsePositiveRate; rate < want.least || rate > want.most {
			t.Errorf("%s: %v of the absent keys pass", row.Library, rate)
		}
		if row.BitsPerKey < 9 || row.BitsPerKey > 13 { // BinaryFuse8 has more in small filters
			t.Errorf("%s: %v bits per key", row.Library, row.BitsPerKey)
		}
		if name := sameFilter[row.Library]; name != "" {
			if same := byName[name]; row.FalsePositiveRate != same.FalsePositiveRate || row.BitsPerKey != same.BitsPerKey {
				t.Errorf("%s: %v and %v bits per key, %s %v and %v", row.Library,
					row.FalsePositiveRate, row.BitsPerKey, name, same.FalsePositiveRate, same.BitsPerKey)
			}
		}
	}
	for _, name := range libraries {
		want := 3
		if strings.HasPrefix(name, "lanebloom") {
			want = 6
		} else if name == "parquet-go" {
			want = 4
		}
		if jobs[name] != want {
			t.Errorf("%s: %d jobs are timed, want %d", name, jobs[name], want)
		}
	}
}

// TestWrongAnswers runs libraries with wrong answers, which the program must detect.
func TestWrongAnswers(t *testing.T) {
	right := func(keys *column, _ int) (time.Duration, int, error) { return 1, len(keys.ints), nil }
	oneLess := func(keys *column, _ int) (time.Duration, int, error) { return 1, len(keys.ints) - 1, nil }
	broken := func(*column, int) (time.Duration, int, error) { return 0, 0, errors.New("broken") }
	for _, test := range []struct {
		name    string
		library library
		want    string
	}{
		{"right", library{build: [2]way{right, right}, test: [2]way{right, right}}, ""},
		{"loses a key", library{build: [2]way{right}, test: [2]way{oneLess}}, "1 of 10 known keys are missing"},
		{"differs", library{build: [2]way{right}, test: [2]way{right, oneLess}}, "absent keys pass"},
		{"differs in size", library{build: [2]way{right, oneLess}, test: [2]way{right}}, "bits per key"},
		{"fails", library{build: [2]way{right}, test: [2]way{broken}}, "broken"},
	} {
		test.library.name = "goleveldb"
		c := &contest{columns: newColumns(5, 10), bits: map[string]float64{}, hits: map[string]int{}, libraries: []library{test.library}}
		c.plan()
		o := tiny()
		err := c.run(t.Context(), &o, func() {})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}

// TestErrors runs bad options and an interrupt. None of them may write a file.
func TestErrors(t *testing.T) {
	folder := t.TempDir()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		change func(o *options)
		ctx    context.Context
	}{
		"no keys":          {change: func(o *options) { o.Sizes = []int{1000, 0} }},
		"too many keys":    {change: func(o *options) { o.Sizes = []int{1 << 40} }},
		"no bits":          {change: func(o *options) { o.BitsPerKey = 0 }},
		"no rounds":        {change: func(o *options) { o.Rounds = -1 }},
		"no queries":       {change: func(o *options) { o.Queries = 0 }},
		"no cores":         {change: func(o *options) { o.Cores = 0 }},
		"unknown":          {change: func(o *options) { o.Reference = "lanebloon" }},
		"a device":         {change: func(o *options) { o.Markdown = os.DevNull }},
		"a folder":         {change: func(o *options) { o.JSON = folder }},
		"a missing folder": {change: func(o *options) { o.JSON = filepath.Join(folder, "missing", "report.json") }},
		"an interrupt":     {change: func(*options) {}, ctx: interrupted},
	} {
		o := tiny()
		o.Markdown, o.JSON = filepath.Join(folder, "report.md"), filepath.Join(folder, "report.json")
		test.change(&o)
		ctx := test.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		if err := run(ctx, &o, io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
		if files, err := os.ReadDir(folder); err != nil || len(files) != 0 {
			t.Errorf("%s: left %v, %v", name, files, err)
		}
	}
}

// TestColumns fails if a key comes twice, or if an absent key is known.
func TestColumns(t *testing.T) {
	c := newColumns(3000, 2000)
	known := map[uint64]bool{}
	for _, key := range c.known.ints {
		known[key] = true
	}
	if len(known) != 3000 {
		t.Errorf("%d different keys of 3000", len(known))
	}
	for i := range 2000 {
		if known[c.absent.ints[i]] || !known[c.present.ints[i]] {
			t.Fatalf("query %d: known are %v and %v", i, known[c.absent.ints[i]], known[c.present.ints[i]])
		}
	}
}
