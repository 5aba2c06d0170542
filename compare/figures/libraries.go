package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// comparison is what sidebyside writes as JSON.
type comparison struct {
	CPU, Kernel string
	Sizes       []comparedSize
}

type comparedSize struct {
	Keys int
	Rows []compared
}

// compared has the figures of a library with one kind of calls. Some calls do not build, and others only build.
type compared struct {
	Library, Call          string
	FalsePositiveRate      float64
	Absent, Present, Build *timing
}

type timing struct {
	Ns float64 `json:"nsPerKey"`
}

// The calls of a library, and the number of keys of README.md's filters.
const (
	keyByKey, atOnce = "key by key", "at once"
	keysOfREADME     = 1_000_000
)

// compared returns what sidebyside has written, the smallest filters first.
func (r run) compared() (c comparison, err error) {
	if err := json.Unmarshal(r.Report, &c); err != nil {
		return c, err
	}
	if len(c.Sizes) == 0 {
		return c, fmt.Errorf("sidebyside has written no figures")
	}
	slices.SortFunc(c.Sizes, func(a, b comparedSize) int { return a.Keys - b.Keys })
	return c, nil
}

// leftOut are rows like others: the table has single keys of the default alone.
var leftOut = map[string]bool{
	"lanebloom, key by key": true, "lanebloom, Parquet, key by key": true, "lanebloom, Pebble, key by key": true,
	"lanebloom, Pebble, at once": true, "C++ RocksDB before 5, at once": true,
}

// librariesTable has all other libraries, by the numbers of keys.
func librariesTable(r run) (string, error) {
	c, err := r.compared()
	if err != nil {
		return "", err
	}
	g := newGrid("", "false positives", "absent", "present", "build")
	rows := c.Sizes[0].Rows
	order := make([]int, len(rows))
	for i := range rows {
		order[i] = i
	}
	isDefault := func(i int) bool { return rows[i].Library == "lanebloom, RocksDB" }
	slices.SortStableFunc(order, func(i, j int) int { return oneIf(isDefault(j)) - oneIf(isDefault(i)) })
	for _, i := range order {
		first := rows[i]
		if first.Absent == nil || leftOut[first.Library+", "+first.Call] {
			continue
		}
		name := first.Library + ", " + first.Call
		if first.Library == "lanebloom" {
			name = "lanebloom, LevelDB, " + first.Call
		}
		var rates []string
		var cells [3][]string
		for _, size := range c.Sizes {
			same := size.Rows[i]
			rates = append(rates, strings.TrimSuffix(percent(same.FalsePositiveRate), " %"))
			for j, t := range []*timing{same.Absent, same.Present, same.Build} {
				if t != nil {
					cells[j] = append(cells[j], digits(t.Ns))
				}
			}
		}
		g.row(name, strings.Join(rates, ", ")+" %", strings.Join(cells[0], ", "), strings.Join(cells[1], ", "), strings.Join(cells[2], ", "))
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

// figuresOf returns what README.md shows of a library.
func (c comparison) figuresOf(s shown) (test, build compared, err error) {
	for _, size := range c.Sizes {
		if size.Keys != keysOfREADME {
			continue
		}
		for _, row := range size.Rows {
			if row.Library == s.library && row.Call == s.test {
				test = row
			}
			if row.Library == s.library && row.Call == s.build {
				build = row
			}
		}
	}
	if test.Absent == nil || test.Present == nil || build.Build == nil {
		return test, build, fmt.Errorf("there are no times of %s with %d keys", s.library, keysOfREADME)
	}
	return test, build, nil
}

func readmeTable(r run) (string, error) {
	c, err := r.compared()
	if err != nil {
		return "", err
	}
	g := newGrid("", "<bytes of", "false positives", "absent", "present", "build")
	for _, s := range rowsOfREADME {
		test, build, err := c.figuresOf(s)
		if err != nil {
			return "", err
		}
		g.row(s.cell, s.bytes, percent(test.FalsePositiveRate), digits(test.Absent.Ns), digits(test.Present.Ns), digits(build.Build.Ns))
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
	c, err := r.compared()
	if err != nil {
		return "", err
	}
	var bars []bar
	for _, s := range rowsOfREADME {
		if s.label == "" {
			continue
		}
		test, _, err := c.figuresOf(s)
		if err != nil {
			return "", err
		}
		bars = append(bars, bar{Label: s.label, Number: digits(test.Absent.Ns), Ns: test.Absent.Ns, Own: strings.HasPrefix(s.library, "lanebloom")})
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
	err = template.Must(template.New("").Parse(picture)).Execute(&out, map[string]any{
		"Bars": bars, "Keys": thousands(keysOfREADME), "CPU": c.CPU, "Kernel": c.Kernel,
		"Width": width, "Height": footer + 8, "Footer": footer, "LabelEnd": labelEnd, "BarStart": barStart,
	})
	return out.String(), err
}

// thousands writes n with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
