package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/files"
	"github.com/lanebloom/bloom/internal/kernelforms"
)

type benchCommand struct {
	Format string `default:"leveldb" placeholder:"NAME" help:"Format of the filters: ${formats} (${default})."`
	keysFlags
	Keys       string         `placeholder:"BYTES" help:"Length of random keys: 8, 16, or a range such as 8-32 (8)."`
	Sizes      []string       `placeholder:"SIZE" help:"Sizes of the filters (16KiB,256KiB,1MiB,8MiB,64MiB; --report leaves out 256KiB)."`
	Hits       []int          `placeholder:"PERCENT" help:"Shares of the keys that are in the filter, in percent (0,50,100; 0,100 with --report)."`
	BitsPerKey int            `default:"10" placeholder:"N" help:"Bits per key, 1 to 10000 (${default})."`
	Time       *time.Duration `placeholder:"TIME" help:"How long to measure, without the time to build the filters (30s; 8m with --report)."`
	Input      files.Input    `placeholder:"KEYS" help:"Measure with the keys of this file, one per line, not with random keys. Half of them are in the filter."`
	JSON       files.Output   `name:"json" placeholder:"FILE" help:"Also write the results to this file, as JSON."`
	Plot       files.Output   `placeholder:"FILE" help:"Draw how many times faster each kernel is, as SVG: the name must end in .svg."`
	Report     bool           `help:"Measure every format, with integers and byte slices, and building. Print tables in Markdown."`
	Compare    bool           `help:"Measure nothing: print what differs between two files that --report printed."`
	Reports    []files.Input  `arg:"" optional:"" help:"The two files for --compare, the older one first."`
}

// benchReport has the results of bench. bench prints it, or writes it as JSON.
type benchReport struct {
	Machine    machine       `json:"machine"`
	Format     string        `json:"format"`
	BitsPerKey int           `json:"bits_per_key"`
	Keys       string        `json:"keys"` // in words
	Results    []benchResult `json:"results"`
	Waited     float64       `json:"waited"` // the share of the time in which other work had the CPU
}

// machine has the properties of the machine on which the results depend.
type machine struct {
	CPU       string             `json:"cpu"`
	Cores     int                `json:"cores"`
	OS        string             `json:"os"`
	Arch      string             `json:"arch"`
	Go        string             `json:"go"`
	Kernels   []string           `json:"kernels"` // the first is the one chosen
	Forms     []kernelforms.Cost `json:"forms,omitempty"`
	HugePages string             `json:"huge_pages"`
}

// benchResult is one way to test the keys of a workload.
type benchResult struct {
	FilterBytes int     `json:"filter_bytes"`
	HitsPercent int     `json:"hits_percent"`
	Path        string  `json:"path"` // plainLoop, oneKey, the name of a kernel, or randomLoads
	Rounds      int     `json:"rounds"`
	NsPerKey    spread  `json:"ns_per_key"`
	MkeysPerS   float64 `json:"mkeys_per_s"` // by the median
	Ratio       spread  `json:"ratio"`       // times faster than the plain loop in the same round
	Loads       spread  `json:"loads"`       // loads of randomLoads that take as long as a key, in the same round
}

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

func (b *benchCommand) Run(s *streams) error {
	format, err := b.check(s)
	if err != nil {
		return err
	}
	switch {
	case b.Compare:
		return b.compare(s)
	case b.Report:
		return b.report(s)
	}
	source, err := b.source(s, format)
	if err != nil {
		return err
	}
	r := benchReport{
		Machine:    thisMachine(),
		Format:     format.String(),
		BitsPerKey: b.BitsPerKey,
		Keys:       source.words(),
	}
	out := bufio.NewWriter(s.out) // keeps the first error
	r.Machine.print(out)
	fmt.Fprintf(out, "keys     %s; format %s, %d bits per key\n\n", r.Keys, r.Format, r.BitsPerKey)
	if err := out.Flush(); err != nil {
		return err
	}
	progress, done := bar(s, "measuring", b.Time.Milliseconds())
	var clock stopwatch
	r.Results, err = b.measure(&clock, source, *b.Time, progress)
	done()
	if err != nil {
		return err
	}
	r.Waited = clock.waited()
	r.print(out)
	fmt.Fprint(out, clock.busy())
	if err := out.Flush(); err != nil {
		return err
	}
	return b.write(s, r)
}

