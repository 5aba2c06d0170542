package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
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
	Rounds int `default:"200" placeholder:"N" help:"Rounds of timing (${default})."`
}

func (d *demoCommand) Run(s *streams) error {
	if d.Rounds < 1 {
		return fmt.Errorf("--rounds must be at least 1, and not %d", d.Rounds)
	}
	known, err := words(knownWords)
	if err != nil {
		return fmt.Errorf("known words: %w", err)
	}
	stream, err := words(streamWords)
	if err != nil {
		return fmt.Errorf("stream of words: %w", err)
	}
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	encoded := policy.AppendFilter(nil, bloom.Bytes(known))
	filter, err := bloom.Open(policy.Format, encoded)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.out) // keeps the first error
	fmt.Fprintf(out, "Built a filter of %s words: the %s bytes that LevelDB would write,\n", comma(len(known)), comma(len(encoded)))
	fmt.Fprintf(out, "%d bits per key, with the SHA-256 sum %.8x…\n", policy.BitsPerKey, sha256.Sum256(encoded))

	a, err := check(filter, encoded, known, stream)
	if err != nil {
		return err
	}
	absent := len(stream) - a.present
	fmt.Fprintf(out, "Asked it for %s words:\n", comma(len(stream)))
	fmt.Fprintf(out, "%9s words of the filter pass: all of them\n", comma(a.present))
	fmt.Fprintf(out, "%9s other words pass: %.3f %% of %s, and %.3f %% are expected\n",
		comma(a.passed-a.present), 100*float64(a.passed-a.present)/float64(absent), comma(absent), 100*policy.FalsePositiveRate(len(known)))
	fmt.Fprintln(out, "Proved: each answer is that of the plain reading of LevelDB's format.")

	if err := out.Flush(); err != nil {
		return err
	}
	t := d.time(s, filter, encoded, stream)
	fmt.Fprintf(out, "Speed on one core (%s/%s, %s, kernel %v), median of %d rounds in turn:\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), filter.Kernel(), d.Rounds)
	fmt.Fprintf(out, "  a key at a time   %6.1f M keys/s, in the plain loop\n", t.reference/1e6)
	fmt.Fprintf(out, "  a column at once  %6.1f M keys/s, %.1f times as fast\n", t.batch/1e6, t.ratio)
	name := commandName()
	fmt.Fprintf(out, "Try next: %s explore   (type a key, and see its bits)\n", name)
	fmt.Fprintf(out, "          %s bench     (other sizes and shares of present keys on this CPU)\n", name)
	return out.Flush()
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
func words(compressed []byte) ([][]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	list, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return bytes.Split(bytes.TrimSuffix(list, []byte("\n")), []byte("\n")), nil
}

// counts is the numbers of a filter's answers for a stream.
type counts struct {
	passed  int // lines the filter let pass
	present int // those that are known
}

// check filters a stream, and compares the answers with the exact answers and with the
// reference. It returns an error if a known word is missing or an answer differs.
func check(filter *bloom.Filter, encoded []byte, known, stream [][]byte) (a counts, err error) {
	exact := make(map[string]bool, len(known))
	for _, word := range known {
		exact[string(word)] = true
	}
	hits := make([]uint64, (len(stream)+63)/64)
	a.passed = filter.MayContainBatch(bloom.Bytes(stream), hits)
	for i, word := range stream {
		yes := hits[i/64]>>(i%64)&1 != 0
		if exact[string(word)] {
			a.present++
			if !yes {
				return a, fmt.Errorf("false negative: %q is known, and the filter says it is not", word)
			}
		}
		if yes != bloom.Reference(bloom.LevelDB, encoded, word) {
			return a, fmt.Errorf("kernel %v answers %v for %q, the reference does not", filter.Kernel(), yes, word)
		}
	}
	return a, nil
}

// speeds are medians: keys per second, and how many times faster the batch was
// in the same round.
type speeds struct{ reference, batch, ratio float64 }

// time runs the plain loop and the batch path in turn. A round takes a part of
// the stream, a different one each time.
func (d *demoCommand) time(s *streams, filter *bloom.Filter, encoded []byte, stream [][]byte) speeds {
	const part = 1 << 16
	progress, done := bar(s, "timing", int64(d.Rounds))
	defer done()
	hits := make([]uint64, part/64)
	var reference, batch, ratio []float64
	for round := range d.Rounds {
		from := round * part % (len(stream) - part)
		keys := stream[from : from+part]
		t0 := time.Now()
		for i, key := range keys {
			if bloom.Reference(bloom.LevelDB, encoded, key) {
				hits[i/64] |= 1 << (i % 64)
			}
		}
		t1 := time.Now()
		filter.MayContainBatch(bloom.Bytes(keys), hits)
		t2 := time.Now()
		reference = append(reference, part/t1.Sub(t0).Seconds())
		batch = append(batch, part/t2.Sub(t1).Seconds())
		ratio = append(ratio, float64(t1.Sub(t0))/float64(t2.Sub(t1)))
		progress(1)
	}
	return speeds{median(reference), median(batch), median(ratio)}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
