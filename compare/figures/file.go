package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// root is the folder of the repository, and measurements that of the figures of each CPU.
const (
	root         = ".."
	measurements = "docs/measurements"
)

// file has the figures of one CPU.
type file struct {
	Name     string `json:"name"`
	CPU      string `json:"cpu"`
	Features string `json:"features"`
	Cores    int    `json:"cores"`
	Caches   string `json:"caches"`
	Runs     []run  `json:"runs"`
	stem     string
}

// run is what one part measured.
type run struct {
	Part    string            `json:"part"`
	Command string            `json:"command"`
	Commit  string            `json:"commit"`
	Code    string            `json:"code"` // codeOf of the tree
	Go      string            `json:"go"`
	Date    string            `json:"date"`
	Seconds float64           `json:"seconds,omitempty"`
	Others  float64           `json:"others,omitempty"` // the share of the CPUs that other programs took before it began
	Config  map[string]string `json:"config,omitempty"` // what the program says of the machine
	Note    string            `json:"note,omitempty"`   // a sentence for the page, written by hand
	Figures figures           `json:"figures,omitempty"`

	name, stem string // of the CPU
}

type figure = race.Figure

// read returns the figures of a CPU, or none if it has no file.
func read(root, stem string) (*file, error) {
	f := &file{stem: stem}
	data, err := os.ReadFile(filepath.Join(root, measurements, stem+".json"))
	if os.IsNotExist(err) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	return f, json.Unmarshal(data, f)
}

// put replaces what the file has of a part.
func (f *file) put(r run) {
	f.Runs = slices.DeleteFunc(f.Runs, func(old run) bool { return old.Part == r.Part })
	f.Runs = append(f.Runs, r)
	slices.SortFunc(f.Runs, func(a, b run) int { return strings.Compare(a.Part, b.Part) })
}

// write writes the file, with a line for each figure. It leaves out what no table shows: the deciles of all parts but the report, and in
// the tables of few keys, kernels other than the first and portable Go.
func (f *file) write(root string) error {
	for n := range f.Runs {
		r := &f.Runs[n]
		if slices.Contains([]string{"batches", "singles", "small"}, r.Part) {
			kernels := r.values("kernel")
			r.Figures = slices.DeleteFunc(r.Figures, func(f figure) bool {
				return !strings.Contains(f.Name+"/", "/kernel="+kernels[0]+"/") && !strings.Contains(f.Name+"/", "/kernel=generic/")
			})
		}
		for i := range r.Figures {
			if r.Part != "report" {
				r.Figures[i].Low, r.Figures[i].High = 0, 0
			}
		}
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	for _, start := range []string{`{"part":`, `["`} {
		text = bytes.ReplaceAll(text, []byte(start), []byte("\n"+start))
	}
	return renameio.WriteFile(filepath.Join(root, measurements, f.stem+".json"), append(bytes.TrimSpace(text), '\n'), 0o644)
}

// run returns what a part measured.
func (f *file) run(part string) (run, error) {
	i := slices.IndexFunc(f.Runs, func(r run) bool { return r.Part == part })
	if i < 0 {
		return run{}, fmt.Errorf("%s.json has no figures of the part %s", f.stem, part)
	}
	r := f.Runs[i]
	r.name, r.stem = f.Name, f.stem
	return r, nil
}

// find returns the figure of a name.
func (r run) find(name string) (figure, error) {
	i := slices.IndexFunc(r.Figures, func(f figure) bool { return f.Name == name })
	if i < 0 {
		return figure{}, fmt.Errorf("the part %s has no figure %s", r.Part, name)
	}
	return r.Figures[i], nil
}

// timed are the files whose code decides how long a key takes, and all of the root, so that none is forgotten.
var timed = []string{
	"*.go", "probe_*.s", "internal/memory/*.go",
	"internal/encoding/*.go", "internal/keyhash/*.go", "internal/keyhash/*.s", "internal/load/*.go", "internal/probes/*.go", "internal/probes/*.s",
}

// codeOf returns a hash of that code. Comments, and tests, do not change it.
func codeOf(root string) (string, error) {
	var names []string
	for _, pattern := range timed {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range slices.Compact(names) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		text = withoutComments(name, text)
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(name), len(text), text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4]), nil
}

// withoutComments returns the words of Go or of assembly.
func withoutComments(name string, text []byte) []byte {
	var b bytes.Buffer
	if filepath.Ext(name) == ".s" {
		for line := range bytes.Lines(text) {
			code, _, _ := bytes.Cut(line, []byte("//"))
			if code = bytes.TrimSpace(code); len(code) > 0 {
				b.Write(append(code, '\n'))
			}
		}
		return b.Bytes()
	}
	set := token.NewFileSet()
	var words scanner.Scanner
	words.Init(set.AddFile(name, -1, len(text)), text, nil, 0)
	for {
		_, word, literal := words.Scan()
		if word == token.EOF {
			return b.Bytes()
		}
		fmt.Fprintln(&b, word, literal)
	}
}
