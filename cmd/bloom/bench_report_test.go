package main

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// reportOf returns what a report prints on its standard streams.
func reportOf(t *testing.T, ctx context.Context, b benchCommand) (out, said string, err error) {
	t.Helper()
	var text [2]string
	var files [2]*os.File
	for i := range files {
		if files[i], err = os.Create(filepath.Join(t.TempDir(), "stream")); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	reported := b.report(ctx, &cli.Streams{In: os.Stdin, Out: files[0], Err: files[1], Program: "bloom"}, bloom.Default)
	for i := range files {
		read, err := os.ReadFile(files[i].Name())
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(read)
	}
	return text[0], text[1], reported
}

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+)\t(\d+)\t([0-9.]+) ns/key(?:\t([0-9.]+) x-ref\t([0-9.]+) x-p10\t([0-9.]+) x-p90|\t([0-9.]+) ns/key-p10\t([0-9.]+) ns/key-p90)$`)

// TestReport wants a line for every way of every workload.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make prove/long runs it")
	}
	b := benchCommand{Sizes: []string{"1KiB", "2KiB"}, Hits: []int{0, 100}, BitsPerKey: 10, Time: time.Millisecond}
	text, said, err := reportOf(t, t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(said, " left; measuring "); n != 2*len(reportedFormats) {
		t.Errorf("it says %d times how long it takes:\n%s", n, said)
	}
	got := map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := benchmarkLine.FindStringSubmatch(line)
		if m == nil {
			if !regexp.MustCompile(`^[a-z][a-z-]*: .`).MatchString(line) {
				t.Errorf("Go's benchmark format has no line %q", line)
			}
			continue
		}
		var numbers []float64
		for _, digits := range m[2:] {
			if digits != "" {
				n, err := strconv.ParseFloat(digits, 64)
				if err != nil {
					t.Error(err)
				}
				numbers = append(numbers, n)
			}
		}
		if rounds, ns, low, high := numbers[0], numbers[1], numbers[len(numbers)-2], numbers[len(numbers)-1]; rounds < minRounds || ns <= 0 || low <= 0 || low > high {
			t.Errorf("%q has the numbers %v", line, numbers)
		}
		if isTime := m[4] == ""; isTime != (strings.HasSuffix(m[1], "way=plain-loop") || strings.HasSuffix(m[1], "way=random-load")) {
			t.Errorf("%q: are its deciles those of times? %v", line, isTime)
		}
		got[regexp.MustCompile(`/filter=[0-9.]+[A-Z]iB`).ReplaceAllString(m[1], "")]++ // a format may round the size up
	}
	want := map[string]bool{}
	for _, format := range reportedFormats {
		for _, keys := range []string{"uint64", "8-32"} {
			ways := []string{"plain-loop", "one-key", "random-load"}
			for _, kernel := range bloom.Kernels() {
				ways = append(ways, kernel.String())
			}
			for _, way := range ways {
				for _, hits := range b.Hits {
					want[fmt.Sprintf("Test/keys=%s/format=%v/hits=%d%%/way=%s", keys, format, hits, way)] = true
				}
			}
			for _, way := range []string{"plain-loop", "one-key", "AddBatch", "TestAndAddBatch", "NewFilter"} {
				want[fmt.Sprintf("Add/keys=%s/format=%v/way=%s", keys, format, way)] = true
			}
		}
	}
	for name := range want {
		if got[name] != 2 {
			t.Errorf("%d lines of %s, want 2", got[name], name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d kinds of lines, want %d", len(got), len(want))
	}
}

// TestTimeLeft wants the time that is left, and more if the first sources took longer.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		passed, total time.Duration
		done, want    int // want in seconds
	}{{0, 80 * time.Second, 0, 80}, {20 * time.Second, 80 * time.Second, 2, 60}, {60 * time.Second, 80 * time.Second, 2, 180}, {90 * time.Second, 80 * time.Second, 7, 13}} {
		if got := timeLeft(c.passed, c.total, c.done, 8); got != time.Duration(c.want)*time.Second {
			t.Errorf("%v of %v, %d of 8: %v are left, want %d s", c.passed, c.total, c.done, got, c.want)
		}
	}
}

// TestReportOfOneFormat wants no line of another format, and the keys that were asked for.
func TestReportOfOneFormat(t *testing.T) {
	text, _, err := reportOf(t, t.Context(), benchCommand{Format: &cli.Format{Format: bloom.RocksDB}, Keys: []string{"16"}, Sizes: []string{"1KiB"}, Hits: []int{50}, BitsPerKey: 10, Time: time.Millisecond})
	if all, of := strings.Count(text, "\nBenchmark"), strings.Count(text, "/keys=16/format=rocksdb/filter=1KiB/"); err != nil || all == 0 || all != of {
		t.Errorf("%d of %d lines, %v", of, all, err)
	}
}

// TestInterruptedReport wants what was measured, and an error.
func TestInterruptedReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text, _, err := reportOf(t, ctx, benchCommand{Hits: []int{0}, BitsPerKey: 10})
	if err == nil || !strings.HasPrefix(err.Error(), "interrupted after 0 of ") || strings.Contains(text, "Benchmark") {
		t.Errorf("%v, and\n%s", err, text)
	}
}

// TestAdds wants the plain loop to find all keys, and TestAndAddBatch hardly one.
func TestAdds(t *testing.T) {
	for _, format := range reportedFormats {
		sources, err := (&benchCommand{Keys: []string{"8", "16", "8-32"}}).randomSources(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			added, err := source.adds(1250, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range added.paths {
				hits := make([]uint64, (added.n+63)/64)
				p.run(hits)
				found := 0
				for _, word := range hits {
					found += bits.OnesCount64(word)
				}
				if p.name == plainLoop && found != added.n || p.name == "TestAndAddBatch" && found > 20 {
					t.Errorf("%v, %s: %s finds %d keys of %d", format, source.name, p.name, found, added.n)
				}
			}
		}
	}
}

func TestLoadWords(t *testing.T) {
	for text, want := range map[string]string{
		"0.05 0.10 0.20 1/99 1234\n": "0.05 when it began",
		"2.15 1.0 0.5 3/99 1234\n":   "2.15 when it began: **the machine was busy**; measure again when it is idle",
		"":                           "unknown: measure on an idle machine",
	} {
		if got := loadWords(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
