package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/google/renameio/v2"
	"github.com/klauspost/cpuid/v2"
	"golang.org/x/perf/benchfmt"
)

// part is what one command measures.
type part struct {
	name    string
	command string // for people, and for a shell in the folder compare
	read    func(r *run, out []byte) error
	inside  func() ([]figure, error) // what this program measures itself
	after   func(r run) error        // what to do once the figures are in the file
	report  bool                     // the command takes --json FILE, and the run keeps what it writes there
}

const bench = "go test -C .. -run '^$' "

// parts has a line for each. A benchmark names the formats that there are.
var parts = []part{
	{name: "report", command: "go run -C ../cmd/bloom . bench --report --time 2m", read: readBenchmarks, after: writePage},
	{name: "singles", command: bench + `-bench 'Singles//filter=(16KiB|8MiB|64MiB)/hits=(0|100)%/form=(MayContain|MayContainUint64|MayContainHash)$/kernel=(avx512|avx2|neon|generic)' -benchtime 12ms .`, read: readBenchmarks},
	{name: "batches", command: bench + `-bench 'SmallBatches//filter=(16KiB|8MiB|64MiB)/hits=(0|100)%//keys=uint64' -benchtime 12ms .`, read: readBenchmarks},
	{name: "forms", command: bench + "-bench '" + formsOfBenchmarks + "' -benchtime 0.1s .", read: readBenchmarks},
	{name: "group", command: bench + `-bench 'Group$///each/hits=0' -benchtime 0.15s .`, read: readBenchmarks},
	{name: "interleaved", command: bench + `-bench 'Interleaved$/format=parquet///kernel=(avx512|avx2|neon)' -benchtime 0.2s .`, read: readBenchmarks},
	{name: "sets", command: bench + `-bench 'AtomicSet/keys=10000$' -benchtime 60x .`, read: readBenchmarks},
	{name: "loads", command: bench + `-bench Loads -benchtime 0.2s .`, read: readBenchmarks},
	{name: "libraries", command: "go run ./sidebyside --sizes 1000000,10000 --rounds 15", report: true},
	{name: "uuids", command: "go run ./figures measure uuids", inside: timeUUIDs},
	{name: "bits", command: "go run ./figures measure bits", inside: timeBits},
	{name: "programs", command: "go run ./stored -figures programs", read: readPrinted},
	{name: "arrow", command: "go run ./arrowcolumns -rows 3000000 -rounds 5", read: readPrinted},
	{name: "rows", command: "go run -C duckdb ./rowsof && go run -C duckdb ./rowsof -rounds 3 -keys 1000000", read: readPrinted},
	{name: "embed", command: "go run -C duckdb ./embedding -rounds 2", read: readPrinted},
	{name: "lines", command: "go run ./figures lines", read: readFigures},
	{name: "index", command: "go run -C duckdb ./indexing", read: readPrinted}, // the last: without root it fails
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// choose returns the parts of some names, or all.
func choose(names []string) (chosen []part, err error) {
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is none of %s", name, strings.Join(partNames(), ", "))
		}
		chosen = append(chosen, parts[i])
	}
	if len(names) == 0 {
		return parts, nil
	}
	return chosen, nil
}

// measure runs a part and puts what it finds into the CPU's file.
func measure(m *measureCommand, p part) error {
	f, err := read(root, m.stem())
	if err != nil {
		return err
	}
	c := cpuid.CPU
	f.Name = m.Name
	f.CPU = fmt.Sprintf("%s, family %d model %d", c.BrandName, c.Family, c.Model)
	f.Features = strings.Join(c.FeatureSet(), " ")
	f.Cores = runtime.NumCPU()
	f.Caches = fmt.Sprintf("L1d %d KiB, L2 %d KiB, L3 %d KiB", c.Cache.L1D>>10, c.Cache.L2>>10, c.Cache.L3>>10)
	r := run{Part: p.name, Command: p.command, name: f.Name, stem: f.stem, Date: time.Now().UTC().Format(time.DateOnly)}
	if r.Commit, err = commit(); err != nil {
		return err
	}
	if r.Go, err = output("go", "env", "GOVERSION"); err != nil {
		return err
	}
	if r.Code, err = codeOf(root); err != nil {
		return err
	}
	if r.Others, err = busy(time.Second); err != nil {
		return err
	}
	start := time.Now()
	if err := p.fill(&r); err != nil {
		return err
	}
	r.Seconds = three(time.Since(start).Seconds())
	fmt.Fprintf(os.Stderr, "%s: %v s\n", p.name, r.Seconds)
	f.put(r)
	if err := f.write(root); err != nil || p.after == nil {
		return err
	}
	return p.after(r)
}

