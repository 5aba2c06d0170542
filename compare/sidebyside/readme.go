package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/template"
)

// shown is a library that README.md shows: the calls that test and build, and its names.
type shown struct {
	library     string
	test, build call
	bytes       string // what its filters are
	cell        string // in the table
	label       string // in the picture, which leaves it out if it is empty
}

// rowsOfREADME lists what README.md shows, this library first.
var rowsOfREADME = []shown{
	{"lanebloom, RocksDB", atOnce, atOnce, "RocksDB", "**`RocksDB`, a column**", "lanebloom, column"},
	{"lanebloom, RocksDB", keyByKey, keyByKey, "RocksDB", "**`RocksDB`, key by key**", "lanebloom, 1 key"},
	{"lanebloom", atOnce, atOnce, "LevelDB", "**`LevelDB`, a column**", ""},
	{"lanebloom, Parquet", atOnce, atOnce, "Parquet", "**`Parquet`, a column**", ""},
	{"C++ RocksDB", atOnce, atOnce, "RocksDB", "C++ RocksDB, 32 keys at once", "C++ RocksDB"},
	{"goleveldb", keyByKey, keyByKey, "LevelDB", "goleveldb", "goleveldb"},
	{"Pebble", keyByKey, keyByKey, "older RocksDB", "Pebble", ""},
	{"parquet-go", keyByKey, atOnce, "Parquet", "parquet-go", "parquet-go"},
	{"blobloom", keyByKey, keyByKey, "its own", "blobloom", "blobloom"},
	{"bits-and-blooms", keyByKey, keyByKey, "its own", "bits-and-blooms", "bits-and-blooms"},
	{"BinaryFuse8", keyByKey, atOnce, "its own", "BinaryFuse8 (9 bits, no adds)", "BinaryFuse8"},
}

// inREADME returns README.md, at a path, with the report's table in place of the one that it has.
func (r *report) inREADME(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	before, table, found := strings.Cut(string(text), captionOfREADME)
	_, table, hasRows := strings.Cut(table, "\n|---")
	_, after, ends := strings.Cut(table, "\n\n")
	if !found || !hasRows || !ends {
		return "", fmt.Errorf("%s: there is no table below %q", path, captionOfREADME)
	}
	return before + r.readmeTable() + "\n" + after, nil
}

// row returns the figures of a library with one kind of calls, which are empty if it has none.
func (s sizeReport) row(library string, c call) row {
	i := slices.IndexFunc(s.Rows, func(r row) bool { return r.Library == library && r.Call == c.String() })
	if i < 0 {
		return row{}
	}
	return s.Rows[i]
}

// captionOfREADME begins the text above the table.
const captionOfREADME = "Nanoseconds a key "

// readmeTable returns the table of README.md, for filters of the report's first size, and the text above it.
func (r *report) readmeTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, captionOfREADME+"on one core, for %s random 64-bit keys at %d bits per key:\n%s, %s, medians of %d rounds, "+
		"commit %s. \"A column\" is one call for many keys.\n\n| | bytes of | false positives | absent | present | build |\n|---|---|---:|---:|---:|---:|\n",
		thousands(r.Sizes[0].Keys), r.BitsPerKey, r.CPU, r.Kernel, r.Rounds, r.Commit)
	for _, s := range rowsOfREADME {
		test, build := r.Sizes[0].row(s.library, s.test), r.Sizes[0].row(s.library, s.build)
		fmt.Fprintf(&b, "| %s | %s | %.2f %% | %s | %s | %s |\n", s.cell, s.bytes, 100*test.FalsePositiveRate,
			short(test.Absent.NsPerKey), short(test.Present.NsPerKey), short(build.Build.NsPerKey))
	}
	return b.String()
}

// short writes a time with two digits, or all before the point.
func short(ns float64) string {
	if math.Round(ns*10) < 100 {
		return fmt.Sprintf("%.1f", ns)
	}
	return fmt.Sprintf("%.0f", ns)
}

//go:embed readme.svg
var picture string

// Lengths in the picture. It is as wide as a page of GitHub on a telephone of 360 points, and so has text of its size.
const (
	width      = 328
	labelEnd   = 160
	barStart   = 168
	longestBar = width - barStart - 40 // leaves room for a number
	firstBar   = 64
	barHeight  = 24
)

// bar is a bar of the picture, and where it lies.
type bar struct {
	Label, Number string
	NsPerKey      float64
	Own           bool
	Y, Top        int // of the text, of the bar
	Width, End    float64
}

// readmePicture returns the picture of README.md, as SVG: a bar for each library, as long as its test of an
// absent key takes.
func (r *report) readmePicture() (string, error) {
	var bars []bar
	for _, s := range rowsOfREADME {
		if s.label != "" {
			ns := r.Sizes[0].row(s.library, s.test).Absent.NsPerKey
			bars = append(bars, bar{Label: s.label, Number: short(ns), NsPerKey: ns, Own: strings.HasPrefix(s.library, "lanebloom")})
		}
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.NsPerKey, b.NsPerKey) })
	longest := bars[len(bars)-1].NsPerKey
	for i := range bars {
		b := &bars[i]
		b.Y = firstBar + i*barHeight
		b.Top = b.Y - 13
		b.Width = b.NsPerKey / longest * longestBar
		b.End = barStart + b.Width + 6
	}
	footer := firstBar + len(bars)*barHeight + 4
	var out strings.Builder
	err := template.Must(template.New("").Parse(picture)).Execute(&out, map[string]any{
		"Bars": bars, "Keys": thousands(r.Sizes[0].Keys), "CPU": r.CPU, "Kernel": r.Kernel,
		"Width": width, "Height": footer + 8, "Footer": footer, "LabelEnd": labelEnd, "BarStart": barStart,
	})
	return out.String(), err
}
