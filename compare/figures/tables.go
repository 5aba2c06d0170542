package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// table writes a table of a part's figures.
type table struct {
	part  string
	write func(r run) (string, error)
}

// tables are those that a page can have between markers, as in <!-- figures group zen5 -->.
var tables = map[string]table{
	"libraries": {"libraries", librariesTable},
	"few":       {"singles", singlesTable},
	"batches":   {"batches", batchesTable},
	"group":     {"group", groupTable},
	"sets":      {"sets", setsTable},
	"loads":     {"loads", loadsTable},
	"lines": {"lines", func(r run) (string, error) {
		return linesTable(r, filterTools, "lines/passed", "of the unknown lines pass")
	}},
	"unique": {"lines", func(r run) (string, error) {
		return linesTable(r, uniqueTools, "lines/lost", "of the different lines are lost")
	}},
	"uuids":       {"uuids", uuidsTable},
	"bits":        {"bits", bitsTable},
	"interleaved": {"interleaved", interleavedTable},
	"stages":      {"forms", stagesTable},
	"programs":    {"programs", programsTable},
	"arrow": {"arrow", tableOf("arrow/column=strings/job=tested/way=*",
		ns("strings, tested", "arrow/column=strings/job=tested/way=*", tenths), ns("filtered", "arrow/column=strings/job=filtered/way=*", tenths),
		ns("int64, tested", "arrow/column=int64/job=tested/way=*", tenths), ns("filtered", "arrow/column=int64/job=filtered/way=*", tenths))},
	"rows": {"rows", tableOf("rows/keys=10000/way=*",
		ns("10,000 keys", "rows/keys=10000/way=*", milliseconds), ns("a million keys", "rows/keys=1000000/way=*", milliseconds))},
	"embed": {"embed", tableOf("embed/way=*/size",
		ns("time", "embed/way=*/write", func(ns float64) string { return fmt.Sprintf("%.2f s", ns/1e9) }),
		column{"memory", "embed/way=*/write", megabytes}, column{"size", "embed/way=*/size", megabytes},
		ns("a number is found in", "embed/way=*/number", milliseconds), ns("a text in", "embed/way=*/text", milliseconds))},
	"index":       {"index", indexTable},
	"machine":     {"report", machineTable},
	"test-uint64": {"report", reportTable("Test/keys=uint64")},
	"test-8-32":   {"report", reportTable("Test/keys=8-32")},
	"add-uint64":  {"report", reportTable("Add/keys=uint64")},
	"add-8-32":    {"report", reportTable("Add/keys=8-32")},
}

// ofAllCPUs write what is of several CPUs, with its sources. Some keep words that they have in the document.
var ofAllCPUs = map[string]func(code string, files []*file, old string) (string, error){
	"chart": chartWords, "readme": readmeTable, "columns": columnsTable, "cpus": cpusTable, "forms": formsTable,
}

// grid is a table that keeps the first error.
type grid struct {
	*race.Table
	err error
}

func newGrid(head ...string) *grid { return &grid{Table: race.NewTable(head...)} }

// figure returns a figure, and keeps the first error.
func (g *grid) figure(r run, format string, args ...any) figure {
	f, err := r.find(fmt.Sprintf(format, args...))
	if g.err == nil {
		g.err = err
	}
	return f
}

func (g *grid) text() (string, error) { return g.String(), g.err }

// column is a column of a table: its head, the name of its figures, in which * stands for that of the row, and what a cell
// has. The cell of a figure that is not there is empty.
type column struct {
	head, name string
	cell       func(f figure) string
}

// ns is a column of times.
func ns(head, name string, words func(ns float64) string) column {
	return column{head, name, func(f figure) string { return words(f.Ns) }}
}

// tableOf writes a table with a row for each figure of a name with *.
func tableOf(rows string, columns ...column) func(r run) (string, error) {
	return func(r run) (string, error) {
		head := []string{""}
		for _, c := range columns {
			head = append(head, c.head)
		}
		g, names := newGrid(head...), r.names(rows)
		if len(names) == 0 {
			return "", fmt.Errorf("the part %s has no figures %s", r.Part, rows)
		}
		for _, name := range names {
			row := []string{name}
			for _, c := range columns {
				cell := ""
				if f, err := r.find(strings.Replace(c.name, "*", name, 1)); err == nil {
					cell = c.cell(f)
				}
				row = append(row, cell)
			}
			g.Row(row...)
		}
		return g.text()
	}
}

