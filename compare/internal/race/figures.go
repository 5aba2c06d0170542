package race

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
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
	for _, key := range slices.Sorted(maps.Keys(f.Config)) {
		fmt.Fprintf(w, "%s: %s\n", key, f.Config[key])
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range f.List {
		fmt.Fprintf(t, "%s\t%s\n", g.Name, g.words())
	}
	return t.Flush()
}

// words says what a figure has.
func (f Figure) words() string {
	var words []string
	add := func(v float64, format string, args ...any) {
		if v != 0 {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	if f.Ns < 1000 {
		add(f.Ns, "%v ns", f.Ns)
	} else {
		add(f.Ns, "%v", time.Duration(f.Ns))
	}
	add(f.X, "×%v (%v–%v)", f.X, f.Low, f.High)
	add(f.Allocs, "%v allocations", f.Allocs)
	add(f.MB, "%v MB", f.MB)
	add(f.Bits, "%v bits a key", f.Bits)
	add(f.Rate, "%v %% pass", Three(100*f.Rate))
	return strings.Join(words, ", ")
}

// Three rounds to three digits: more would be noise.
func Three(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return v
}
