package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
)

// mostBuilt is the size of the largest filters to which a report adds keys: ten rounds of larger ones would
// take minutes.
const mostBuilt = 1 << 20

// reportedFormats are those whose code differs: nori-crate is nori with another header.
var reportedFormats = slices.DeleteFunc(bloom.Formats(), func(f bloom.Format) bool { return f == bloom.NoriCrate })

// reportedKeys are the kinds of keys that a report measures.
var reportedKeys = []struct {
	words    string
	from, to int
}{
	{"integers", 8, 8},
	{"byte slices of 8 to 32 bytes", 8, 32},
}

// checkReport reports flags that do not go with --report and --compare, and sets what others are
// without a value.
func (b *benchCommand) checkReport() error {
	switch {
	case b.Compare && b.Report:
		return errors.New("--compare measures nothing, and --report measures: use one of them")
	case b.Compare && len(b.Reports) != 2:
		return fmt.Errorf("--compare takes two files, the older one first, not %d", len(b.Reports))
	case !b.Compare && len(b.Reports) > 0:
		return fmt.Errorf("%s is a file for --compare; the keys to measure with are those of --input", shown(b.Reports[0]))
	case b.Report && (b.Keys != "" || b.Input != "" || b.JSON != "" || b.Plot != "" || b.Format != "leveldb"):
		return errors.New("--report measures all formats and its own keys, and prints: it goes with --sizes, --hits, --bits-per-key and --time")
	}
	hits, total := []int{0, 50, 100}, 30*time.Second
	if b.Report {
		hits, total = []int{0, 100}, 8*time.Minute
	}
	if b.Hits == nil {
		b.Hits = hits
	}
	b.Time = cmp.Or(b.Time, &total)
	return nil
}

// report measures every format and prints tables. It prints nothing before all is measured, so that
// what it is redirected to is whole or empty.
func (b *benchCommand) report(s *streams) error {
	sizes, err := b.filterSizes("16KiB", "1MiB", "8MiB", "64MiB")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.out) // keeps the first error
	b.printHead(out, time.Now(), loadNow())
	progress, done := bar(s, "measuring", b.Time.Milliseconds())
	defer done()
	share := *b.Time / time.Duration(2*len(reportedKeys)*len(reportedFormats))
	var tests, builds []table
	var clock stopwatch
	for _, keys := range reportedKeys {
		test, build := table{title: "Testing " + keys.words, hasHits: true}, table{title: "Adding " + keys.words}
		for _, format := range reportedFormats {
			source := randomSource{format, keys.from, keys.to, sizes}
			tested, err := b.measure(&clock, source, share*3/2, progress)
			if err != nil {
				return fmt.Errorf("%v: %w", format, err)
			}
			built, err := b.measureBuilds(&clock, source, share/2, progress)
			if err != nil {
				return fmt.Errorf("%v: %w", format, err)
			}
			test.add(format, tested)
			build.add(format, built)
		}
		tests, builds = append(tests, test), append(builds, build)
	}
	for _, t := range append(tests, builds...) {
		t.print(out)
	}
	if busy := clock.busy(); busy != "" {
		fmt.Fprintf(out, "\n%s", busy)
	}
	return out.Flush()
}

// measureBuilds times how keys get into filters of every size up to mostBuilt.
func (b *benchCommand) measureBuilds(clock *stopwatch, source randomSource, total time.Duration, progress func(int)) (results []benchResult, err error) {
	sizes := slices.DeleteFunc(slices.Clone(source.bytes), func(size int) bool { return size > mostBuilt })
	for _, size := range sizes {
		n := keysFor(size, b.BitsPerKey)
		paths, err := source.builds(n, b.BitsPerKey)
		if err != nil {
			return nil, err
		}
		measured := interleave(clock, paths, n, total/time.Duration(len(sizes)), progress)
		for i := range measured {
			measured[i].FilterBytes = size
		}
		results = append(results, measured...)
	}
	return results, nil
}

// builds returns the ways to add n new keys to an empty set, and to build a filter. The first is the
// plain loop, which tests these keys: a measure that stays when the others change.
func (r randomSource) builds(n, bitsPerKey int) ([]path, error) {
	policy := bloom.Policy{Format: r.format, BitsPerKey: bitsPerKey}
	set, err := policy.NewSet(n)
	if err != nil {
		return nil, fromLibrary(err)
	}
	keys := r.absent(rand.New(rand.NewPCG(uint64(n), 2)), n)
	column, err := r.column(keys)
	if err != nil {
		return nil, err
	}
	one := func([]uint64) {
		set.Clear()
		for _, key := range keys {
			set.Add(key)
		}
	}
	if r.integers() {
		numbers := numbersOf(keys)
		one = func([]uint64) {
			set.Clear()
			for _, key := range numbers {
				set.AddUint64(key)
			}
		}
	}
	encoded := policy.AppendFilter(nil, column)
	return []path{
		{plainLoop, func(hits []uint64) { testPlainly(r.format, encoded, keys, hits) }},
		{oneKey, one},
		{"AddBatch", func([]uint64) { set.Clear(); set.AddBatch(column) }},
		{"TestAndAddBatch", func(hits []uint64) { set.Clear(); set.TestAndAddBatch(column, hits) }},
		{"NewFilter", func([]uint64) { policy.NewFilter(column) }},
	}, nil
}

