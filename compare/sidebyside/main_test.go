package main

import (
	"bytes"
	"context"
	"encoding/binary"
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
		Sizes: []int{1000, 20_000}, Keys: []kind{integers, texts}, BitsPerKey: 10, Queries: 50_000, Rounds: 1, Time: time.Millisecond, Cores: 1, Reference: "goleveldb",
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

// sameFilter has the libraries whose filters, and so rates, are the same as another library's.
var sameFilter = map[string]string{
	"lanebloom, LevelDB": "C++ LevelDB", "goleveldb": "C++ LevelDB", "Badger": "C++ LevelDB",
	"lanebloom, RocksDB": "C++ RocksDB", "lanebloom, Pebble": "Pebble", "C++ RocksDB before 5": "Pebble",
}

// TestRun runs all libraries. The program itself checks that no known key is missing,
// and that every call gives the same answers.
func TestRun(t *testing.T) {
	o := tiny()
	var out bytes.Buffer
	if err := run(t.Context(), &o, &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	f, err := race.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]race.Figure{}
	for _, figure := range f.List {
		byName[figure.Name] = figure
	}
	for _, size := range o.Sizes {
		for _, kind := range o.Keys {
			checkFigures(t, fmt.Sprintf("Libraries/keys=%d/of=%s/library=", size, kind), kind, byName)
		}
	}
	if f.Config["kernel"] == "" || f.Config["cpu"] == "" {
		t.Errorf("the figures are of %v", f.Config)
	}
}

func checkFigures(t *testing.T, prefix string, kind kind, figures map[string]race.Figure) {
	t.Helper()
	type result struct {
		jobs       int // timed
		rate, bits float64
	}
	results := map[string]result{} // by library
	for name, f := range figures {
		library, job, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/call=")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if f.Ns <= 0 || f.X <= 0 || f.Low > f.High || (f.Rate > 0) != strings.HasSuffix(job, "absent") || (f.Bits > 0) != strings.HasSuffix(job, "build") {
			t.Errorf("%+v", f)
		}
		r := results[library]
		results[library] = result{r.jobs + 1, max(r.rate, f.Rate), max(r.bits, f.Bits)}
	}
	for _, name := range names() {
		like, ofKernel := name, false
		for _, o := range own {
			if strings.HasPrefix(name, "lanebloom, "+o.name+", ") {
				like, ofKernel = "lanebloom, "+o.name, true
			}
		}
		r, want := results[name], rates[like]
		if r.rate < want.least || r.rate > want.most {
			t.Errorf("%s: %v of the absent keys pass", name, r.rate)
		}
		if (r.bits < 9 || r.bits > 13 && name != "ristretto") && !ofKernel { // BinaryFuse8 has more in small filters
			t.Errorf("%s: %v bits per key", name, r.bits)
		}
		if other := sameFilter[like]; other != "" && (r.rate != results[other].rate || r.bits != results[other].bits && !ofKernel) {
			t.Errorf("%s: %+v, and %s %+v", name, r, other, results[other])
		}
		timed := 3
		switch {
		case ofKernel, name == "parquet-go" && kind == integers:
			timed = 4
		case strings.HasPrefix(name, "lanebloom"):
			timed = 6
		}
		if r.jobs != timed {
			t.Errorf("%s: %d jobs are timed, want %d", name, r.jobs, timed)
		}
	}
}

// TestWithoutCPP wants rows of the libraries in Go, and none of those in C++, where these cannot be compiled.
func TestWithoutCPP(t *testing.T) {
	for _, l := range newLibraries(10, integers, make([]*oracle.Timer, len(inCPP))) {
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
		{"loses a key", library{build: [2]way{right}, test: [2]way{oneLess}}, "key by key: 9 in place of 10"},
		{"differs", library{build: [2]way{right}, test: [2]way{right, oneLess}}, "at once: 9 in place of 10"},
		{"differs in size", library{build: [2]way{right, oneLess}, test: [2]way{right}}, "at once: 4 in place of 5"},
		{"fails", library{build: [2]way{right}, test: [2]way{broken}}, "broken"},
	} {
		reference := library{name: "reference", build: [2]way{right}, test: [2]way{right}}
		c := &contest{columns: newColumns(integers, 5, 10), reference: &reference, rounds: 1, share: 1}
		var err error
		for _, j := range jobs {
			if _, e := c.run(t.Context(), &test.library, j); err == nil {
				err = e
			}
		}
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
		test.change(&o)
		if err := run(test.ctx, &o, &out, io.Discard); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v, and %q", name, err, out.String())
		}
	}
}

// TestColumns fails if a key comes twice, if an absent key is known, or if the forms of a key differ.
func TestColumns(t *testing.T) {
	for of, want := range map[kind]int{integers: 1, texts: 25} { // lengths
		c := newColumns(of, 3000, 2000)
		known, lengths := map[string]bool{}, map[int]bool{}
		for i := range c.known.len {
			key := c.known.key(i)
			known[string(key)], lengths[len(key)] = true, true
			if of == texts && c.known.texts[i] != string(key) || of == integers && c.known.ints[i] != binary.LittleEndian.Uint64(key) {
				t.Fatalf("key %d has other bytes in another form", i)
			}
			if end := int(c.known.ends[i+1]); string(c.known.bytes[end-len(key):end]) != string(key) {
				t.Fatalf("key %d ends elsewhere than at %d", i, end)
			}
		}
		if len(known) != 3000 || len(lengths) != want || !lengths[8] {
			t.Errorf("%s: %d different keys of 3000, of the lengths %v", of, len(known), lengths)
		}
		for i := range 2000 {
			if known[string(c.absent.key(i))] || !known[string(c.present.key(i))] {
				t.Fatalf("query %d: known are %v and %v", i, known[string(c.absent.key(i))], known[string(c.present.key(i))])
			}
		}
	}
}
