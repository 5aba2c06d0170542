package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/perf/benchfmt"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// part is what one command measures.
type part struct {
	name    string
	command string // for people, and for a shell in the folder compare
	read    func(r *run, out []byte) error
	inside  func() ([]figure, error) // what this program measures itself
}

const bench = "go test -C .. -run '^$' "

// parts has a line for each. A benchmark names the formats that there are.
var parts = []part{
	{name: "report", command: "go run -C ../cmd/bloom . bench --report --time 2m", read: readBenchmarks},
	{name: "singles", command: bench + `-bench 'Singles//filter=(16KiB|8MiB|64MiB)/hits=(0|100)%/form=(MayContain|MayContainUint64|MayContainHash)$/kernel=(avx512|avx2|neon|generic)' -benchtime 12ms .`, read: readBenchmarks},
	{name: "batches", command: bench + `-bench 'SmallBatches//filter=(16KiB|8MiB|64MiB)/hits=(0|100)%//keys=uint64' -benchtime 12ms .`, read: readBenchmarks},
	{name: "forms", command: bench + "-bench '" + formsOfBenchmarks + "' -benchtime 0.1s .", read: readBenchmarks},
	{name: "group", command: bench + `-bench 'Group$///each/hits=0' -benchtime 0.15s .`, read: readBenchmarks},
	{name: "interleaved", command: bench + `-bench 'Interleaved$/format=parquet///kernel=(avx512|avx2|neon)' -benchtime 0.2s .`, read: readBenchmarks},
	{name: "sets", command: bench + `-bench 'AtomicSet/keys=10000$' -benchtime 60x .`, read: readBenchmarks},
	{name: "loads", command: bench + `-bench Loads -benchtime 0.2s .`, read: readBenchmarks},
	{name: "libraries", command: "go run ./sidebyside --sizes 10000,1000000 --time 80s --json", read: readJSON},
	{name: "uuids", command: "go run ./figures measure uuids", inside: timeUUIDs},
	{name: "bits", command: "go run ./figures measure bits", inside: timeBits},
	{name: "programs", command: "go run ./stored -json", read: readJSON},
	{name: "arrow", command: "go run ./arrowcolumns -rows 3000000 -rounds 5 -json", read: readJSON},
	{name: "rows", command: "go run -C duckdb ./rowsof -json && go run -C duckdb ./rowsof -rounds 3 -keys 1000000 -json", read: readJSON},
	{name: "embed", command: "go run -C duckdb ./embedding -rounds 2 -json", read: readJSON},
	{name: "lines", command: "go run ./figures lines", read: readJSON},
	{name: "index", command: "go run -C duckdb ./indexing -json", read: readJSON}, // the last: without root it fails
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
	r.Seconds = race.Three(time.Since(start).Seconds())
	fmt.Fprintf(os.Stderr, "%s: %v s\n", p.name, r.Seconds)
	f.put(r)
	return f.write(root)
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
	if p.inside != nil {
		r.Figures, err = p.inside()
		return err
	}
	out, err := output("bash", "-c", p.command)
	if err != nil {
		return err
	}
	if err = p.read(r, []byte(out)); err == nil && len(r.Figures) == 0 {
		return fmt.Errorf("there are no figures in\n%s", out)
	}
	return err
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

// readJSON reads what the programs of compare print.
func readJSON(r *run, out []byte) error {
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var f race.Figures
		if err := d.Decode(&f); err != nil {
			return err
		}
		r.Config = f.Config
		r.Figures = append(r.Figures, f.List...)
	}
	return nil
}

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
				fig.Ns = race.Three(v.OrigValue)
			case isTime && way != "":
				r.Figures = append(r.Figures, figure{Name: name + "/way=" + strings.TrimSuffix(way, "-"), Ns: race.Three(v.Value * 1e9)})
			case v.Unit == "x-ref", v.Unit == "x":
				fig.X = race.Three(v.Value)
			case v.Unit == "x-p10":
				fig.Low = race.Three(v.Value)
			case v.Unit == "x-p90":
				fig.High = race.Three(v.Value)
			case v.OrigUnit == "ns/key-p10":
				fig.Low = race.Three(v.OrigValue)
			case v.OrigUnit == "ns/key-p90":
				fig.High = race.Three(v.OrigValue)
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
	return reader.Err()
}
