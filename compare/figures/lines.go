package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// lineTool filters the lines of the file stream by those of the file known, or drops duplicates of stream.
type lineTool struct {
	name, words string
	command     string // for a shell in the folder of both files
	runs        int
	exact       bool
}

var (
	filterTools = []lineTool{
		{"build-filter", "`bloom build` and `bloom filter`", "./bloom build -o known.bloom known && ./bloom filter known.bloom stream > passed", 5, false},
		{"sort-join", "`sort`, `sort`, `join`", "sort known > a && sort stream > b && join a b > joined", 1, true},
		{"awk", "`awk` (mawk) with an array", "awk 'NR == FNR { known[$0]; next } $0 in known' known stream > exact", 1, true},
		{"grep", "`grep -F -x -f`", "grep -F -x -f known stream > grepped", 1, true},
	}
	uniqueTools = []lineTool{
		{"unique", "`bloom unique`", "./bloom unique stream > once", 3, false},
		{"unique-verify", "`bloom unique --verify`", "./bloom unique --verify stream > first", 3, true},
		{"sort-u", "`LC_ALL=C sort -u`", "LC_ALL=C sort -u stream > sorted", 1, true},
		{"awk-once", "`awk` (mawk), `!s[$0]++`", "awk '!s[$0]++' stream > each", 1, true},
	}
)

// timeLines makes lines, and times the tools. Those that are exact must write equally many lines.
func timeLines() (figures []figure, err error) {
	dir, err := os.MkdirTemp("", "lines")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeLines(dir, 2_000_000, 5_000_000); err != nil {
		return nil, err
	}
	if _, err := output("go", "build", "-C", "../cmd/bloom", "-o", filepath.Join(dir, "bloom"), "."); err != nil {
		return nil, err
	}
	for _, t := range append(filterTools, uniqueTools...) {
		fig, err := t.time(dir)
		if err != nil {
			return nil, err
		}
		figures = append(figures, fig)
	}
	counts := map[string]float64{}
	for _, name := range []string{"stream", "passed", "joined", "exact", "grepped", "once", "first", "sorted", "each"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		counts[name] = float64(bytes.Count(text, []byte("\n")))
	}
	known, different := counts["exact"], counts["each"]
	if counts["joined"] != known || counts["grepped"] != known || counts["first"] != different || counts["sorted"] != different {
		return nil, fmt.Errorf("the exact tools write different numbers of lines: %v", counts)
	}
	return append(figures,
		figure{Name: "lines/passed", Rate: race.Three((counts["passed"] - known) / (counts["stream"] - known))},
		figure{Name: "lines/lost", Rate: race.Three((different - counts["once"]) / different)}), nil
}

// writeLines writes the files known, of different random lines of 8 to 24 hexadecimal digits, and stream, of which half
// the lines are known.
func writeLines(dir string, known, stream int) error {
	random := rand.New(rand.NewPCG(1, 2))
	seen := make(map[string]bool, known)
	unknown := func() string {
		for {
			line := make([]byte, 8+random.IntN(17))
			for i := range line {
				line[i] = "0123456789abcdef"[random.IntN(16)]
			}
			if !seen[string(line)] {
				return string(line)
			}
		}
	}
	lines := make([]string, known)
	for i := range lines {
		lines[i] = unknown()
		seen[lines[i]] = true
	}
	streamed := make([]string, stream)
	for i := range streamed {
		if random.IntN(2) == 0 {
			streamed[i] = lines[random.IntN(known)]
		} else {
			streamed[i] = unknown()
		}
	}
	write := func(name string, lines []string) error {
		return os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	}
	return errors.Join(write("known", lines), write("stream", streamed))
}

// time runs a tool some times.
func (t lineTool) time(dir string) (figure, error) {
	var ns []float64
	var most int64
	for range t.runs {
		c := exec.Command("bash", "-c", t.command)
		c.Dir = dir
		start := time.Now()
		if said, err := c.CombinedOutput(); err != nil {
			return figure{}, fmt.Errorf("%s: %w: %s", t.command, err, said)
		}
		ns = append(ns, float64(time.Since(start).Nanoseconds()))
		most = max(most, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10) // of the largest process
	}
	fig := figure{Name: "lines/tool=" + t.name}
	fig.Ns, fig.Low, fig.High = race.Spread(ns)
	fig.MB = race.Three(float64(most) / 1e6)
	return fig, nil
}

// linesTable has the time and the memory of some tools. A tool that is not exact is wrong about a share of the lines.
func linesTable(r run, tools []lineTool, share, words string) (string, error) {
	g := newGrid("", "seconds", "MB", "<exact")
	for _, tool := range tools {
		fig := g.figure(r, "lines/tool=%s", tool.name)
		exact := "yes"
		if !tool.exact {
			exact = fmt.Sprintf("no: %s %s", percent(g.figure(r, "%s", share).Rate), words)
		}
		g.Row(tool.words, digits(fig.Ns/1e9), digits(fig.MB), exact)
	}
	return g.text()
}

// busy returns the share of the CPUs that is in use for a while, in which this program sleeps: 0 where no system tells.
func busy(while time.Duration) (float64, error) {
	before, err := cpuTimes()
	if err != nil || before == nil {
		return 0, err
	}
	time.Sleep(while)
	after, err := cpuTimes()
	if err != nil {
		return 0, err
	}
	var idle, all float64
	for i := range min(8, len(before), len(after)) { // the guests' time is in that of users
		took := after[i] - before[i]
		if i == 3 || i == 4 { // idle, and waiting for a disk
			idle += took
		}
		all += took
	}
	return race.Three(1 - idle/max(1, all)), nil
}

// cpuTimes returns the first line of Linux's /proc/stat, and nothing elsewhere.
func cpuTimes() (times []float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for _, field := range strings.Fields(line)[1:] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, err
		}
		times = append(times, n)
	}
	return times, nil
}