// printHead says what was measured, and on what.
func (b *benchCommand) printHead(w io.Writer, now time.Time, load string) {
	m := thisMachine()
	fmt.Fprintf(w, "# %s\n\n`bloom bench --report` wrote this page, which `bloom bench --compare` reads.\n\n| | |\n|---|---|\n", m.CPU)
	row := func(name, text string) { fmt.Fprintf(w, "| %s | %s |\n", name, text) }
	row("CPU", fmt.Sprintf("family %d, model %d; %d cores; L1d %s, L2 %s, L3 %s", cpuid.CPU.Family, cpuid.CPU.Model, m.Cores,
		cache(cpuid.CPU.Cache.L1D), cache(cpuid.CPU.Cache.L2), cache(cpuid.CPU.Cache.L3)))
	row("version", fmt.Sprintf("bloom %s, %s, %s/%s", version(), m.Go, m.OS, m.Arch))
	row("kernels", fmt.Sprintf("%s; the first is chosen", strings.Join(m.Kernels, ", ")))
	row("forms", m.forms())
	row("huge pages", m.HugePages)
	row("date", now.UTC().Format(time.DateOnly))
	row("load", loadWords(load))
	fmt.Fprintf(w, `
A cell has the nanoseconds that a key takes, and then how many times as fast as the plain loop that is. Both are
medians over the rounds; in parentheses are the first and last decile. In a round all ways of a row take turns, and
what counts is the time that the CPU works for the thread.

- The keys are random: %s of them in a round of tests. The filters have %d bits per key.
- The plain loop is `+"`bloom.Reference`"+`, one key after the other. It tests the keys in the tables of adding, too.
- One key: `+"`MayContain` and `Add`, or `MayContainUint64` and `AddUint64`"+` for integers.
- A random load reads one byte of the filter for each key, and does no more: the cost of memory.
- All keys that a set is for are added to the empty set. `+"`NewFilter`"+` builds large filters of leveldb, nori and nori-crate on up to 16 cores; all else takes one.
`, humanize.Comma(queries), b.BitsPerKey)
}

// cache writes the size of a cache, which may be unknown.
func cache(bytes int) string {
	if bytes <= 0 {
		return "unknown"
	}
	return sizeWords(bytes)
}

// loadNow returns what Linux says of the load.
func loadNow() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return string(text)
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

// table is a table of a report.
type table struct {
	title   string
	hasHits bool // a column for the share of hits
	head    []string
	rows    [][]string
}

// add adds a row for every workload among the results, which come path by path.
func (t *table) add(format bloom.Format, results []benchResult) {
	for _, r := range results {
		if r.Path == plainLoop {
			row := []string{"`" + format.String() + "`", sizeWords(r.FilterBytes)}
			if t.hasHits {
				row = append(row, strconv.Itoa(r.HitsPercent)+" %")
			}
			t.rows = append(t.rows, row)
		}
		if len(t.rows) == 1 {
			t.head = append(t.head, r.Path)
		}
		last := &t.rows[len(t.rows)-1]
		*last = append(*last, r.cell())
	}
}

// cell writes a result for people and for readReport.
func (r benchResult) cell() string {
	if r.Path == plainLoop || r.Path == randomLoads {
		return fmt.Sprintf("%s (%s–%s)", three(r.NsPerKey.Median), three(r.NsPerKey.P10), three(r.NsPerKey.P90))
	}
	return fmt.Sprintf("%s ×%s (%s–%s)", three(r.NsPerKey.Median), three(r.Ratio.Median), three(r.Ratio.P10), three(r.Ratio.P90))
}

func (t *table) print(w io.Writer) {
	head, line := []string{"format", "filter"}, "|---|---|"
	if t.hasHits {
		head, line = append(head, "hits"), line+"---:|"
	}
	fmt.Fprintf(w, "\n## %s\n\n| %s |\n%s%s\n", t.title, strings.Join(append(head, t.head...), " | "), line, strings.Repeat("---:|", len(t.head)))
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}
