package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// keysOfREADME is the number of keys of README.md's filters.
const keysOfREADME = 1_000_000

// shown is a library that README.md shows: the call, and its names.
type shown struct {
	library string
	call    string
	bytes   string // what its filters are
	cell    string // in the table, which leaves it out if it is empty
	label   string // in the picture, which leaves it out if it is empty
}

// own says if it is this library, whose kernel may be chosen.
func (s shown) own() bool { return strings.HasPrefix(s.library, "lanebloom") }

// rowsOfREADME lists what README.md shows, this library first. docs/benchmarks.md has all libraries.
var rowsOfREADME = []shown{
	{"lanebloom, RocksDB", atOnce, "RocksDB", "**`RocksDB`, a column**", "lanebloom, column"},
	{"lanebloom, RocksDB", keyByKey, "RocksDB", "**`RocksDB`, key by key**", "lanebloom, 1 key"},
	{"lanebloom, Parquet", atOnce, "Parquet", "**`Parquet`, a column**", ""},
	{"C++ RocksDB", atOnce, "RocksDB", "C++ RocksDB, 32 keys at once", "C++ RocksDB"},
	{"goleveldb", keyByKey, "LevelDB", "goleveldb", "goleveldb"},
	{"parquet-go", keyByKey, "Parquet", "parquet-go", "parquet-go"},
	{"blobloom", keyByKey, "its own", "", "blobloom"},
	{"bits-and-blooms", keyByKey, "its own", "bits-and-blooms", "bits-and-blooms"},
	{"BinaryFuse8", keyByKey, "its own", "BinaryFuse8 (no adds)", "BinaryFuse8"},
}

// cpusOfREADME returns the CPU with AVX-512, and that without it.
func cpusOfREADME(files []*file) (with, without cpu, err error) {
	cpus := withAndWithout(runsOf(files, "libraries"))
	if len(cpus) < 2 {
		return with, without, fmt.Errorf("the libraries were compared on no CPU with AVX-512")
	}
	return cpus[0], cpus[1], nil
}

// figuresOf returns what README.md shows of a library: its figures of absent and of present keys.
func (c cpu) figuresOf(s shown, kind string) (absent, present figure, err error) {
	library := s.library
	if s.own() && c.byKernel() {
		library += ", " + c.kernel
	}
	library += "/call=" + s.call
	if absent, err = c.find(nameOfLibrary(keysOfREADME, kind, library, "absent")); err == nil {
		present, err = c.find(nameOfLibrary(keysOfREADME, kind, library, "present"))
	}
	return absent, present, err
}

// readmeTable has the times of absent and present keys.
func readmeTable(code string, files []*file, _ string) (string, error) {
	with, without, err := cpusOfREADME(files)
	if err != nil {
		return "", err
	}
	cpus := []cpu{with, without}
	head := []string{"", "<format", "false positives"}
	for _, c := range cpus {
		name := c.words()
		if without.byKernel() { // one CPU, which the line below the table names
			name = kernelWords[c.kernel]
		}
		head = append(head, "integers, "+name, "strings, "+name)
	}
	t := race.NewTable(head...)
	for _, s := range rowsOfREADME {
		if s.cell == "" {
			continue
		}
		row := []string{s.cell, s.bytes, ""}
		for _, c := range cpus {
			for _, kind := range []string{integers, texts} {
				absent, present, err := c.figuresOf(s, kind)
				if err != nil {
					return "", err
				}
				times := digits(absent.Ns) + ", " + digits(present.Ns)
				if c.byKernel() && !s.own() {
					times = "the same"
				}
				row = append(row, times)
				if row[2] == "" {
					row[2] = percent(absent.Rate)
				}
			}
		}
		t.Row(row...)
	}
	sources := with.source(code)
	if !without.byKernel() {
		sources += "; " + without.source(code)
	}
	return t.String() + "\n" + sources + ".\n", nil
}

// chartWords is the sentence below the picture.
func chartWords(_ string, files []*file, _ string) (string, error) {
	with, without, err := cpusOfREADME(files)
	if err != nil {
		return "", err
	}
	of := func(c cpu) string {
		_, family, _ := strings.Cut(c.Config["cpu"], " (") // a virtual machine may have a name of its own before it
		return c.name + " (" + family
	}
	const others = "[Which CPU is like yours?](docs/measurements/README.md)\n"
	if without.byKernel() {
		return fmt.Sprintf("Measured on one CPU, %s. The bottom bars are the same CPU restricted to AVX2. %s", of(with), others), nil
	}
	return fmt.Sprintf("CPUs: %s; without AVX-512, %s. %s", of(with), of(without), others), nil
}

//go:embed readme.svg
var picture string

// Lengths in the picture. It is as wide as a page of GitHub on a telephone of 360 points, and so has text of its size.
const (
	width      = 328
	labelEnd   = 156
	barStart   = 162
	longestBar = width - barStart - 78 // leaves room for two numbers
	firstPanel = 62
	panelHead  = 24
	barHeight  = 24
	panelGap   = 10
)

// panel has the bars of a CPU.
type panel struct {
	Title string
	Y     int
	Bars  []*bar
}

// bar is a library's two bars in the picture, and where they lie.
type bar struct {
	Label, Numbers    string
	Own               bool
	Y, Top, Below     int     // of the text, and of the bars
	Integers, Strings float64 // lengths
	integers, strings float64 // nanoseconds
	End               float64
}

// readmePicture returns the picture of README.md, as SVG: for each library two bars, as long as its test of an absent integer and of
// an absent string take. Where a CPU stands for another by a kernel, only the bars of this library differ, and are drawn.
func readmePicture(files []*file) (string, error) {
	with, without, err := cpusOfREADME(files)
	if err != nil {
		return "", err
	}
	var panels []panel
	longest, y := 0.0, firstPanel
	for _, c := range []cpu{with, without} {
		p := panel{Title: c.words(), Y: y}
		for _, s := range rowsOfREADME {
			if s.label == "" || c.byKernel() && !s.own() {
				continue
			}
			ints, _, err := c.figuresOf(s, integers)
			if err != nil {
				return "", err
			}
			strs, _, err := c.figuresOf(s, texts)
			if err != nil {
				return "", err
			}
			longest = max(longest, ints.Ns, strs.Ns)
			p.Bars = append(p.Bars, &bar{Label: s.label, Numbers: digits(ints.Ns) + ", " + digits(strs.Ns), Own: s.own(), integers: ints.Ns, strings: strs.Ns})
		}
		slices.SortStableFunc(p.Bars, func(a, b *bar) int { return cmp.Compare(a.integers, b.integers) })
		y += panelHead
		for _, b := range p.Bars {
			b.Y, b.Top, b.Below = y, y-13, y-4
			y += barHeight
		}
		y += panelGap
		panels = append(panels, p)
	}
	for _, p := range panels {
		for _, b := range p.Bars {
			b.Integers, b.Strings = b.integers/longest*longestBar, b.strings/longest*longestBar
			b.End = barStart + max(b.Integers, b.Strings) + 6
		}
	}
	var out strings.Builder
	err = template.Must(template.New("").Parse(picture)).Execute(&out, map[string]any{
		"Panels": panels, "Keys": race.Thousands(keysOfREADME), "Width": width, "Height": y - panelGap, "LabelEnd": labelEnd, "BarStart": barStart,
	})
	return out.String(), err
}
