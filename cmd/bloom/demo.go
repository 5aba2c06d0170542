package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/stopwatch"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// Word lists of SCOWL, whose licence is words/LICENSE. Debian ships them as
// wamerican and wamerican-insane.
var (
	//go:embed words/known.txt.gz
	knownWords []byte
	//go:embed words/stream.txt.gz
	streamWords []byte
)

type demoCommand struct {
	Rounds int `default:"200" placeholder:"N" help:"Number of timing rounds (default ${default})."`
}

func (d *demoCommand) Run(s *cli.Streams) error {
	if d.Rounds < 1 {
		return fmt.Errorf("--rounds must be at least 1, not %d", d.Rounds)
	}
	known, err := words(knownWords)
	if err != nil {
		return fmt.Errorf("known words: %w", err)
	}
	stream, err := words(streamWords)
	if err != nil {
		return fmt.Errorf("stream of words: %w", err)
	}
	formats := []bloom.Format{bloom.Default, bloom.LevelDB} // the first is the one to take
	shown := make([]*shownFilter, len(formats))
	for i, format := range formats {
		if shown[i], err = newShownFilter(format, known, stream); err != nil {
			return err
		}
	}
	var clock stopwatch.Watch
	d.time(s, &clock, shown, stream)
	out := bufio.NewWriter(s.Out) // keeps the first error
	fmt.Fprintf(out, "Two filters of %s words, %d bits per key, each queried for %s words:\n\n", comma(len(known)), demoBitsPerKey, comma(len(stream)))
	printShown(out, shown, len(stream)-shown[0].present)
	fmt.Fprintf(out, "\nVerified: every answer equals the answer of the reference.\n")
	fmt.Fprintf(out, "Bound by: %s\n", shown[0].bound())
	fmt.Fprintf(out, "Speed: one core, %s/%s, %s, %v; medians of %d rounds in turn.\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), shown[0].filter.Kernel(), d.Rounds)
	fmt.Fprint(out, clock.Busy())
	fmt.Fprintf(out, "If no storage engine reads the filter, choose the format %v.\n", bloom.Default)
	name := commandName()
	fmt.Fprintf(out, "Try next: %s explore   (type a key, and see its bits)\n", name)
	fmt.Fprintf(out, "          %s bench     (other sizes and shares of present keys on this CPU)\n", name)
	return out.Flush()
}

const demoBitsPerKey = 10

// shownFilter is a filter of the known words, and what the demo shows of it.
type shownFilter struct {
	counts
	policy   bloom.Policy
	filter   *bloom.Filter
	encoded  []byte
	expected float64 // rate
	speeds   speeds
}

// newShownFilter builds a filter and checks its answers for a stream.
func newShownFilter(format bloom.Format, known, stream []string) (f *shownFilter, err error) {
	f = &shownFilter{policy: bloom.Policy{Format: format, BitsPerKey: demoBitsPerKey}}
	f.encoded = f.policy.AppendFilter(nil, bloom.Strings(known))
	f.expected = f.policy.FalsePositiveRate(len(known))
	if f.filter, err = bloom.Open(format, f.encoded); err != nil {
		return nil, err
	}
	f.counts, err = check(f.filter, f.encoded, known, stream)
	return f, err
}

// printShown prints a column for each filter.
func printShown(out io.Writer, shown []*shownFilter, absent int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, value func(f *shownFilter) string, note string) {
		fmt.Fprintf(w, "%-32s", name)
		for _, f := range shown {
			fmt.Fprintf(w, "\t%s", value(f))
		}
		fmt.Fprintf(w, "\t%s\n", note)
	}
	ns := func(name string, value func(s speeds) float64, note string) {
		row(name, func(f *shownFilter) string { return three(value(f.speeds)) }, note)
	}
	row("", func(f *shownFilter) string { return f.policy.Format.String() }, "")
	row("bytes, as the engine writes them", func(f *shownFilter) string { return comma(len(f.encoded)) }, "")
	row("SHA-256 sum", func(f *shownFilter) string { return fmt.Sprintf("%.4x…", sha256.Sum256(f.encoded)) }, "")
	row("words of the filter that are hits", func(f *shownFilter) string { return comma(f.present) }, "  all of them")
	row("other words that are hits", func(f *shownFilter) string { return comma(f.passed - f.present) }, "  of "+comma(absent))
	row("  in percent", func(f *shownFilter) string {
		return fmt.Sprintf("%.3f", 100*float64(f.passed-f.present)/float64(absent))
	}, "")
	row("  expected", func(f *shownFilter) string { return fmt.Sprintf("%.3f", 100*f.expected) }, "")
	ns("ns a word, one after the other", func(s speeds) float64 { return s.plain }, "  the plain loop")
	ns("ns a word, a column at once", func(s speeds) float64 { return s.words }, "")
	row("  times as fast", func(f *shownFilter) string { return fmt.Sprintf("%.1f", f.speeds.ratio) }, "")
	ns("  to hash it", func(s speeds) float64 { return s.hash() }, "")
	ns("  to test its bits", func(s speeds) float64 { return s.test }, "")
	ns("ns an integer, a column at once", func(s speeds) float64 { return s.integers }, "")
	w.Flush()
}

