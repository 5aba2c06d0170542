package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/stopwatch"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// mostBuilt is the size of the largest filters to which a report adds keys: ten rounds of larger ones would
// take minutes.
const mostBuilt = 1 << 20

// reportedFormats are those whose code differs: nori-crate is nori with another header.
var reportedFormats = slices.DeleteFunc(bloom.Formats(), func(f bloom.Format) bool { return f == bloom.NoriCrate })

// report measures all formats, or the one that a flag names, and prints lines of Go's benchmark format as it measures.
func (b *benchCommand) report(ctx context.Context, s *cli.Streams, format bloom.Format) error {
	formats := reportedFormats
	if b.Format != nil {
		formats = []bloom.Format{format}
	}
	var sources []*keySource
	for i := range formats {
		of, err := b.randomSources(formats[i], "16KiB", "1MiB", "8MiB", "64MiB")
		if err != nil {
			return err
		}
		sources = append(sources, of...)
	}
	slices.SortStableFunc(sources, func(a, b *keySource) int { return a.to - b.to }) // all formats with the same keys
	if b.Time == 0 {
		b.Time = 8 * time.Minute
	}
	r := &reporter{out: bufio.NewWriter(s.Out), start: time.Now()}
	load, _ := os.ReadFile("/proc/loadavg") // of Linux
	b.printHead(r.out, time.Now(), string(load))
	for i, source := range sources {
		left := timeLeft(time.Since(r.start), b.Time, i, len(sources))
		if _, err := fmt.Fprintf(s.Err, "bloom: %v left; measuring %v, %s\n", left, source.format, source.words); err != nil {
			return err
		}
		// What is left of the time is for this source and those after it, and building filters takes some of it.
		if err := b.reportSource(ctx, r, source, time.Now().Add((b.Time-time.Since(r.start))/time.Duration(len(sources)-i))); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d kinds of filters and keys", i, len(sources))
		}
	}
	fmt.Fprint(s.Err, r.clock.Busy())
	return nil
}

// timeLeft returns how long the rest takes: what is left of the time, or more if the least rounds and the building of the
// first sources took longer than their share.
func timeLeft(passed, total time.Duration, done, all int) time.Duration {
	left := total - passed
	if done > 0 {
		left = max(left, passed/time.Duration(done)*time.Duration(all-done))
	}
	return left.Round(time.Second)
}

// reporter prints what was measured.
type reporter struct {
	out   *bufio.Writer
	start time.Time
	clock stopwatch.Watch
}