// names returns what stands for * in the names of figures, in their order.
func (r run) names(pattern string) (names []string) {
	before, after, _ := strings.Cut(pattern, "*")
	for _, f := range r.Figures {
		if rest, ok := strings.CutPrefix(f.Name, before); ok {
			if name, ok := strings.CutSuffix(rest, after); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

func tenths(ns float64) string       { return fmt.Sprintf("%.1f", ns) }
func milliseconds(ns float64) string { return fmt.Sprintf("%.0f ms", ns/1e6) }
func megabytes(f figure) string      { return fmt.Sprintf("%.0f MB", f.MB) }

// programsTable compares programs before and after.
func programsTable(r run) (string, error) {
	g := newGrid("", "before", "after", "times as fast", "allocations")
	for _, what := range r.names("programs/what=*/way=after") {
		before, after := g.figure(r, "programs/what=%s/way=before", what), g.figure(r, "programs/what=%s/way=after", what)
		g.Row(what, digits(before.Ns), digits(after.Ns), times(after.X), fmt.Sprintf("%v → %v", before.Allocs, after.Allocs))
	}
	return g.text()
}

// indexTable has the times without an index and with one, in files that are in memory and in cold ones.
func indexTable(r run) (string, error) {
	g := newGrid("`prune`", "one key", "one key, cold", "10,000 keys", "10,000 keys, cold")
	made := g.figure(r, "index/made")
	for _, way := range [][2]string{{"without", "without an index"}, {"with", fmt.Sprintf("with one of %s, made in %.1f s", megabytes(made), made.Ns/1e9)}} {
		row := []string{way[1]}
		for _, at := range []string{"keys=1/caches=warm", "keys=1/caches=cold", "keys=10000/caches=warm", "keys=10000/caches=cold"} {
			row = append(row, milliseconds(g.figure(r, "index/way=%s/%s", way[0], at).Ns))
		}
		g.Row(row...)
	}
	return g.text()
}

// interleavedTable has a column for each shape of the filters.
func interleavedTable(r run) (string, error) {
	heads := []string{"one key"}
	rows := [][]string{{"times as fast as a `Group`"}, {"nanoseconds a filter"}}
	g := new(grid)
	for _, shape := range []struct{ filters, keys int }{{10, 1000}, {100, 1000}, {1000, 50_000}, {10_000, 5000}, {100_000, 1000}} {
		fig := g.figure(r, "Interleaved/format=parquet/filters=%d/keys=%d/kernel=%s", shape.filters, shape.keys, cmp.Or(r.values("kernel")...))
		heads = append(heads, fmt.Sprintf("%s × %s KB", race.Thousands(shape.filters), digits(float64(shape.keys)*10/8/1e3)))
		rows[0] = append(rows[0], digits(fig.X))
		rows[1] = append(rows[1], digits(fig.Ns))
	}
	filled := newGrid(heads...)
	for _, row := range rows {
		filled.Row(row...)
	}
	filled.err = g.err
	return filled.text()
}

// stagesTable compares the forms of a batch of LevelDB's filters.
func stagesTable(r run) (string, error) {
	kernel := strings.TrimSuffix(cmp.Or(r.values("kernel")...), "-loads")
	g := newGrid("times the plain loop", "dense", "in stages")
	for _, hits := range []struct {
		percent int
		name    string
	}{{0, "absent keys"}, {100, "present keys"}} {
		row := []string{hits.name}
		for _, form := range []string{"dense", "switched"} {
			row = append(row, digits(g.figure(r, "Forms/filter=16KiB/hits=%d%%/kernel=%s/form=%s", hits.percent, kernel, form).X))
		}
		g.Row(row...)
	}
	return g.text()
}

// values returns the values that a part of the names has, in their order, such as those of format.
func (r run) values(key string) (values []string) {
	for _, f := range r.Figures {
		for pair := range strings.SplitSeq(f.Name, "/") {
			if value, ok := strings.CutPrefix(pair, key+"="); ok && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return values
}

// formatsIn returns the formats that a run has figures of, the default first.
func (r run) formatsIn(key string) (names []string) {
	measured := r.values(key)
	for _, f := range formats() {
		if slices.Contains(measured, f.String()) {
			names = append(names, f.String())
		}
	}
	return names
}

// lowest returns the lowest ratio of the figures whose names have all of some parts.
func (r run) lowest(parts ...string) (string, error) {
	lowest := math.Inf(1)
	for _, f := range r.Figures {
		has := strings.Split(f.Name, "/")
		if !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(has, part) }) {
			lowest = min(lowest, f.X)
		}
	}
	if math.IsInf(lowest, 1) {
		return "", fmt.Errorf("the part %s has no figures of %v", r.Part, parts)
	}
	return fmt.Sprintf("%.2f", lowest), nil
}

// lowestOf has a row for each format, and a column for each value of a key: the lowest ratio with the kernel
// that is chosen, and with portable Go.
func (r run) lowestOf(key string, head func(value string) string) (string, error) {
	kernels, values := r.values("kernel"), r.values(key)
	heads := []string{kernels[0] + ", portable Go"}
	for _, value := range values {
		heads = append(heads, head(value))
	}
	g := newGrid(heads...)
	for _, format := range r.formatsIn("format") {
		row := []string{"`" + format + "`"}
		for _, value := range values {
			var cell []string
			for _, kernel := range []string{kernels[0], "generic"} {
				lowest, err := r.lowest("format="+format, key+"="+value, "kernel="+kernel)
				if err != nil {
					return "", err
				}
				cell = append(cell, lowest)
			}
			row = append(row, strings.Join(cell, ", "))
		}
		g.Row(row...)
	}
	return g.text()
}

func singlesTable(r run) (string, error) {
	return r.lowestOf("form", func(form string) string { return "`" + form + "`" })
}

func batchesTable(r run) (string, error) {
	return r.lowestOf("batch", func(n string) string {
		if n == "1" {
			return "1 key"
		}
		return n + " keys"
	})
}

func groupTable(r run) (string, error) {
	kernel := r.values("kernel")[0]
	g := newGrid("", "20 × 16 KiB", "ns", "1,000 × 1 MiB", "ns")
	for _, format := range r.formatsIn("format") {
		few := g.figure(r, "Group/format=%s/filters=20/each=16KiB/hits=0/kernel=%s", format, kernel)
		many := g.figure(r, "Group/format=%s/filters=1000/each=1024KiB/hits=0/kernel=%s", format, kernel)
		g.Row("`"+format+"`", times(few.X), digits(few.Ns), times(many.X), digits(many.Ns))
	}
	return g.text()
}

func setsTable(r run) (string, error) {
	g := newGrid("", "mutex, 1", "`AtomicSet`, 1", "mutex, 2", "`AtomicSet`, 2")
	for _, call := range []struct{ name, way string }{{"`AddUint64`", "add"}, {"`AddBatch`", "batch"}, {"`MayContainUint64`", "query"}} {
		row := []string{call.name}
		set := g.figure(r, "AtomicSet/keys=10000/goroutines=1/way=%s-set", call.way)
		for goroutines := 1; goroutines <= 2; goroutines++ {
			for _, kind := range []string{"mutex", "atomic"} {
				row = append(row, fmt.Sprintf("%.1f", g.figure(r, "AtomicSet/keys=10000/goroutines=%d/way=%s-%s", goroutines, call.way, kind).Ns/set.Ns))
			}
		}
		g.Row(row...)
	}
	return g.text()
}

func loadsTable(r run) (string, error) {
	head, row := []string{"size"}, []string{"ns"}
	g := new(grid)
	for _, size := range r.values("filter") {
		head = append(head, withSpace(size))
		row = append(row, digits(g.figure(r, "Loads/filter=%s", size).Ns))
	}
	filled := newGrid(head...)
	filled.Row(row...)
	filled.err = g.err
	return filled.text()
}

// uuidsTable has the times of an absent and a present key, alone and in a column, in filters of two sizes.
func uuidsTable(r run) (string, error) {
	g := newGrid("", "16 KiB: one key", "column", "8 MiB: one key", "column")
	formats := r.formatsIn("what")
	for _, what := range append(formats, otherLibrary, exactMap) {
		row := []string{what}
		isFormat := slices.Contains(formats, what)
		if isFormat {
			row[0] = "`" + what + "`"
		}
		for _, kib := range []int{16, 8192} {
			for _, keys := range []string{"one", "column"} {
				cell := ""
				if isFormat || keys == "one" {
					at := fmt.Sprintf("uuids/filter=%dKiB/what=%s/keys=%s", kib, what, keys)
					cell = digits(g.figure(r, "%s/hits=0%%", at).Ns) + ", " + digits(g.figure(r, "%s/hits=100%%", at).Ns)
				}
				row = append(row, cell)
			}
		}
		g.Row(row...)
	}
	return g.text()
}

// bitsTable has the rate, which is the same on every CPU, and the times of an absent key, alone and in a column.
func bitsTable(r run) (string, error) {
	names := r.formatsIn("what")
	head := []string{"bits per key"}
	for _, name := range names {
		head = append(head, "`"+name+"`")
	}
	g := newGrid(head...)
	for _, bits := range bitsPerKeys {
		row := []string{fmt.Sprint(bits)}
		for _, name := range names {
			rate := g.figure(r, "bits/bits=%d/what=%s", bits, name).Rate
			one := g.figure(r, "bits/bits=%d/what=%s/keys=one/hits=0%%", bits, name)
			column := g.figure(r, "bits/bits=%d/what=%s/keys=column/hits=0%%", bits, name)
			row = append(row, fmt.Sprintf("%s; %s, %s", percent(rate), digits(one.Ns), digits(column.Ns)))
		}
		g.Row(row...)
	}
	return g.text()
}

// machineTable says what bloom bench --report ran on.
func machineTable(r run) (string, error) {
	g := newGrid("", "<")
	for _, row := range [][2]string{{"CPU", "model"}, {"version", "version"}, {"kernels", "kernels"}, {"huge pages", "huge-pages"}, {"date", "date"}, {"load", "load"}} {
		text := r.Config[row[1]]
		if row[1] == "version" {
			text = strings.Replace(text, "(devel)", "(devel) at commit "+r.Commit, 1)
		}
		g.Row(row[0], text)
	}
	return g.text()
}

// reportTable has a row for each filter and share of hits, and a column for each way.
func reportTable(prefix string) func(r run) (string, error) {
	return func(r run) (string, error) {
		var rows [][]string
		head, last := []string{"format", "<filter"}, ""
		for _, f := range r.Figures {
			at, way, _ := strings.Cut(f.Name, "/way=")
			rest, ok := strings.CutPrefix(at, prefix+"/")
			if !ok {
				continue
			}
			if at != last {
				last = at
				rows = append(rows, reportRow(rest))
				if len(rows[0]) == 3 && len(rows) == 1 {
					head = append(head, "hits")
				}
			}
			if len(rows) == 1 {
				head = append(head, strings.ReplaceAll(way, "-", " "))
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], cell(f))
		}
		if len(rows) == 0 {
			return "", fmt.Errorf("the part %s has no figures of %s", r.Part, prefix)
		}
		g := newGrid(head...)
		for _, row := range rows {
			g.Row(row...)
		}
		return g.text()
	}
}

// reportRow returns the first cells of a row: the format, the size, and the share of hits if the name has one.
func reportRow(name string) (row []string) {
	for pair := range strings.SplitSeq(name, "/") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "format":
			value = "`" + value + "`"
		case "hits":
			value = strings.Replace(value, "%", " %", 1)
		default:
			value = withSpace(value)
		}
		row = append(row, value)
	}
	return row
}

// withSpace writes a size such as 16KiB with a space.
func withSpace(size string) string {
	return strings.NewReplacer("KiB", " KiB", "MiB", " MiB").Replace(size)
}

// cell writes a figure with its deciles.
func cell(f figure) string {
	if f.X == 0 {
		return fmt.Sprintf("%s (%s–%s)", fixed(f.Ns), fixed(f.Low), fixed(f.High))
	}
	return fmt.Sprintf("%s ×%s (%s–%s)", fixed(f.Ns), fixed(f.X), fixed(f.Low), fixed(f.High))
}

// fixed writes a number with three digits, or two after the point.
func fixed(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func times(x float64) string { return "×" + digits(x) }

func digits(v float64) string { return race.Digits(v) }

// percent writes a share with two digits.
func percent(share float64) string {
	percent := race.Three(100 * share)
	switch {
	case percent == 0:
		return "0 %"
	case percent < 0.0001:
		return "under 0.0001 %"
	}
	for limit, places := 0.00995, 4; places >= 0; limit, places = limit*10, places-1 {
		if percent < limit || places == 0 {
			return fmt.Sprintf("%.*f %%", places, percent)
		}
	}
	return ""
}
