package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// table writes a table of a part's figures.
type table struct {
	part  string
	write func(r run) (string, error)
}

// tables are those that a page can have between markers, as in <!-- figures group zen5 -->.
var tables = map[string]table{
	"libraries":   {"libraries", librariesTable},
	"few":         {"singles", singlesTable},
	"batches":     {"batches", batchesTable},
	"group":       {"group", groupTable},
	"sets":        {"sets", setsTable},
	"loads":       {"loads", loadsTable},
	"lines":       {"lines", linesTable},
	"uuids-16KiB": {"uuids", func(r run) (string, error) { return uuidsTable(r, 16) }},
	"uuids-8MiB":  {"uuids", func(r run) (string, error) { return uuidsTable(r, 8192) }},
	"bits":        {"bits", bitsTable},
}

// grid writes a table: the first of the columns has words, and the others have numbers.
type grid struct {
	b   strings.Builder
	err error
}

func newGrid(head ...string) *grid {
	var g grid
	g.row(head...)
	g.b.WriteString("|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
	return &g
}

func (g *grid) row(cells ...string) { fmt.Fprintf(&g.b, "| %s |\n", strings.Join(cells, " | ")) }

// figure returns a figure, and keeps the first error.
func (g *grid) figure(r run, format string, args ...any) figure {
	f, err := r.find(fmt.Sprintf(format, args...))
	if g.err == nil {
		g.err = err
	}
	return f
}

func (g *grid) text() (string, error) { return g.b.String(), g.err }

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
		g.row(row...)
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
		g.row("`"+format+"`", times(few.X), digits(few.Ns), times(many.X), digits(many.Ns))
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
		g.row(row...)
	}
	return g.text()
}

func loadsTable(r run) (string, error) {
	head, row := []string{"size"}, []string{"ns"}
	g := new(grid)
	for _, size := range r.values("filter") {
		head = append(head, strings.NewReplacer("KiB", " KiB", "MiB", " MiB").Replace(size))
		row = append(row, digits(g.figure(r, "Loads/filter=%s", size).Ns))
	}
	filled := newGrid(head...)
	filled.row(row...)
	filled.err = g.err
	return filled.text()
}

func linesTable(r run) (string, error) {
	g := newGrid("", "seconds", "exact")
	for _, tool := range []struct{ name, words string }{
		{"bloom build + filter", "`bloom build` and `bloom filter`"}, {"sort + join", "`sort`, `sort`, `join`"},
		{"awk", "`awk` (mawk) with an array"}, {"grep -F -x -f", "`grep -F -x -f`"},
	} {
		exact := "yes"
		if strings.HasPrefix(tool.name, "bloom") {
			exact = fmt.Sprintf("no: %s of the unknown lines pass", percent(g.figure(r, "lines").Rate))
		}
		g.row(tool.words, digits(g.figure(r, "lines/tool=%s", tool.name).Ns*linesOfStream/1e9), exact)
	}
	return g.text()
}

func uuidsTable(r run, kib int) (string, error) {
	g := newGrid("", "one key, absent", "present", "column, absent", "present")
	for _, what := range append(r.formatsIn("what"), otherLibrary, exactMap) {
		row := []string{what}
		isFormat := slices.Contains(r.formatsIn("what"), what)
		if isFormat {
			row[0] = "`" + what + "`"
		}
		for _, keys := range []string{"one", "column"} {
			for _, hits := range []int{0, 100} {
				cell := ""
				if isFormat || keys == "one" {
					cell = digits(g.figure(r, "uuids/filter=%dKiB/what=%s/keys=%s/hits=%d%%", kib, what, keys, hits).Ns)
				}
				row = append(row, cell)
			}
		}
		g.row(row...)
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
		g.row(row...)
	}
	return g.text()
}

// leftOut are rows like others: the table has single keys of the default alone.
var leftOut = map[string]bool{
	"lanebloom, key by key": true, "lanebloom, Parquet, key by key": true, "lanebloom, Pebble, key by key": true,
	"lanebloom, Pebble, at once": true, "C++ RocksDB before 5, at once": true,
}

// librariesTable has all other libraries, by the numbers of keys.
func librariesTable(r run) (string, error) {
	type timing struct {
		Ns float64 `json:"nsPerKey"`
	}
	type row struct {
		Library, Call          string
		FalsePositiveRate      float64
		Absent, Present, Build *timing
	}
	type size struct {
		Keys int
		Rows []row
	}
	var report struct{ Sizes []size }
	if err := json.Unmarshal(r.Report, &report); err != nil {
		return "", err
	}
	slices.SortFunc(report.Sizes, func(a, b size) int { return a.Keys - b.Keys })
	g := newGrid("", "false positives", "absent", "present", "build")
	if len(report.Sizes) == 0 {
		return "", fmt.Errorf("sidebyside has written no figures")
	}
	rows := report.Sizes[0].Rows
	order := make([]int, len(rows))
	for i := range rows {
		order[i] = i
	}
	isDefault := func(i int) bool { return rows[i].Library == "lanebloom, RocksDB" }
	slices.SortStableFunc(order, func(i, j int) int { return oneIf(isDefault(j)) - oneIf(isDefault(i)) })
	for _, i := range order {
		first := rows[i]
		if first.Absent == nil || leftOut[first.Library+", "+first.Call] {
			continue
		}
		name := first.Library + ", " + first.Call
		if first.Library == "lanebloom" {
			name = "lanebloom, LevelDB, " + first.Call
		}
		var rates []string
		var cells [3][]string
		for _, size := range report.Sizes {
			same := size.Rows[i]
			rates = append(rates, strings.TrimSuffix(percent(same.FalsePositiveRate), " %"))
			for j, t := range []*timing{same.Absent, same.Present, same.Build} {
				if t != nil {
					cells[j] = append(cells[j], digits(t.Ns))
				}
			}
		}
		g.row(name, strings.Join(rates, ", ")+" %", strings.Join(cells[0], ", "), strings.Join(cells[1], ", "), strings.Join(cells[2], ", "))
	}
	return g.text()
}

// columnsTable has a row for each format and CPU.
func columnsTable(pages []page) (string, error) {
	sizes, hits := []string{"16 KiB", "8 MiB", "64 MiB"}, []string{"0 %", "100 %"}
	g := newGrid("", "CPU", "16 KiB, absent", "present", "8 MiB, absent", "present", "64 MiB, absent", "present")
	for _, f := range formats() {
		for _, p := range pages {
			row := []string{"`" + f.String() + "`", p.name}
			for _, size := range sizes {
				for _, hit := range hits {
					c, ok := p.cells["Testing integers/"+f.String()+"/"+size+"/"+hit+"/"+p.kernel]
					if !ok {
						continue
					}
					row = append(row, times(c.X)+" "+digits(c.Ns))
				}
			}
			if len(row) == 2+len(sizes)*len(hits) { // the page may be older than the format
				g.row(row...)
			}
		}
	}
	return g.text()
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func times(x float64) string { return "×" + digits(x) }

// digits writes a number with two digits, or all before the point.
func digits(v float64) string {
	switch {
	case v < 0.995:
		return fmt.Sprintf("%.2f", v)
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// percent writes a share with two digits.
func percent(share float64) string {
	percent := three(100 * share)
	for limit, places := 0.00995, 4; places >= 0; limit, places = limit*10, places-1 {
		if percent < limit || places == 0 {
			return fmt.Sprintf("%.*f %%", places, percent)
		}
	}
	return ""
}