// check reports bad flags before the measurements begin.
func (b *benchCommand) check(s *streams) (bloom.Format, error) {
	format, err := chosenFormat(b.Format)
	if err != nil {
		return 0, err
	}
	if err := checkBitsPerKey(b.BitsPerKey); err != nil {
		return 0, err
	}
	if err := b.checkReport(); err != nil {
		return 0, err
	}
	switch {
	case *b.Time <= 0:
		return 0, errors.New("--time must be more than 0")
	case len(b.Hits) == 0 || slices.Min(b.Hits) < 0 || slices.Max(b.Hits) > 100:
		return 0, fmt.Errorf("--hits takes percents from 0 to 100, not %v", b.Hits)
	case b.Input != "" && b.Keys != "":
		return 0, errors.New("--keys is for random keys; it cannot be used with --input")
	case b.Sizes != nil && len(b.Sizes) == 0:
		return 0, errors.New("--sizes names no size")
	case b.Input != "" && b.Sizes != nil:
		return 0, errors.New("--sizes is for random keys; with --input, the keys decide the size of the filter")
	case b.Input == "" && b.keysFlags != keysFlags{}:
		return 0, errors.New("the flags of keys, such as --null, --crlf and --field, are for the keys of --input")
	}
	if b.Plot != "" {
		if err := checkPlotName(string(b.Plot)); err != nil {
			return 0, fmt.Errorf("--plot: %w", err)
		}
	}
	return format, nil
}

func thisMachine() machine {
	m := machine{
		CPU:       cpuid.CPU.BrandName,
		Cores:     runtime.GOMAXPROCS(0),
		OS:        runtime.GOOS,
		Arch:      runtime.GOARCH,
		Go:        runtime.Version(),
		HugePages: hugePages(),
	}
	if m.CPU == "" {
		m.CPU = "unknown"
	}
	for _, kernel := range bloom.Kernels() {
		m.Kernels = append(m.Kernels, kernel.String())
	}
	if kernelforms.Costs != nil {
		m.Forms = kernelforms.Costs()
	}
	return m
}

// forms says how the kernels get the words of a filter, and what that costs.
func (m machine) forms() string {
	if len(m.Forms) == 0 {
		return "one for each kernel"
	}
	costs := make([]string, len(m.Forms))
	for i, f := range m.Forms {
		costs[i] = fmt.Sprintf("%s %s and %s ns", f.Kernel, three(f.Gathers), three(f.Loads))
	}
	return fmt.Sprintf("%s are in use; a key of leveldb by gathers and by loads: %s", m.Forms[0].InUse, strings.Join(costs, "; "))
}

// hugePages returns when Linux gives huge pages: always, madvise (to programs that ask for
// them, as the library does for large filters) or never.
func hugePages() string {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return "unknown"
	}
	chosen := regexp.MustCompile(`\[(\w+)\]`).FindSubmatch(text)
	if chosen == nil {
		return "unknown"
	}
	return string(chosen[1])
}

func (m machine) print(w io.Writer) {
	fmt.Fprintf(w, "CPU      %s, %d cores (%s/%s); one is used\n", m.CPU, m.Cores, m.OS, m.Arch)
	fmt.Fprintf(w, "kernels  %s: %s is chosen\n", strings.Join(m.Kernels, ", "), m.Kernels[0])
	fmt.Fprintf(w, "forms    %s\n", m.forms())
	fmt.Fprintf(w, "Go       %s; transparent huge pages: %s\n", m.Go, m.HugePages)
}

// measure runs every workload for its share of the time.
func (b *benchCommand) measure(clock *stopwatch, source keySource, total time.Duration, progress func(int)) (results []benchResult, err error) {
	sizes := source.sizes()
	share := total / time.Duration(len(sizes)*len(b.Hits))
	for _, size := range sizes {
		filter, err := source.filter(size, b.BitsPerKey)
		if err != nil {
			return nil, err
		}
		for _, percent := range b.Hits {
			w, err := newWorkload(source, filter, percent)
			if err != nil {
				return nil, err
			}
			measured, err := w.measure(clock, share, progress)
			if err != nil {
				return nil, err
			}
			results = append(results, measured...)
		}
	}
	return results, nil
}

