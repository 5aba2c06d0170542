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

// The calls of a library, and the number of keys of README.md's filters.
const (
	keyByKey, atOnce = "key by key", "at once"
	keysOfREADME     = 1_000_000
)

// compared has the figures of a library with one kind of calls, in filters of some keys. Some calls do not build, and others
// only build.
type compared struct{ rate, absent, present, build float64 }

func (r run) compared(keys int, library, call string) (c compared) {
	at := fmt.Sprintf("libraries/keys=%d/library=%s", keys, library)
	of := func(name string) figure {
		f, _ := r.find(name) // what was not measured is 0
		return f
	}
	c.rate = of(at).Rate
	for job, to := range map[string]*float64{"absent": &c.absent, "present": &c.present, "build": &c.build} {
		*to = of(at + "/call=" + call + "/job=" + job).Ns
	}
	return c
}

// leftOut are rows like others: the table has single keys of the default alone.
var leftOut = map[string]bool{
	"lanebloom, LevelDB, key by key": true, "lanebloom, Parquet, key by key": true, "lanebloom, Pebble, key by key": true,
	"lanebloom, BitsAndBlooms, key by key": true, "lanebloom, Pebble, at once": true, "C++ RocksDB before 5, at once": true,
}

// librariesTable has all other libraries, by the numbers of keys.
func librariesTable(r run) (string, error) {
	sizes := []int{10_000, keysOfREADME}
	g := newGrid("", "false positives", "absent", "present", "build")
	for _, library := range r.values("library") {
		for _, call := range []string{keyByKey, atOnce} {
			if leftOut[library+", "+call] || r.compared(sizes[0], library, call).absent == 0 {
				continue
			}
			var rates []string
			var cells [3][]string
			for _, keys := range sizes {
				c := r.compared(keys, library, call)
				rates = append(rates, strings.TrimSuffix(percent(c.rate), " %"))
				for j, ns := range []float64{c.absent, c.present, c.build} {
					if ns > 0 {
						cells[j] = append(cells[j], digits(ns))
					}
				}
			}
			g.Row(library+", "+call, strings.Join(rates, ", ")+" %", strings.Join(cells[0], ", "), strings.Join(cells[1], ", "), strings.Join(cells[2], ", "))
		}
	}
	return g.text()
}

// shown is a library that README.md shows: the calls that test and build, and its names.
type shown struct {
	library     string
	test, build string
	bytes       string // what its filters are
	cell        string // in the table
	label       string // in the picture, which leaves it out if it is empty
}

// rowsOfREADME lists what README.md shows, this library first.
var rowsOfREADME = []shown{
	{"lanebloom, RocksDB", atOnce, atOnce, "RocksDB", "**`RocksDB`, a column**", "lanebloom, column"},
	{"lanebloom, RocksDB", keyByKey, keyByKey, "RocksDB", "**`RocksDB`, key by key**", "lanebloom, 1 key"},
	{"lanebloom, LevelDB", atOnce, atOnce, "LevelDB", "**`LevelDB`, a column**", ""},
	{"lanebloom, Parquet", atOnce, atOnce, "Parquet", "**`Parquet`, a column**", ""},
	{"C++ RocksDB", atOnce, atOnce, "RocksDB", "C++ RocksDB, 32 keys at once", "C++ RocksDB"},
	{"goleveldb", keyByKey, keyByKey, "LevelDB", "goleveldb", "goleveldb"},
	{"Pebble", keyByKey, keyByKey, "older RocksDB", "Pebble", ""},
	{"parquet-go", keyByKey, atOnce, "Parquet", "parquet-go", "parquet-go"},
	{"blobloom", keyByKey, keyByKey, "its own", "blobloom", "blobloom"},
	{"bits-and-blooms", keyByKey, keyByKey, "its own", "bits-and-blooms", "bits-and-blooms"},
	{"BinaryFuse8", keyByKey, atOnce, "its own", "BinaryFuse8 (9 bits, no adds)", "BinaryFuse8"},
}

// figuresOf returns what README.md shows of a library.
func (r run) figuresOf(s shown) (c compared, err error) {
	c, built := r.compared(keysOfREADME, s.library, s.test), r.compared(keysOfREADME, s.library, s.build)
	if c.build = built.build; c.absent == 0 || c.present == 0 || c.build == 0 {
		err = fmt.Errorf("there are no times of %s with %d keys", s.library, keysOfREADME)
	}
	return c, err
}

func readmeTable(r run) (string, error) {
	g := newGrid("", "<bytes of", "false positives", "absent", "present", "build")
	for _, s := range rowsOfREADME {
		c, err := r.figuresOf(s)
		if err != nil {
			return "", err
		}
		g.Row(s.cell, s.bytes, percent(c.rate), digits(c.absent), digits(c.present), digits(c.build))
	}
	return g.text()
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
	Ns            float64
	Own           bool
	Y, Top        int // of the text, of the bar
	Width, End    float64
}

// readmePicture returns the picture of README.md, as SVG: a bar for each library, as long as its test of an
// absent key takes.
func readmePicture(r run) (string, error) {
	var bars []bar
	for _, s := range rowsOfREADME {
		if s.label == "" {
			continue
		}
		c, err := r.figuresOf(s)
		if err != nil {
			return "", err
		}
		bars = append(bars, bar{Label: s.label, Number: digits(c.absent), Ns: c.absent, Own: strings.HasPrefix(s.library, "lanebloom")})
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.Ns, b.Ns) })
	longest := bars[len(bars)-1].Ns
	for i := range bars {
		b := &bars[i]
		b.Y = firstBar + i*barHeight
		b.Top = b.Y - 13
		b.Width = b.Ns / longest * longestBar
		b.End = barStart + b.Width + 6
	}
	footer := firstBar + len(bars)*barHeight + 4
	var out strings.Builder
	err := template.Must(template.New("").Parse(picture)).Execute(&out, map[string]any{
		"Bars": bars, "Keys": race.Thousands(keysOfREADME), "CPU": r.Config["cpu"], "Kernel": r.Config["kernel"],
		"Width": width, "Height": footer + 8, "Footer": footer, "LabelEnd": labelEnd, "BarStart": barStart,
	})
	return out.String(), err
}
