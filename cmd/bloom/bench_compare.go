package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/lanebloom/bloom/cmd/internal/files"
)

// measured is a cell of a report.
type measured struct {
	place  string // such as "Testing integers, rocksdb, 1 MiB, 0 %, avx512"
	way    string // its column
	isTime bool   // the cell has no ratio
	value  spread // times as fast as the plain loop, or nanoseconds a key
}

// compare prints where two reports differ by more than their spread, and the mean of every way.
func (b *benchCommand) compare(s *streams) error {
	var pages [2][]measured
	out := bufio.NewWriter(s.out)
	for i, name := range files.Names(b.Reports) {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var about []string
		if about, pages[i] = readReport(string(text)); len(pages[i]) == 0 {
			return fmt.Errorf("%s: no table of bloom bench --report", shown(name))
		}
		fmt.Fprintf(out, "%s: %s\n", [2]string{"old", "new"}[i], strings.Join(about, "; "))
	}
	printDifferences(out, pages[0], pages[1])
	return out.Flush()
}

var cellOfReport = regexp.MustCompile(`^([0-9.]+)(?: ×([0-9.]+))? \(([0-9.]+)–([0-9.]+)\)$`)

// readReport reads what report printed: what says of what it is, and all cells.
func readReport(text string) (about []string, cells []measured) {
	var title string
	var head []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "#"); ok {
			title, head = strings.TrimSpace(strings.TrimLeft(name, "#")), nil
			if about == nil {
				about = []string{title}
			}
			continue
		}
		if !strings.HasPrefix(line, "| ") || !strings.HasSuffix(line, " |") {
			continue
		}
		row := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case len(row) == 2 && (row[0] == "version" || row[0] == "load"):
			about = append(about, row[0]+" "+row[1])
		case head == nil:
			head = row
		case len(row) == len(head):
			cells = append(cells, cellsOf(title, head, row)...)
		}
	}
	return about, cells
}

// cellsOf reads a row. What comes before its first figure is its place.
func cellsOf(title string, head, row []string) (cells []measured) {
	place := title
	for i, text := range row {
		found := cellOfReport.FindStringSubmatch(text)
		if found == nil {
			place += ", " + strings.Trim(text, "`")
			continue
		}
		median, isTime := found[2], found[2] == ""
		if isTime {
			median = found[1]
		}
		var value spread
		for i, to := range []*float64{&value.Median, &value.P10, &value.P90} {
			var err error
			if *to, err = strconv.ParseFloat([]string{median, found[3], found[4]}[i], 64); err != nil {
				return nil // such as 1.2.3
			}
		}
		cells = append(cells, measured{place + ", " + head[i], head[i], isTime, value})
	}
	return cells
}

// printDifferences prints the ratios whose deciles do not overlap, then the geometric mean of each
// way. The plain loop and the loads tell of the machine: they are in the means alone.
func printDifferences(out io.Writer, older, newer []measured) {
	old := map[string]measured{}
	for _, cell := range older {
		old[cell.place] = cell
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	logs, counts, ways := map[string]float64{}, map[string]int{}, []string(nil)
	ratios, differ := 0, 0
	for _, cell := range newer {
		before, ok := old[cell.place]
		if !ok || before.isTime != cell.isTime {
			continue
		}
		faster := cell.value.Median / before.value.Median
		if cell.isTime {
			faster = 1 / faster
		} else {
			ratios++
			if cell.value.P90 < before.value.P10 || cell.value.P10 > before.value.P90 {
				differ++
				fmt.Fprintf(w, "%s\t×%s → ×%s\t%s times as fast\n", cell.place, three(before.value.Median), three(cell.value.Median), three(faster))
			}
		}
		if counts[cell.way] == 0 {
			ways = append(ways, cell.way)
		}
		counts[cell.way]++
		logs[cell.way] += math.Log(faster)
	}
	w.Flush()
	fmt.Fprintf(out, "%d of the %d ratios in both differ: their ranges from the first to the last decile do not overlap.\n", differ, ratios)
	for _, way := range ways {
		fmt.Fprintf(out, "%s: %s times as fast, the geometric mean of %d\n", way, three(math.Exp(logs[way]/float64(counts[way]))), counts[way])
	}
}