// bound says what takes the time of a column of words.
func (f *shownFilter) bound() string {
	share := 100 * f.speeds.hash() / f.speeds.words
	if share < 50 {
		return fmt.Sprintf("the bits. Testing them takes %.0f %% of the time of a word of %v; hashing the word takes the rest.", 100-share, f.policy.Format)
	}
	return fmt.Sprintf("the hash. It takes %.0f %% of the time of a word of %v, because words vary in length; an integer always has 8 bytes.", share, f.policy.Format)
}

// commandName is how the user can run this program once more: go run leaves no program behind.
func commandName() string {
	if path, err := os.Executable(); err == nil && strings.Contains(path, "go-build") {
		return "go run ./cmd/bloom"
	}
	return "bloom"
}

func comma(n int) string { return humanize.Comma(int64(n)) }

// words returns the lines of a compressed list.
func words(compressed []byte) ([]string, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	list, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(list), "\n"), "\n"), nil
}

// counts has the numbers of a filter's answers for a stream.
type counts struct {
	passed  int // lines the filter let pass
	present int // those that are known
}

// check filters a stream, and compares the answers with the exact answers and with the
// reference. It returns an error if a known word is missing or an answer differs.
func check(filter *bloom.Filter, encoded []byte, known, stream []string) (a counts, err error) {
	exact := make(map[string]bool, len(known))
	for _, word := range known {
		exact[word] = true
	}
	hits := make([]uint64, (len(stream)+63)/64)
	a.passed = filter.MayContainBatch(bloom.Strings(stream), hits)
	for i, word := range stream {
		yes := hits[i/64]>>(i%64)&1 != 0
		if exact[word] {
			a.present++
			if !yes {
				return a, fmt.Errorf("false negative: %q is known, and the filter answers no", word)
			}
		}
		if yes != bloom.Reference(filter.Format(), encoded, []byte(word)) {
			return a, fmt.Errorf("kernel %v answers %v for %q, the reference does not", filter.Kernel(), yes, word)
		}
	}
	return a, nil
}

// speeds are medians of nanoseconds a key, and of how many times as fast a column of words was as the plain loop in the
// same round.
type speeds struct{ plain, words, test, integers, ratio float64 }

// hash is what is left of the time of a word without the test of its bits.
func (s speeds) hash() float64 { return max(0, s.words-s.test) }

// time runs the plain loop and the columns of each filter in turn. A round takes a part of the stream, a
// different one each time, and is short, so that other programs interrupt few of them.
func (d *demoCommand) time(s *cli.Streams, clock *stopwatch.Watch, shown []*shownFilter, stream []string) {
	const part = 1 << 15
	progress, done := s.Bar("timing", int64(d.Rounds))
	defer done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	hits, numbers := make([]uint64, part/64), make([]uint64, part)
	rounds := make([][5][]float64, len(shown))
	for round := range d.Rounds {
		from := round * part % (len(stream) - part)
		words := stream[from : from+part]
		keys := make([][]byte, part)
		for i, word := range words {
			keys[i], numbers[i] = []byte(word), rand.Uint64()
		}
		for i, f := range shown {
			hashed := bloom.Strings(words).Hashed(f.policy.Format)
			column := func(keys bloom.Keys) float64 {
				return float64(clock.Time(func() { f.filter.MayContainBatch(keys, hits) })) / part
			}
			plain := float64(clock.Time(func() { testPlainly(f.policy.Format, f.encoded, keys, hits) })) / part
			took := column(bloom.Strings(words))
			for j, value := range [...]float64{plain, took, column(hashed), column(bloom.Integers(numbers)), plain / took} {
				rounds[i][j] = append(rounds[i][j], value)
			}
		}
		progress(1)
	}
	for i, f := range shown {
		r := rounds[i]
		f.speeds = speeds{median(r[0]), median(r[1]), median(r[2]), median(r[3]), median(r[4])}
	}
}

func median(values []float64) float64 { return spreadOf(values).Median }
