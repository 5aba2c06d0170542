package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
)

// report is what the program writes as JSON. Rates are shares, 0 to 1.
type report struct {
	Commit     string            `json:"commit"`
	CPU        string            `json:"cpu"`
	Platform   string            `json:"platform"`
	Go         string            `json:"go"`
	Kernel     string            `json:"kernel"` // of lanebloom
	Versions   map[string]string `json:"versions"`
	Reference  string            `json:"reference"`
	BitsPerKey int               `json:"bitsPerKey"`
	Queries    int               `json:"queries"`
	Rounds     int               `json:"rounds"`
	Cores      int               `json:"cores"`
	Sizes      []sizeReport      `json:"sizes"`
}

type sizeReport struct {
	Keys int   `json:"keys"`
	Rows []row `json:"rows"`
}

// row has the figures of a library with one kind of calls.
type row struct {
	Library           string  `json:"library"`
	Call              string  `json:"call"`
	BitsPerKey        float64 `json:"bitsPerKey"`
	FalsePositiveRate float64 `json:"falsePositiveRate"`
	Build             *timing `json:"build,omitempty"`
	Absent            *timing `json:"absent,omitempty"`
	Present           *timing `json:"present,omitempty"`
}

// timing has the medians over the rounds, and the first and last decile of the ratio.
type timing struct {
	NsPerKey float64 `json:"nsPerKey"`
	Ratio    float64 `json:"ratio"` // how many times as fast as the reference
	RatioP10 float64 `json:"ratioP10"`
	RatioP90 float64 `json:"ratioP90"`
}

// modules lists the modules whose versions the report has.
var modules = []string{
	"github.com/syndtr/goleveldb", "github.com/dgraph-io/badger/v4", "github.com/bits-and-blooms/bloom/v3",
	"github.com/holiman/bloomfilter/v2", "github.com/greatroar/blobloom", "github.com/parquet-go/parquet-go", "github.com/FastFilter/xorfilter",
}

func newReport(o *options) *report {
	r := &report{
		Commit:     commit(),
		CPU:        nameOfCPU(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
		Go:         runtime.Version(),
		Kernel:     bloom.Kernels()[0].String(),
		Versions:   map[string]string{},
		Reference:  o.Reference,
		BitsPerKey: o.BitsPerKey,
		Queries:    o.Queries,
		Rounds:     o.Rounds,
		Cores:      o.Cores,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if slices.Contains(modules, m.Path) {
				r.Versions[m.Path] = m.Version
			}
		}
	}
	return r
}

// commit returns that of the working folder, or "unknown": go run puts none into a program.
func commit() string {
	id, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
}

// nameOfCPU returns the brand, which virtual machines shorten, and the family and model, which tell more.
func nameOfCPU() string {
	brand := strings.NewReplacer("(R)", "", "(TM)", "", " Processor", "").Replace(cpuid.CPU.BrandName)
	return fmt.Sprintf("%s (family %d, model %d)", brand, cpuid.CPU.Family, cpuid.CPU.Model)
}

// add adds the rows of a contest, in the order of the libraries.
func (r *report) add(c *contest) {
	size := sizeReport{Keys: len(c.known.ints)}
	for i := range c.libraries {
		for _, call := range []call{keyByKey, atOnce} {
			name := c.libraries[i].name
			row := row{
				Library:           name,
				Call:              call.String(),
				BitsPerKey:        c.bits[name],
				FalsePositiveRate: float64(c.hits[name]) / float64(r.Queries),
			}
			timings := map[job]**timing{building: &row.Build, absent: &row.Absent, present: &row.Present}
			found := false
			for _, m := range c.measurements {
				if m.library.name == name && m.call == call {
					*timings[m.job] = m.timing()
					found = true
				}
			}
			if found {
				size.Rows = append(size.Rows, row)
			}
		}
	}
	r.Sizes = append(r.Sizes, size)
}

func (m *measurement) timing() *timing {
	slices.Sort(m.nsAKey)
	slices.Sort(m.ratios)
	n := len(m.ratios)
	return &timing{m.nsAKey[n/2], m.ratios[n/2], m.ratios[n/10], m.ratios[n*9/10]}
}

func (r *report) json() (string, error) {
	data, err := json.MarshalIndent(r, "", "\t")
	return string(data) + "\n", err
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s, kernel %s, commit %s, cores to build with: %d. %d bits per key, %d rounds of %d queries.\n"+
		"How many times as fast as %s, in parentheses the first and last decile:\n",
		r.CPU, r.Platform, r.Go, r.Kernel, r.Commit, r.Cores, r.BitsPerKey, r.Rounds, r.Queries, r.Reference)
	for _, size := range r.Sizes {
		fmt.Fprintf(&b, "\n### %s keys\n\n", thousands(size.Keys))
		b.WriteString("| library | keys | bits a key | false positives | build | ns a key | absent | ns a key | present | ns a key |\n")
		b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
		for _, row := range size.Rows {
			fmt.Fprintf(&b, "| %s | %s | %.2f | %.3f %% | %s | %s | %s |\n", row.Library, row.Call,
				row.BitsPerKey, 100*row.FalsePositiveRate, row.Build, row.Absent, row.Present)
		}
	}
	b.WriteString("\nVersions:")
	for i, path := range modules {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s %s", strings.TrimPrefix(path, "github.com/"), r.Versions[path])
	}
	b.WriteString(".\n")
	return b.String()
}

// String returns two cells of a table.
func (t *timing) String() string {
	if t == nil {
		return " | "
	}
	return fmt.Sprintf("%.3g (%.3g–%.3g) | %.3g", t.Ratio, t.RatioP10, t.RatioP90, t.NsPerKey)
}

// thousands writes n with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
