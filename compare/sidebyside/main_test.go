package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom/compare/internal/race"
	"github.com/lanebloom/bloom/compare/oracle"
)

// tiny are options for a run of about a second.
func tiny() options {
	return options{
		Sizes: []int{1000, 20_000}, BitsPerKey: 10, Queries: 50_000, Rounds: 1, Time: time.Millisecond, Cores: 1, Reference: "goleveldb",
	}
}

// rates are the smallest and the largest share of absent keys that may pass a filter
// with 10 bits per key. The share of LevelDB's filters rises from 20,000 keys on.
var rates = map[string]struct{ least, most float64 }{
	"lanebloom, LevelDB":       {0.007, 0.012},
	"lanebloom, Parquet":       {0.008, 0.015},
	"lanebloom, RocksDB":       {0.008, 0.012},
	"lanebloom, Pebble":        {0.007, 0.014},
	"lanebloom, BitsAndBlooms": {0.006, 0.010},
	"ristretto":                {0.0001, 0.010},
	"C++ LevelDB":              {0.007, 0.012},
	"C++ RocksDB":              {0.008, 0.012},
	"C++ RocksDB before 5":     {0.007, 0.014},
	"Pebble":                   {0.007, 0.014},
	"goleveldb":                {0.007, 0.012},
	"Badger":                   {0.007, 0.012},
	"bits-and-blooms":          {0.006, 0.010},
	"holiman":                  {0.006, 0.010},
	"blobloom":                 {0.008, 0.0115},
	"parquet-go":               {0.008, 0.015},
	"BinaryFuse8":              {0.003, 0.005},
}

// sameFilter has the libraries whose filters, and so rates, are those of another one.
var sameFilter = map[string]string{
	"lanebloom, LevelDB": "C++ LevelDB", "goleveldb": "C++ LevelDB", "Badger": "C++ LevelDB",
	"lanebloom, RocksDB": "C++ RocksDB", "lanebloom, Pebble": "Pebble", "C++ RocksDB before 5": "Pebble",
}

// TestRun runs all libraries. The program itself checks that no known key is missing,
// and that every call gives the same answers.
func TestRun(t *testing.T) {
	o := tiny()
	o.JSON = true
	var out, rows bytes.Buffer
	if err := run(t.Context(), &o, &out, &rows); err != nil {
		t.Fatal(err)
	}
	var f race.Figures
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	byName := map[string]race.Figure{}
	for _, figure := range f.List {
		byName[figure.Name] = figure
	}
	for _, size := range o.Sizes {
		checkFigures(t, fmt.Sprintf("libraries/keys=%d/library=", size), byName)
	}
	for _, name := range libraries {
		if n := strings.Count(rows.String(), "\n"+name+", "); n < len(o.Sizes) {
			t.Errorf("%d rows of %s", n, name)
		}
	}
	if f.Config["kernel"] == "" || f.Config["cpu"] == "" {
		t.Errorf("the figures are of %v", f.Config)
	}
}

func checkFigures(t *testing.T, prefix string, figures map[string]race.Figure) {
	t.Helper()
	jobs := map[string]int{} // timed, by library
	for name, f := range figures {
		if library, job, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/call="); strings.HasPrefix(name, prefix) && job != "" {
			jobs[library]++
			if f.Ns <= 0 || f.X <= 0 || f.Low > f.High {
				t.Errorf("%+v", f)
			}
		}
	}
	for _, name := range libraries {
		f, want := figures[prefix+name], rates[name]
		if f.Rate < want.least || f.Rate > want.most {
			t.Errorf("%s: %v of the absent keys pass", name, f.Rate)
		}
		if f.Bits < 9 || f.Bits > 13 && name != "ristretto" { // BinaryFuse8 has more in small filters
			t.Errorf("%s: %v bits per key", name, f.Bits)
		}
		if other := sameFilter[name]; other != "" && (f.Rate != figures[prefix+other].Rate || f.Bits != figures[prefix+other].Bits) {
			t.Errorf("%s: %v and %v bits per key, %s %v and %v", name, f.Rate, f.Bits, other, figures[prefix+other].Rate, figures[prefix+other].Bits)
		}
		timed := 3
		if strings.HasPrefix(name, "lanebloom") {
			timed = 6
		} else if name == "parquet-go" {
			timed = 4
		}
		if jobs[name] != timed {
			t.Errorf("%s: %d jobs are timed, want %d", name, jobs[name], timed)
		}
	}
}

// TestWithoutCPP wants rows of the libraries in Go, and none of those in C++, where these cannot be compiled.
func TestWithoutCPP(t *testing.T) {
	for _, l := range newLibraries(10, make([]*oracle.Timer, len(inCPP))) {
		if strings.HasPrefix(l.name, "C++") {
			t.Errorf("%s has no timer", l.name)
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
		reference := library{name: "reference", build: [2]way{right}, test: [2]way{right}}
		c := &contest{columns: newColumns(5, 10), reference: &reference, rounds: 1, share: 1}
		_, err := c.run(t.Context(), &test.library)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}

// TestErrors runs bad options and an interrupt. None of them may print figures.
func TestErrors(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		change func(o *options)
		ctx    context.Context
	}{
		"no keys":       {func(o *options) { o.Sizes = []int{1000, 0} }, t.Context()},
		"too many keys": {func(o *options) { o.Sizes = []int{1 << 40} }, t.Context()},
		"no bits":       {func(o *options) { o.BitsPerKey = 0 }, t.Context()},
		"no rounds":     {func(o *options) { o.Rounds = 0 }, t.Context()},
		"no time":       {func(o *options) { o.Time = -1 }, t.Context()},
		"no queries":    {func(o *options) { o.Queries = 0 }, t.Context()},
		"no cores":      {func(o *options) { o.Cores = 0 }, t.Context()},
		"unknown":       {func(o *options) { o.Reference = "lanebloon" }, t.Context()},
		"an interrupt":  {func(*options) {}, interrupted},
	} {
		o, out := tiny(), strings.Builder{}
		o.JSON = true
		test.change(&o)
		if err := run(test.ctx, &o, &out, io.Discard); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v, and %q", name, err, out.String())
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