// reportSource measures one kind of keys in filters of one format, until an instant.
func (b *benchCommand) reportSource(ctx context.Context, r *reporter, source *keySource, end time.Time) error {
	for i, size := range source.sizes {
		trials, err := b.trialsOf(source, size)
		if err != nil {
			return err
		}
		if size <= mostBuilt {
			added, err := source.adds(size, b.BitsPerKey)
			if err != nil {
				return err
			}
			trials = append(trials, added)
		}
		for j, t := range trials {
			if ctx.Err() != nil {
				return nil
			}
			left := len(trials) - j + (len(source.sizes)-i-1)*len(trials)
			t.run(ctx, &r.clock, max(0, time.Until(end))/time.Duration(left))
			if err := r.print(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchmark returns the name of a trial of a filter of some size.
func (k *keySource) benchmark(kind string, size int) string {
	return fmt.Sprintf("%s/keys=%s/format=%v/filter=%s", kind, strings.TrimSuffix(k.name, " B"), k.format, strings.ReplaceAll(sizeWords(size), " ", ""))
}

// print prints the lines of a trial. A path is compared with the plain loop, or has the deciles of its times.
func (r *reporter) print(t *trial) error {
	for _, result := range t.results() {
		fmt.Fprintf(r.out, "Benchmark%s/way=%s\t%d\t%s ns/key", t.name, strings.ReplaceAll(result.Path, " ", "-"), result.Rounds, three(result.NsPerKey.Median))
		if (path{name: result.Path}).isCompared() {
			fmt.Fprintf(r.out, "\t%s x-ref\t%s x-p10\t%s x-p90\n", three(result.Ratio.Median), three(result.Ratio.P10), three(result.Ratio.P90))
		} else {
			fmt.Fprintf(r.out, "\t%s ns/key-p10\t%s ns/key-p90\n", three(result.NsPerKey.P10), three(result.NsPerKey.P90))
		}
	}
	return r.out.Flush()
}

// adds returns the ways to add new keys to an empty set of some size, and to build a filter. The first is the plain loop, which
// only tests these keys: it does not change when the others do.
func (k *keySource) adds(size, bitsPerKey int) (*trial, error) {
	n, policy := keysFor(size, bitsPerKey), bloom.Policy{Format: k.format, BitsPerKey: bitsPerKey}
	set, err := policy.NewSet(n)
	if err != nil {
		return nil, filterfile.WithoutPrefix(err)
	}
	keys := k.absent(rand.New(rand.NewPCG(uint64(n), 2)), n)
	column, err := k.column(keys)
	if err != nil {
		return nil, err
	}
	encoded := policy.AppendFilter(nil, column)
	return &trial{name: k.benchmark("Add", size), n: n, paths: []path{
		{plainLoop, func(hits []uint64) { testPlainly(k.format, encoded, keys, hits) }},
		{oneKey, k.addOneByOne(set, keys)},
		{"AddBatch", func([]uint64) { set.Clear(); set.AddBatch(column) }},
		{"TestAndAddBatch", func(hits []uint64) { set.Clear(); set.TestAndAddBatch(column, hits) }},
		{"NewFilter", func([]uint64) { policy.NewFilter(column) }},
	}}, nil
}

// addOneByOne returns the adding of one key after the other, with a loop for each layout, as in oneByOne.
func (k *keySource) addOneByOne(set *bloom.Set, keys [][]byte) func([]uint64) {
	switch k.layout {
	case integers:
		numbers := numbersOf(keys)
		return func([]uint64) {
			set.Clear()
			for _, key := range numbers {
				set.AddUint64(key)
			}
		}
	case texts:
		strings := stringsOf(keys)
		return func([]uint64) {
			set.Clear()
			for _, key := range strings {
				set.AddString(key)
			}
		}
	}
	return func([]uint64) {
		set.Clear()
		for _, key := range keys {
			set.Add(key)
		}
	}
}

// printHead says what is measured, and on what.
func (b *benchCommand) printHead(w io.Writer, now time.Time, load string) {
	m := thisMachine()
	for _, line := range [][2]string{
		{"goos", m.OS},
		{"goarch", m.Arch},
		{"pkg", "github.com/lanebloom/bloom"},
		{"cpu", m.CPU},
		{"model", fmt.Sprintf("family %d, model %d; %d cores; L1d %s, L2 %s, L3 %s", cpuid.CPU.Family, cpuid.CPU.Model, m.Cores,
			cache(cpuid.CPU.Cache.L1D), cache(cpuid.CPU.Cache.L2), cache(cpuid.CPU.Cache.L3))},
		{"version", fmt.Sprintf("bloom %s, %s, %s/%s", cli.BuildVersion(), m.Go, m.OS, m.Arch)},
		{"kernels", strings.Join(m.Kernels, ", ") + "; the first is chosen"},
		{"huge-pages", m.HugePages},
		{"date", now.UTC().Format(time.DateOnly)},
		{"load", loadWords(load)},
		{"bits-per-key", fmt.Sprint(b.BitsPerKey)},
	} {
		fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
	}
}

// cache writes the size of a cache, which may be unknown.
func cache(bytes int) string {
	if bytes <= 0 {
		return "unknown"
	}
	return sizeWords(bytes)
}

// idleLoad is the largest load of the last minute with which a machine counts as idle.
const idleLoad = 0.3

// loadWords says whether other programs ran when the measurements began.
func loadWords(text string) string {
	minute, _, _ := strings.Cut(text, " ")
	load, err := strconv.ParseFloat(minute, 64)
	switch {
	case err != nil:
		return "unknown: measure on an idle machine"
	case load > idleLoad:
		return fmt.Sprintf("%.2f when it began: **the machine was busy**; measure again when it is idle", load)
	}
	return fmt.Sprintf("%.2f when it began", load)
}
