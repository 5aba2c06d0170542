package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
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
	fmt.Fprintf(out, "Known: %s words, in a filter of %s bytes as LevelDB would write it\n       (%s, %d bits per key, SHA-256 %.8x…).\n",
		comma(len(known)), comma(len(encoded)), policy.Name(), policy.BitsPerKey, sha256.Sum256(encoded))

	a, err := check(filter, encoded, known, stream)
	if err != nil {
		return err
	}
	absent := len(stream) - a.present
	fmt.Fprintf(out, "Stream: %s words. The filter lets %s of them pass:\n", comma(len(stream)), comma(a.passed))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\tknown words: all of them, so no false negative\t\n", comma(a.present))
	fmt.Fprintf(w, "\t%s\tother words: %.3f %% of the %s unknown words\t\n", comma(a.passed-a.present), 100*float64(a.passed-a.present)/float64(absent), comma(absent))
	w.Flush()
	fmt.Fprintf(out, "With random hashes: %.3f %% for this filter, %.3f %% expected for its size (docs/false-positives.md).\n",
		100*filter.Stats().FalsePositiveRate, 100*policy.FalsePositiveRate(len(known)))

	if err := out.Flush(); err != nil {
		return err
	}
	t := d.time(s, filter, encoded, stream)
	fmt.Fprintf(out, "Speed, one core of this machine (%s/%s, %s), median of %d rounds in turn:\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), d.Rounds)
	fmt.Fprintf(out, "  plain loop   %6.1f M keys/s\n", t.reference/1e6)
	fmt.Fprintf(out, "  batch        %6.1f M keys/s, %.1f times as fast (kernel %v)\n", t.batch/1e6, t.ratio, filter.Kernel())
	return out.Flush()
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
