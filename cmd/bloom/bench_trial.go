package main

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/stopwatch"
)

// plainLoop is the path that bench compares the others with: bloom.Reference for one key
// after the other.
const plainLoop = "plain loop"

// oneKey is the path that calls the filter's method for a single key.
const oneKey = "one key"

// randomLoads is the path that loads a random byte of the filter for each key, and does nothing
// else. No code can test keys faster than memory gives it their bits: an absent key of
// leveldb takes two loads on average, a present key one for each probe, and every key one or
// two in the formats of one line.
const randomLoads = "random load"

// path is a way to test all keys of a workload, or to add them.
type path struct {
	name string
	run  func(hits []uint64)
}

// isCompared says whether the path is one to compare with the plain loop.
func (p path) isCompared() bool { return p.name != plainLoop && p.name != randomLoads }

// trial has the paths to do the same with some keys, and the times that they took.
type trial struct {
	name           string // in a report
	keys           string // in a table
	bytes, percent int    // of the filter, and of the keys that are in it
	n              int    // keys
	paths          []path
	ns             [][]float64 // a key, by path and round
}

// minRounds is the smallest number of rounds for which deciles mean something.
const minRounds = 10

// run runs all paths in turn, round after round, for some time or until ctx ends: at first minRounds rounds.
func (t *trial) run(ctx context.Context, clock *stopwatch.Watch, share time.Duration) {
	runtime.GC() // so that it does not run in the middle of a round
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if t.ns == nil {
		t.ns = make([][]float64, len(t.paths))
	}
	hits := make([]uint64, (t.n+63)/64)
	for start := time.Now(); len(t.ns[0]) < minRounds || time.Since(start) < share && ctx.Err() == nil; {
		for i, p := range t.paths {
			took := clock.Time(func() { p.run(hits) })
			t.ns[i] = append(t.ns[i], float64(took.Nanoseconds())/float64(t.n))
		}
	}
}

// results returns a result for each path, or none if the trial has not run.
func (t *trial) results() []benchResult {
	if t.ns == nil {
		return nil
	}
	results, last := make([]benchResult, len(t.paths)), len(t.paths)-1
	for i, p := range t.paths {
		ratios, loads := make([]float64, len(t.ns[i])), make([]float64, len(t.ns[i]))
		for round := range ratios {
			ratios[round] = t.ns[0][round] / t.ns[i][round]
			loads[round] = t.ns[i][round] / t.ns[last][round]
		}
		ns := spreadOf(slices.Clone(t.ns[i]))
		results[i] = benchResult{
			Keys: t.keys, FilterBytes: t.bytes, HitsPercent: t.percent, Path: p.name, Rounds: len(ratios),
			NsPerKey: ns, MkeysPerS: 1e3 / ns.Median, Ratio: spreadOf(ratios), Loads: spreadOf(loads),
		}
	}
	return results
}

// spread is the median of many rounds, and their first and last decile.
type spread struct {
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P90    float64 `json:"p90"`
}

func spreadOf(values []float64) spread {
	slices.Sort(values)
	n := len(values)
	return spread{values[n/2], values[n/10], values[n*9/10]}
}

// trials builds the filters, and returns a trial for each of them and each share of hits. It calls tick now and then.
func (b *benchCommand) trials(ctx context.Context, sources []*keySource, tick func()) (trials []*trial, err error) {
	for _, source := range sources {
		for _, size := range source.sizes {
			if ctx.Err() != nil {
				return trials, nil
			}
			tested, err := b.trialsOf(source, size)
			if err != nil {
				return nil, err
			}
			trials = append(trials, tested...)
			tick()
		}
	}
	return trials, nil
}

// trialsOf returns the trials of a filter of some size.
func (b *benchCommand) trialsOf(source *keySource, size int) (trials []*trial, err error) {
	filter, err := source.filter(size, b.BitsPerKey)
	if err != nil {
		return nil, err
	}
	for _, percent := range b.Hits {
		w, err := newWorkload(source, filter, percent)
		if err != nil {
			return nil, err
		}
		t, err := w.trial()
		if err != nil {
			return nil, err
		}
		t.keys, t.name = source.name, fmt.Sprintf("%s/hits=%d%%", source.benchmark("Test", t.bytes), percent)
		trials = append(trials, t)
	}
	return trials, nil
}

// trial compares the answers of all paths, since a fast wrong answer would be of no use.
func (w *workload) trial() (*trial, error) {
	paths, err := w.paths()
	if err != nil {
		return nil, err
	}
	want, hits := make([]uint64, len(w.keys)/64), make([]uint64, len(w.keys)/64)
	paths[0].run(want)
	for _, p := range paths[1 : len(paths)-1] {
		p.run(hits)
		for i := range hits {
			if wrong := hits[i] ^ want[i]; wrong != 0 {
				return nil, fmt.Errorf("%s and the plain loop differ for %q", p.name, w.keys[64*i+bits.TrailingZeros64(wrong)])
			}
		}
	}
	return &trial{bytes: len(w.encoded), percent: w.percent, n: len(w.keys), paths: paths}, nil
}

// paths returns the plain loop, the test of single keys, every kernel, and the random loads.
func (w *workload) paths() ([]path, error) {
	paths := []path{{plainLoop, func(hits []uint64) { testPlainly(w.format, w.encoded, w.keys, hits) }}, {oneKey, w.oneByOne()}}
	for _, kernel := range bloom.Kernels() {
		filter, err := w.filter.WithKernel(kernel)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path{kernel.String(), func(hits []uint64) { filter.MayContainBatch(w.column, hits) }})
	}
	places := make([]uint32, len(w.keys))
	random := rand.New(rand.NewPCG(7, uint64(len(w.encoded))))
	for i := range places {
		places[i] = random.Uint32N(uint32(len(w.encoded)))
	}
	return append(paths, path{randomLoads, func(hits []uint64) {
		sum := byte(0)
		for _, place := range places {
			sum += w.encoded[place]
		}
		hits[0] = uint64(sum) // keeps the loads alive
	}}), nil
}

// testPlainly is the plain loop.
func testPlainly(format bloom.Format, encoded []byte, keys [][]byte, hits []uint64) {
	clear(hits)
	for i, key := range keys {
		if bloom.Reference(format, encoded, key) {
			hits[i/64] |= 1 << (i % 64)
		}
	}
}

// oneByOne returns the test of one key after the other. Each kind of keys has a loop, into which Go inlines the call.
func (w *workload) oneByOne() func(hits []uint64) {
	switch {
	case w.numbers != nil:
		return func(hits []uint64) {
			clear(hits)
			for i, key := range w.numbers {
				if w.filter.MayContainUint64(key) {
					hits[i/64] |= 1 << (i % 64)
				}
			}
		}
	case w.strings != nil:
		return func(hits []uint64) {
			clear(hits)
			for i, key := range w.strings {
				if w.filter.MayContainString(key) {
					hits[i/64] |= 1 << (i % 64)
				}
			}
		}
	}
	return func(hits []uint64) {
		clear(hits)
		for i, key := range w.keys {
			if w.filter.MayContain(key) {
				hits[i/64] |= 1 << (i % 64)
			}
		}
	}
}