// path is a way to test all keys of a workload, or to add them.
type path struct {
	name string
	run  func(hits []uint64)
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

// oneByOne returns the test of one key after the other.
func (w *workload) oneByOne() func(hits []uint64) {
	if w.numbers != nil {
		return func(hits []uint64) {
			clear(hits)
			for i, key := range w.numbers {
				if w.filter.MayContainUint64(key) {
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

// measure compares the answers of all paths, since a fast wrong answer would be of no use, and then
// times them.
func (w *workload) measure(clock *stopwatch, share time.Duration, progress func(int)) ([]benchResult, error) {
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
	results := interleave(clock, paths, len(w.keys), share, progress)
	for i := range results {
		results[i].FilterBytes, results[i].HitsPercent = len(w.encoded), w.percent
	}
	return results, nil
}

// interleave runs all paths in turn, round after round, until the share of the time is over.
func interleave(clock *stopwatch, paths []path, keys int, share time.Duration, progress func(int)) []benchResult {
	runtime.GC() // so that it does not run in the middle of a round
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	hits, times := make([]uint64, (keys+63)/64), make([][]float64, len(paths))
	for start := time.Now(); len(times[0]) < minRounds || time.Since(start) < share; {
		before := time.Now()
		for i, p := range paths {
			took := clock.time(func() { p.run(hits) })
			times[i] = append(times[i], float64(took.Nanoseconds())/float64(keys))
		}
		progress(int(time.Since(before).Milliseconds()))
	}
	results, last := make([]benchResult, len(paths)), len(paths)-1
	for i, p := range paths {
		ratios, loads := make([]float64, len(times[i])), make([]float64, len(times[i]))
		for round := range ratios {
			ratios[round] = times[0][round] / times[i][round]
			loads[round] = times[i][round] / times[last][round]
		}
		results[i] = benchResult{Path: p.name, Rounds: len(ratios), Ratio: spreadOf(ratios), Loads: spreadOf(loads)}
	}
	for i := range results { // the ratios need the times in the order of the rounds
		results[i].NsPerKey = spreadOf(times[i])
		results[i].MkeysPerS = 1e3 / results[i].NsPerKey.Median
	}
	return results
}

// minRounds is the smallest number of rounds for which deciles mean something.
const minRounds = 10

func (r benchReport) print(out io.Writer) {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "filter\thits\tpath\tns/key\t\tMkeys/s\ttimes faster\t\tloads\t")
	for i, result := range r.Results {
		filter, hits := "", ""
		if result.Path == plainLoop {
			filter, hits = sizeWords(result.FilterBytes), strconv.Itoa(result.HitsPercent)+" %"
			if i > 0 {
				fmt.Fprintln(w, "\t\t\t\t\t\t\t\t\t")
			}
		}
		ns, ratio := result.NsPerKey, result.Ratio
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t(%s–%s)\t%.1f\t", filter, hits, result.Path, three(ns.Median), three(ns.P10), three(ns.P90), result.MkeysPerS)
		switch result.Path {
		case plainLoop:
			fmt.Fprintf(w, "\t\t%s\t", three(result.Loads.Median))
		case randomLoads:
			fmt.Fprint(w, "\t\t\t")
		default:
			fmt.Fprintf(w, "%s\t(%s–%s)\t%s\t", three(ratio.Median), three(ratio.P10), three(ratio.P90), three(result.Loads.Median))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	for line := range bytes.Lines(table.Bytes()) {
		fmt.Fprintf(out, "%s\n", bytes.TrimRight(line, " \n"))
	}
	fmt.Fprintf(out, "\nMedians of %d rounds or more of %s keys, all paths in turn; in parentheses the first and last decile.\n",
		r.leastRounds(), humanize.Comma(queries))
	fmt.Fprintln(out, "A random load reads one byte of the filter: the cost of memory. The last column says how many of them take as long as a key.")
}

func (r benchReport) leastRounds() int {
	least := r.Results[0].Rounds
	for _, result := range r.Results {
		least = min(least, result.Rounds)
	}
	return least
}

// sizeWords writes a number of bytes with three significant digits.
func sizeWords(n int) string {
	value, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB"}
	for value >= 1000 && len(units) > 1 {
		value, units = value/1024, units[1:]
	}
	return fmt.Sprintf("%.3g %s", value, units[0])
}

// three writes a number with three significant digits.
func three(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// write writes the files that the flags ask for.
func (b *benchCommand) write(s *streams, r benchReport) error {
	if b.JSON != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := writeFile(s, b.JSON, append(text, '\n')); err != nil {
			return err
		}
	}
	if b.Plot == "" {
		return nil
	}
	drawing, err := benchPlot(r)
	if err != nil {
		return err
	}
	return writeFile(s, b.Plot, drawing)
}
