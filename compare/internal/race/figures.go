package race

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// Figure is a median over rounds, or a figure that has none. Its name is that of Go's benchmarks, such as
// Group/format=rocksdb/hits=0.
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

// Figures are what a program prints.
type Figures struct {
	Config map[string]string `json:"config,omitempty"` // what they were measured on
	List   []Figure          `json:"figures"`
}

// Add adds figures.
func (f *Figures) Add(figures ...Figure) { f.List = append(f.List, figures...) }

// Print prints the figures: as JSON, or as a table for people.
func (f *Figures) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(f)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tns\ttimes as fast\tallocations\tMB\trate")
	for _, g := range f.List {
		x := number(g.X)
		if x != "" {
			x += fmt.Sprintf(" (%v–%v)", g.Low, g.High)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", g.Name, number(g.Ns), x, number(g.Allocs), number(g.MB), number(g.Rate))
	}
	return t.Flush()
}

// number writes a number, and nothing for 0.
func number(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Three rounds to three digits: more would be noise.
func Three(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return v
}
