package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/stopwatch"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// sources are the ways to get keys, one of each kind.
func sources(t *testing.T, format bloom.Format) map[string]*keySource {
	t.Helper()
	var lines bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&lines, "key %d\n", i/2) // each twice
	}
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	all := map[string]*keySource{}
	for _, c := range []benchCommand{{Keys: []string{"8", "16", "8-32"}, Sizes: []string{"2KiB"}}, {Input: cli.Input(name)}} {
		sources, err := c.sources(&cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Program: "bloom"}, format)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			all[source.name] = source
		}
	}
	if len(all) != 4 {
		t.Errorf("%d kinds of keys", len(all))
	}
	return all
}

// TestWorkloads wants as many hits among the keys as were asked for, and the
// lengths of keys and the sizes of filters.
func TestWorkloads(t *testing.T) {
	for _, format := range bloom.Formats() {
		for name, source := range sources(t, format) {
			size := source.sizes[0]
			built, err := source.filter(size, 20)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(built.encoded); size > 0 && (n < size-8 || n > 2*size+32) {
				t.Errorf("%v, keys %s: a filter of %d bytes, want %d", format, name, n, size)
			}
			for _, percent := range []int{0, 30, 100} {
				w, err := newWorkload(source, built, percent)
				if err != nil {
					t.Fatal(err)
				}
				hits := make([]uint64, queries/64)
				share := 100 * float64(w.filter.MayContainBatch(w.column, hits)) / queries
				if want := float64(percent); share < want-1 || share > want+1 {
					t.Errorf("%v, keys %s: %.1f %% hits, want %d %%", format, name, share, percent)
				}
				low, high := 8, 8
				switch name {
				case "16 B":
					low, high = 16, 16
				case "8-32 B":
					high = 32
				}
				shortest, longest := len(w.keys[0]), len(w.keys[0])
				for i, key := range w.keys {
					shortest, longest = min(shortest, len(key)), max(longest, len(key))
					if w.filter.MayContain(key) != (hits[i/64]>>(i%64)&1 != 0) {
						t.Fatalf("%v, keys %s: the column differs from its keys", format, name)
					}
				}
				if len(source.halves[0]) == 0 && (shortest != low || longest != high) {
					t.Errorf("keys %s have %d to %d bytes, want %d to %d", name, shortest, longest, low, high)
				}
			}
		}
	}
}

// TestInputHalves wants no key of an input on both sides.
func TestInputHalves(t *testing.T) {
	for name, input := range sources(t, bloom.LevelDB) {
		if len(input.halves[0]) == 0 {
			continue
		}
		known := map[string]bool{}
		for _, key := range input.halves[1] {
			known[string(key)] = true
		}
		if n := len(known); n < 600 || n > 900 || len(input.halves[0])+len(input.halves[1]) != 3000 {
			t.Errorf("%s: %d different keys of 1500 are known, of %v", name, n, input.words)
		}
		for _, key := range input.halves[0] {
			if known[string(key)] {
				t.Fatalf("%s: %s is on both sides", name, key)
			}
		}
		return
	}
	t.Error("no input")
}

// TestMeasure wants every path for every round, and finds a kernel that errs.
func TestMeasure(t *testing.T) {
	for _, format := range bloom.Formats() {
		source := sources(t, format)["uint64"]
		built, err := source.filter(1<<10, 10)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWorkload(source, built, 50)
		if err != nil {
			t.Fatal(err)
		}
		trial, err := w.trial()
		if err != nil {
			t.Fatal(err)
		}
		if none := trial.results(); len(none) > 0 {
			t.Errorf("before the first round, the results are %v", none)
		}
		trial.run(t.Context(), new(stopwatch.Watch), time.Microsecond)
		results := trial.results()
		names := []string{plainLoop, oneKey}
		for _, kernel := range bloom.Kernels() {
			names = append(names, kernel.String())
		}
		names = append(names, randomLoads)
		for i, r := range results {
			if r.Path != names[i] || r.Rounds < minRounds || r.HitsPercent != 50 {
				t.Errorf("result %d is %+v, want the path %s", i, r, names[i])
			}
			if ns := r.NsPerKey; !(0 < ns.P10 && ns.P10 <= ns.Median && ns.Median <= ns.P90) {
				t.Errorf("%s: times %+v", r.Path, ns)
			}
			if r.Path == randomLoads != (r.Loads == spread{1, 1, 1}) {
				t.Errorf("%s takes %+v random loads", r.Path, r.Loads)
			}
		}
		if len(results) != len(names) || results[0].Ratio != (spread{1, 1, 1}) {
			t.Errorf("%d results, of which the first has the ratio %+v", len(results), results[0].Ratio)
		}

		other, err := newWorkload(source, built, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.column = other.column // kernels that test other keys than the plain loop
		if _, err := w.trial(); err == nil || !strings.Contains(err.Error(), "and the plain loop differ") {
			t.Errorf("wrong answers are the error %v", err)
		}
	}
}

// TestInterruptedTrial wants the least rounds, and no more, when an interrupt came before.
func TestInterruptedTrial(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	trial := trial{n: 1, paths: []path{{plainLoop, func([]uint64) {}}}}
	trial.run(ctx, new(stopwatch.Watch), 10*time.Second)
	if rounds := trial.results()[0].Rounds; rounds != minRounds {
		t.Errorf("%d rounds", rounds)
	}
}

func TestSpread(t *testing.T) {
	values := make([]float64, 101)
	for i, v := range rand.New(rand.NewPCG(1, 2)).Perm(len(values)) {
		values[i] = float64(v)
	}
	if got := spreadOf(values); got != (spread{50, 10, 90}) {
		t.Errorf("the spread of 0 to 100 is %+v", got)
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int]string{131: "131 bytes", 16385: "16 KiB", 1<<20 - 6: "1 MiB", 300 << 20: "300 MiB", 1 << 30: "1 GiB"} {
		if got := sizeWords(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	var got []string
	for _, v := range []float64{1.234, 12.345, 123.45, 0.5} {
		got = append(got, three(v))
	}
	if want := []string{"1.23", "12.3", "123", "0.50"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
