package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/prometheus/procfs"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// part is what one command measures. The command prints figures in the format of Go's benchmarks.
type part struct {
	name    string
	command string // for people, and for a shell in the folder compare
}

const bench = "go test -C .. -run '^$' "

// parts has a line for each. A benchmark names the formats that there are.
var parts = []part{
	{"report", "go run -C ../cmd/bloom . bench --report --time 2m"},
	{"singles", bench + `-bench 'Singles//filter=(16KiB|8MiB|64MiB)/hits=(0|100)%/form=(MayContain|MayContainUint64|MayContainHash)$/kernel=(avx512|avx2|neon|generic)' -benchtime 12ms .`},
	{"batches", bench + `-bench 'SmallBatches//filter=(16KiB|8MiB|64MiB)/hits=(0|100)%//keys=uint64/batch=[1248]$' -benchtime 12ms .`},
	{"small", bench + `-bench 'SmallBatches//filter=16KiB/hits=0%/kernel=(avx512|avx2|neon)/keys=(uint64|string)/batch=(1|4|8|15|16|32)$' -benchtime 12ms .`},
	{"forms", bench + "-bench '" + formsOfBenchmarks + "' -benchtime 0.1s ."},
	{"group", bench + `-bench 'Group$///each/hits=0' -benchtime 0.15s .`},
	{"interleaved", bench + `-bench 'Interleaved$/format=parquet///kernel=(avx512|avx2|neon)' -benchtime 0.2s .`},
	{"sets", bench + `-bench 'AtomicSet/keys=10000$' -benchtime 60x .`},
	{"loads", bench + `-bench Loads -benchtime 0.2s .`},
	{"libraries", "go run ./sidebyside --sizes 10000,1000000 --time 80s"},
	{"uuids", "go run ./figures take uuids"},
	{"bits", "go run ./figures take bits"},
	{"hashes", "go test -run '^$' -bench 'Hashes$' -benchtime 0.1s ."},
	{"window", "go test -C ../window -run '^$' -bench 'Window$/call=[A-Za-z]*$' -benchtime 300000x . && go test -C ../window -run '^$' -bench 'Folder$' -benchtime 5x ."},
	{"database", "go test -run '^$' -bench 'Database$' -benchtime 0.3s ."},
	{"programs", "go run ./stored"},
	{"arrow", "go run ./arrowcolumns -rows 3000000 -rounds 5"},
	{"rows", "go run -C duckdb ./rowsof && go run -C duckdb ./rowsof -rounds 3 -keys 1000000"},
	{"embed", "go run -C duckdb ./embedding -rounds 2"},
	{"lines", "go run ./figures take lines"},
	{"index", "go run -C duckdb ./indexing"}, // the last: without root it fails
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
func (p part) fill(r *run) error {
	out, err := output("bash", "-c", p.command)
	if err != nil {
		return err
	}
	figures, err := race.Read(strings.NewReader(out))
	if err == nil && len(figures.List) == 0 {
		err = fmt.Errorf("there are no figures in\n%s", out)
	}
	r.Config, r.Figures = figures.Config, figures.List
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

// busy returns the share of the CPUs that is in use for a while, in which this program sleeps: 0 where no system tells.
func busy(while time.Duration) (float64, error) {
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, nil //nolint:nilerr // not Linux
	}
	times := func() (idle, all float64, err error) {
		stat, err := system.Stat()
		c := stat.CPUTotal
		idle = c.Idle + c.Iowait
		return idle, idle + c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal, err // the guests' time is in that of users
	}
	idle, all, err := times()
	if err != nil {
		return 0, err
	}
	time.Sleep(while)
	idleAfter, allAfter, err := times()
	return race.Three(1 - (idleAfter-idle)/max(0.01, allAfter-all)), err
}
