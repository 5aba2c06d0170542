package race

import (
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Figure is a median over rounds, or a figure that has none. It has a name as Go's benchmarks have, such as
// Group/format=rocksdb/hits=0, but may have spaces.
type Figure struct {
	Name   string  `json:"name"`
	Ns     float64 `json:"ns,omitempty"`     // an operation
	X      float64 `json:"x,omitempty"`      // times as fast as what it is compared with
	Low    float64 `json:"low,omitempty"`    // first decile: of X, or else of Ns
	High   float64 `json:"high,omitempty"`   // last decile
	Rate   float64 `json:"rate,omitempty"`   // the share of absent keys, or lines, that pass
	Bits   float64 `json:"bits,omitempty"`   // per key
	MB     float64 `json:"mb,omitempty"`     // the most memory of a process, or the size of a file
	Allocs float64 `json:"allocs,omitempty"` // of an operation
}

// units are what a line of Go's benchmarks can have of a figure. The first of several is written.
var units = []struct {
	names []string
	value func(f *Figure) *float64
}{
	{[]string{"ns/op", "ns/key", "ns/filter"}, func(f *Figure) *float64 { return &f.Ns }},
	{[]string{"x", "x-ref"}, func(f *Figure) *float64 { return &f.X }},
	{[]string{"p10", "x-p10", "ns/key-p10"}, func(f *Figure) *float64 { return &f.Low }},
	{[]string{"p90", "x-p90", "ns/key-p90"}, func(f *Figure) *float64 { return &f.High }},
	{[]string{"rate"}, func(f *Figure) *float64 { return &f.Rate }},
	{[]string{"bits/key"}, func(f *Figure) *float64 { return &f.Bits }},
	{[]string{"MB"}, func(f *Figure) *float64 { return &f.MB }},
	{[]string{"allocs/op"}, func(f *Figure) *float64 { return &f.Allocs }},
}

// String returns the figure as a line of Go's benchmarks. A space of the name becomes "_".
func (f Figure) String() string {
	line := fmt.Sprintf("Benchmark%s 1", strings.ReplaceAll(f.Name, " ", "_"))
	values := 0
	for _, u := range units {
		if v := *u.value(&f); v != 0 {
			line += " " + strconv.FormatFloat(v, 'f', -1, 64) + " " + u.names[0]
			values++
		}
	}
	if values == 0 {
		line += " 0 rate"
	}
	return line
}

// Figures are what a program prints.
type Figures struct {
	Config map[string]string // what they were measured on: no key has a space or a capital
	List   []Figure
}

// Add adds figures.
func (f *Figures) Add(figures ...Figure) { f.List = append(f.List, figures...) }

// Print prints the figures in the format of Go's benchmarks.
func (f *Figures) Print(w io.Writer) error {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(f.Config)) {
		fmt.Fprintf(&text, "%s: %s\n", key, f.Config[key])
	}
	for _, figure := range f.List {
		fmt.Fprintln(&text, figure)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Exit ends a program that measures: it prints the figures, or the error.
func Exit(f Figures, err error) {
	log.SetFlags(0)
	if err == nil {
		err = f.Print(os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// cores is what Go's benchmarks put after a name.
var cores = regexp.MustCompile(`-\d+$`)

// Read reads what programs print, Go's benchmarks among them. Those with several ways of their own, such as
// add-set-ns/key, are a figure each.
func Read(r io.Reader) (f Figures, err error) {
	f.Config = map[string]string{}
	reader := benchfmt.NewReader(r, "figures")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return f, record
		case *benchfmt.Result:
			for _, c := range record.Config {
				f.Config[c.Key] = string(c.Value)
			}
			f.Add(figuresOf(record)...)
		}
	}
	return f, reader.Err()
}

// figuresOf returns the figure of a line, or those of its ways.
func figuresOf(r *benchfmt.Result) (figures []Figure) {
	name := strings.ReplaceAll(cores.ReplaceAllString(string(r.Name), ""), "_", " ")
	figure, known := Figure{Name: name}, false
	for _, v := range r.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" { // the reader turns nanoseconds into seconds
			value, unit = v.OrigValue, v.OrigUnit
		}
		if way, ok := strings.CutSuffix(unit, "-ns/key"); ok {
			figures = append(figures, Figure{Name: name + "/way=" + way, Ns: Three(value)})
		}
		for _, u := range units {
			if slices.Contains(u.names, unit) {
				*u.value(&figure), known = Three(value), true
			}
		}
	}
	if known && len(figures) == 0 {
		return []Figure{figure}
	}
	return figures
}

// Three rounds to three digits: more would be noise.
func Three(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return v
}