// commit names the last commit that changed the code that is timed, and says if the tree has other code.
func commit() (string, error) {
	var files []string
	for _, pattern := range timed {
		files = append(files, ":(top,glob)"+pattern)
	}
	name, err := output("git", append([]string{"log", "-1", "--format=%h", "--abbrev=7", "--"}, files...)...)
	if err != nil {
		return "", err
	}
	changed, err := output("git", append([]string{"status", "--porcelain", "--"}, files...)...)
	if changed != "" {
		name += "-dirty"
	}
	return name, err
}

// fill runs a part.
func (p part) fill(r *run) (err error) {
	switch {
	case p.inside != nil:
		r.Figures, err = p.inside()
		return err
	case p.report:
		dir, err := os.MkdirTemp("", "figures")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		name := filepath.Join(dir, "report.json")
		if _, err := output("bash", "-c", p.command+" --json "+name); err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var compact bytes.Buffer
		err = json.Compact(&compact, text)
		r.Report = compact.Bytes()
		return err
	}
	out, err := output("bash", "-c", p.command)
	if err != nil {
		return err
	}
	return p.read(r, []byte(out))
}

// output returns what a command prints, and shows its errors.
func output(name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// readFigures reads what figures itself prints in a process of its own.
func readFigures(r *run, out []byte) error { return json.Unmarshal(out, &r.Figures) }

// cores is what Go's benchmarks put after a name.
var cores = regexp.MustCompile(`-\d+$`)

// readBenchmarks reads what Go's benchmarks and bloom bench print. Those with several ways of their own, such as add-set-ns/key,
// are a figure each.
func readBenchmarks(r *run, out []byte) error {
	reader := benchfmt.NewReader(bytes.NewReader(out), r.Part)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := cores.ReplaceAllString(string(result.Name), "")
		fig := figure{Name: name}
		for _, v := range result.Values {
			// The reader turns nanoseconds into seconds.
			switch way, isTime := strings.CutSuffix(v.Unit, "sec/key"); {
			case v.OrigUnit == "ns/key", v.OrigUnit == "ns/filter":
				fig.Ns = three(v.OrigValue)
			case isTime && way != "":
				r.Figures = append(r.Figures, figure{Name: name + "/way=" + strings.TrimSuffix(way, "-"), Ns: three(v.Value * 1e9)})
			case v.Unit == "x-ref", v.Unit == "x":
				fig.X = three(v.Value)
			case v.Unit == "x-p10":
				fig.Low = three(v.Value)
			case v.Unit == "x-p90":
				fig.High = three(v.Value)
			case v.OrigUnit == "ns/key-p10":
				fig.Low = three(v.OrigValue)
			case v.OrigUnit == "ns/key-p90":
				fig.High = three(v.OrigValue)
			}
		}
		if fig.Ns > 0 {
			r.Figures = append(r.Figures, fig)
		}
		if r.Part == "report" && r.Config == nil {
			r.Config = map[string]string{}
			for _, c := range result.Config {
				r.Config[c.Key] = string(c.Value)
			}
		}
	}
	if len(r.Figures) == 0 {
		return fmt.Errorf("there are no figures in\n%s", out)
	}
	return reader.Err()
}

// three rounds to three digits: more would be noise.
func three(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return v
}

//go:embed page.md.tmpl
var newPage string

// writePage writes the page of a CPU that has none.
func writePage(r run) error {
	name := filepath.Join(root, measurements, r.stem+".md")
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	var page bytes.Buffer
	if err := template.Must(template.New("").Parse(newPage)).Execute(&page, map[string]string{"Name": r.name, "CPU": r.Config["cpu"], "Stem": r.stem}); err != nil {
		return err
	}
	return renameio.WriteFile(name, page.Bytes(), 0o644)
}

// readPrinted reads the tables in what a command prints, which is Markdown.
func readPrinted(r *run, out []byte) error {
	inTable := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		if strings.HasPrefix(line, "|--") {
			continue
		}
		if !inTable {
			r.Printed = append(r.Printed, nil)
			inTable = true
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		last := &r.Printed[len(r.Printed)-1]
		*last = append(*last, cells)
	}
	if len(r.Printed) == 0 {
		return fmt.Errorf("there is no table in\n%s", out)
	}
	return nil
}

// spread is the median of times, with their first and last decile.
func spread(name string, ns []float64) figure {
	slices.Sort(ns)
	n := len(ns)
	return figure{Name: name, Ns: three(ns[n/2]), Low: three(ns[n/10]), High: three(ns[n*9/10])}
}
