package main

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// TestReport wants a cell for every way in every table of a report, and reads them as --compare does.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make prove/long runs it")
	}
	name := filepath.Join(t.TempDir(), "report.md")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	short := time.Millisecond
	b := benchCommand{Report: true, Format: "leveldb", Sizes: []string{"1KiB", "2KiB"}, BitsPerKey: 10, Time: &short}
	if err := b.Run(&streams{os.Stdin, file, os.Stderr}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	about, cells := readReport(string(text))
	if len(about) != 3 || !strings.HasPrefix(about[1], "version bloom ") || !strings.HasPrefix(about[2], "load ") {
		t.Errorf("the report is of %q", about)
	}
	got := map[string]int{}
	for _, cell := range cells {
		parts := strings.Split(cell.place, ", ")
		got[strings.Join(slices.Delete(parts, 2, 3), ", ")]++ // without the size, which a format may round up
		if v := cell.value; !(0 < v.P10 && v.P10 <= v.Median && v.Median <= v.P90) {
			t.Errorf("%s is %+v", cell.place, v)
		}
		if cell.isTime != (cell.way == plainLoop || cell.way == randomLoads) {
			t.Errorf("%s: is it a time? %v", cell.place, cell.isTime)
		}
	}
	want := map[string]int{}
	testWays := []string{plainLoop, oneKey}
	for _, kernel := range bloom.Kernels() {
		testWays = append(testWays, kernel.String())
	}
	for _, keys := range []string{"integers", "byte slices of 8 to 32 bytes"} {
		for _, format := range formats {
			if format == bloom.NoriCrate {
				continue
			}
			for _, way := range append(testWays, randomLoads) {
				for _, hits := range []int{0, 100} {
					want[fmt.Sprintf("Testing %s, %v, %d %%, %s", keys, format, hits, way)] = 2
				}
			}
			for _, way := range []string{plainLoop, oneKey, "AddBatch", "TestAndAddBatch", "NewFilter"} {
				want[fmt.Sprintf("Adding %s, %v, %s", keys, format, way)] = 2
			}
		}
	}
	for place, n := range want {
		if got[place] != n {
			t.Errorf("%d cells of %s, want %d", got[place], place, n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d kinds of cells, want %d", len(got), len(want))
	}
}

// TestBuilds wants the plain loop to find all keys, and TestAndAddBatch hardly one.
func TestBuilds(t *testing.T) {
	for _, format := range reportedFormats {
		for _, keys := range reportedKeys {
			source := randomSource{format: format, from: keys.from, to: keys.to}
			const n = 1000
			paths, err := source.builds(n, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range paths {
				hits := make([]uint64, (n+63)/64)
				p.run(hits)
				found := 0
				for _, word := range hits {
					found += bits.OnesCount64(word)
				}
				if p.name == plainLoop && found != n || p.name == "TestAndAddBatch" && found > 20 {
					t.Errorf("%v, %s: %s finds %d keys of %d", format, keys.words, p.name, found, n)
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
