package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// table is a table of a part's figures. It has a row for each figure of a name. In this name and in those of the columns, *
// stands for what differs from row to row, and KERNEL for the first kernel of the CPU.
type table struct {
	part    string
	head    string // of the first column
	rows    string
	label   func(row string) string // the first cell, or nothing to leave the row out; if it is nil, labelOf is taken
	columns []column
	turned  bool                        // rows stand side by side, and columns one below the other
	write   func(r run) (string, error) // in place of rows and columns
}

// column is a column of a table: its head, and what a cell makes of figures.
type column struct {
	head     string
	names    []string
	cell     func(f []figure) string
	optional bool // figures may be missing
}

// ns is a column of times.
func ns(head string, words func(ns float64) string, names ...string) column {
	return column{head: head, names: names, cell: func(figures []figure) string {
		var cells []string
		for _, f := range figures {
			cells = append(cells, words(f.Ns))
		}
		return strings.Join(cells, ", ")
	}}
}

// one is a column that shows one figure.
func one(head string, words func(f figure) string, name string) column {
	return column{head: head, names: []string{name}, cell: func(f []figure) string {
		if len(f) == 0 {
			return ""
		}
		return words(f[0])
	}}
}

func optional(c column) column {
	c.optional = true
	return c
}

func tenths(ns float64) string       { return fmt.Sprintf("%.1f", ns) }
func milliseconds(ns float64) string { return fmt.Sprintf("%.0f ms", ns/1e6) }
func seconds(ns float64) string      { return fmt.Sprintf("%.2f s", ns/1e9) }
func megabytes(f figure) string      { return fmt.Sprintf("%.0f MB", f.MB) }
func timesAsFast(f figure) string    { return times(f.X) }

// tables are those that a page can have between markers, as in <!-- figures group zen5 -->.
var tables = map[string]table{
	"libraries": librariesTable(),
	"few": {part: "singles", write: func(r run) (string, error) {
		return r.lowestOf("form", func(form string) string { return "`" + form + "`" })
	}},
	"batches": {part: "batches", write: func(r run) (string, error) {
		return r.lowestOf("batch", func(n string) string { return strings.TrimSuffix(n+" keys", map[bool]string{true: "s"}[n == "1"]) })
	}},
	"small": {part: "small", rows: "SmallBatches/format=*/filter=16KiB/hits=0%/kernel=KERNEL/keys=uint64/batch=1", label: labelOfShown, columns: columnsOfBatches(1, 4, 8, 15, 16, 32)},
	"hashes": {part: "hashes", head: "keys", rows: "Hashes/keys=*/way=XXH64", label: labelOfKeys, columns: []column{
		ns("`Parquet.AppendHashes64` (XXH64)", digits, "Hashes/keys=*/way=XXH64"), ns("cespare/xxhash", digits, "Hashes/keys=*/way=cespare"),
		optional(ns("parquet-go", digits, "Hashes/keys=*/way=parquet-go")),
		ns("`RocksDB.AppendHashes64` (XXPH3)", digits, "Hashes/keys=*/way=XXPH3"), ns("zeebo/xxh3 (XXH3)", digits, "Hashes/keys=*/way=zeebo")}},
	"window": {part: "window", rows: "Window/call=*/way=p50", columns: []column{
		ns("half of the calls end within", digits, "Window/call=*/way=p50"), ns("99 of 100 within", digits, "Window/call=*/way=p99")}},
	"folder":   {part: "window", rows: "Folder/job=*", columns: []column{ns("time", milliseconds, "Folder/job=*"), one("written or read", megabytes, "Folder/job=*")}},
	"database": {part: "database", rows: "Database/*", label: labelOfDatabase, columns: []column{ns("time", people, "Database/*")}},
	"group": {part: "group", rows: "Group/format=*/filters=20/each=16KiB/hits=0/kernel=KERNEL", label: labelOfShown, columns: []column{
		one("20 × 16 KiB", timesAsFast, "Group/format=*/filters=20/each=16KiB/hits=0/kernel=KERNEL"), ns("ns", digits, "Group/format=*/filters=20/each=16KiB/hits=0/kernel=KERNEL"),
		one("1,000 × 1 MiB", timesAsFast, "Group/format=*/filters=1000/each=1024KiB/hits=0/kernel=KERNEL"), ns("ns", digits, "Group/format=*/filters=1000/each=1024KiB/hits=0/kernel=KERNEL")}},
	"sets": {part: "sets", rows: "AtomicSet/keys=10000/goroutines=1/way=*-set", label: labelOfCall, columns: []column{
		besideSet("mutex, 1", 1, "mutex"), besideSet("`AtomicSet`, 1", 1, "atomic"), besideSet("mutex, 2", 2, "mutex"), besideSet("`AtomicSet`, 2", 2, "atomic")}},
	"loads":  {part: "loads", head: "size", rows: "Loads/filter=*", turned: true, columns: []column{ns("ns", digits, "Loads/filter=*")}},
	"lines":  linesTable(filterLines),
	"unique": linesTable(uniqueLines),
	"uuids": {part: "uuids", rows: "UUIDs/filter=16KiB/what=*/keys=one/hits=0%", columns: []column{
		ns("16 KiB: one key", digits, "UUIDs/filter=16KiB/what=*/keys=one/hits=0%", "UUIDs/filter=16KiB/what=*/keys=one/hits=100%"),
		optional(ns("column", digits, "UUIDs/filter=16KiB/what=*/keys=column/hits=0%", "UUIDs/filter=16KiB/what=*/keys=column/hits=100%")),
		ns("8 MiB: one key", digits, "UUIDs/filter=8192KiB/what=*/keys=one/hits=0%", "UUIDs/filter=8192KiB/what=*/keys=one/hits=100%"),
		optional(ns("column", digits, "UUIDs/filter=8192KiB/what=*/keys=column/hits=0%", "UUIDs/filter=8192KiB/what=*/keys=column/hits=100%"))}},
	"bits": {part: "bits", write: bitsTable},
	"interleaved": {part: "interleaved", head: "one key", rows: "Interleaved/format=parquet/filters=*/kernel=KERNEL", label: labelOfFilters, turned: true, columns: []column{
		one("times as fast as a `Group`", func(f figure) string { return digits(f.X) }, "Interleaved/format=parquet/filters=*/kernel=KERNEL"),
		ns("nanoseconds a filter", digits, "Interleaved/format=parquet/filters=*/kernel=KERNEL")}},
	"stages": {part: "forms", head: "times the plain loop", rows: "Forms/filter=16KiB/hits=*/kernel=KERNEL/form=dense", label: labelOfHits, columns: []column{
		one("dense", func(f figure) string { return digits(f.X) }, "Forms/filter=16KiB/hits=*/kernel=KERNEL/form=dense"),
		one("in stages", func(f figure) string { return digits(f.X) }, "Forms/filter=16KiB/hits=*/kernel=KERNEL/form=switched")}},
	"programs": {part: "programs", rows: "Programs/what=*/way=after", columns: []column{
		ns("before", digits, "Programs/what=*/way=before"), ns("after", digits, "Programs/what=*/way=after"), one("times as fast", timesAsFast, "Programs/what=*/way=after"),
		{head: "allocations", names: []string{"Programs/what=*/way=before", "Programs/what=*/way=after"}, cell: func(f []figure) string { return fmt.Sprintf("%v → %v", f[0].Allocs, f[1].Allocs) }}}},
	"arrow": {part: "arrow", rows: "Arrow/column=strings/job=tested/way=*", columns: []column{
		ns("strings, tested", tenths, "Arrow/column=strings/job=tested/way=*"), ns("filtered", tenths, "Arrow/column=strings/job=filtered/way=*"),
		ns("int64, tested", tenths, "Arrow/column=int64/job=tested/way=*"), ns("filtered", tenths, "Arrow/column=int64/job=filtered/way=*")}},
	"rows": {part: "rows", rows: "Rows/keys=10000/way=*", columns: []column{
		ns("10,000 keys", milliseconds, "Rows/keys=10000/way=*"), ns("a million keys", milliseconds, "Rows/keys=1000000/way=*")}},
	"embed": {part: "embed", rows: "Embed/way=*/size", columns: []column{
		optional(ns("time", seconds, "Embed/way=*/write")), optional(one("memory", megabytes, "Embed/way=*/write")), one("size", megabytes, "Embed/way=*/size"),
		ns("a number is found in", milliseconds, "Embed/way=*/number"), ns("a string in", milliseconds, "Embed/way=*/text")}},
	"index": {part: "index", head: "`prune`", rows: "Index/way=*/keys=1/caches=warm", columns: []column{
		ns("one key", milliseconds, "Index/way=*/keys=1/caches=warm"), ns("one key, cold", milliseconds, "Index/way=*/keys=1/caches=cold"),
		ns("10,000 keys", milliseconds, "Index/way=*/keys=10000/caches=warm"), ns("10,000 keys, cold", milliseconds, "Index/way=*/keys=10000/caches=cold"),
		optional(ns("made in", seconds, "Index/way=*/made")), optional(one("size", megabytes, "Index/way=*/made"))}},
	"machine":     {part: "report", write: machineTable},
	"test-uint64": reportTable("Test/keys=uint64/"),
	"test-8-32":   reportTable("Test/keys=8-32/"),
	"add-uint64":  reportTable("Add/keys=uint64/"),
	"add-8-32":    reportTable("Add/keys=8-32/"),
}

// ofAllCPUs write what is of several CPUs, with its sources. Some keep words that they have in the document.
var ofAllCPUs = map[string]func(code string, files []*file, old string) (string, error){
	"chart": chartWords, "readme": readmeTable, "columns": columnsTable, "cpus": cpusTable, "forms": formsTable,
}

// text returns the table.
func (t table) text(r run) (string, error) {
	if t.write != nil {
		return t.write(r)
	}
	label := t.label
	if label == nil {
		label = labelOf
	}
	head := []string{t.head}
	for _, c := range t.columns {
		head = append(head, c.head)
	}
	cells := [][]string{head}
	names := r.names(t.rows)
	if len(names) == 0 {
		return "", fmt.Errorf("the part %s has no figures %s", r.Part, t.rows)
	}
	for _, name := range names {
		row := []string{label(name)}
		if row[0] == "" {
			continue
		}
		for _, c := range t.columns {
			cell, err := c.text(r, name)
			if err != nil {
				return "", err
			}
			row = append(row, cell)
		}
		cells = append(cells, row)
	}
	if t.turned {
		cells = turn(cells)
	}
	written := race.NewTable(cells[0]...)
	for _, row := range cells[1:] {
		written.Row(row...)
	}
	return written.String(), nil
}

// turn returns rows for the columns of a table.
func turn(cells [][]string) (turned [][]string) {
	for i := range cells[0] {
		var row []string
		for _, of := range cells {
			row = append(row, of[i])
		}
		turned = append(turned, row)
	}
	return turned
}

// text returns the cell of a row.
func (c column) text(r run, row string) (string, error) {
	var figures []figure
	for _, name := range c.names {
		f, err := r.find(strings.Replace(r.ofKernel(name), "*", row, 1))
		switch {
		case err == nil:
			figures = append(figures, f)
		case !c.optional:
			return "", err
		}
	}
	return c.cell(figures), nil
}

// names returns what stands for * in the names of figures, in their order.
func (r run) names(pattern string) (names []string) {
	before, after, _ := strings.Cut(r.ofKernel(pattern), "*")
	for _, f := range r.Figures {
		if rest, ok := strings.CutPrefix(f.Name, before); ok {
			if name, ok := strings.CutSuffix(rest, after); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// ofKernel returns the name of a figure of the first kernel.
func (r run) ofKernel(name string) string {
	return strings.Replace(name, "KERNEL", strings.TrimSuffix(cmp.Or(r.values("kernel")...), "-loads"), 1)
}

// quantity is a size or a share as names have it.
var quantity = regexp.MustCompile(`^([\d.]+)([KM]iB|%)$`)

// labelOf writes a format, a size such as 16KiB, or a share such as 10%, for people.
func labelOf(value string) string {
	if _, err := bloom.ParseFormat(value); err == nil {
		return "`" + value + "`"
	}
	return quantity.ReplaceAllString(value, "$1 $2")
}

// labelOfShown leaves out the formats that users do not choose from.
func labelOfShown(format string) string {
	if f, err := bloom.ParseFormat(format); err != nil || !slices.Contains(formats(), f) {
		return ""
	}
	return labelOf(format)
}

func labelOfHits(hits string) string {
	return map[string]string{"0%": "absent keys", "100%": "present keys"}[hits]
}

func labelOfCall(way string) string {
	return map[string]string{"add": "`AddUint64`", "batch": "`AddBatch`", "query": "`MayContainUint64`"}[way]
}

// labelOfKeys says what keys of a benchmark are: a length, or its own word.
func labelOfKeys(keys string) string {
	if keys[0] < '0' || keys[0] > '9' {
		return strings.ReplaceAll(keys, "-", " ")
	}
	return "strings of " + strings.Replace(keys, "-", " to ", 1) + " bytes"
}

// labelOfDatabase says what a benchmark of a database does.
func labelOfDatabase(name string) string {
	return map[string]string{
		"open": "open all tables", "view/key": "one key, by `View.MayContain`", "filters/key": "one key, by `FilterMayContain` of each table",
		"view/column": "a key and a table of a column, by `View.MayContainBatch`", "each/column": "a key and a table of a column, by `MayContainBatch` of each table",
	}[name]
}

// people writes a time in the unit that people would use.
func people(ns float64) string {
	switch {
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	case ns >= 1e3:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

// columnsOfBatches have the times of a key in batches of some sizes: an integer, and a string.
func columnsOfBatches(sizes ...int) (columns []column) {
	for _, n := range sizes {
		of := "SmallBatches/format=*/filter=16KiB/hits=0%/kernel=KERNEL/keys=%s/batch=" + strconv.Itoa(n)
		columns = append(columns, ns(strconv.Itoa(n), digits, strings.Replace(of, "%s", "uint64", 1), strings.Replace(of, "%s", "string", 1)))
	}
	return columns
}

// labelOfFilters writes the number of filters, and their size.
func labelOfFilters(name string) string {
	var filters, keys int
	if _, err := fmt.Sscanf(name, "%d/keys=%d", &filters, &keys); err != nil {
		return ""
	}
	return fmt.Sprintf("%s × %s KB", race.Thousands(filters), digits(float64(keys)*10/8/1e3))
}

// besideSet is a column of how many times as long as a Set another set takes.
func besideSet(head string, goroutines int, kind string) column {
	other := fmt.Sprintf("AtomicSet/keys=10000/goroutines=%d/way=*-%s", goroutines, kind)
	return column{head: head, names: []string{other, "AtomicSet/keys=10000/goroutines=1/way=*-set"}, cell: func(f []figure) string { return tenths(f[0].Ns / f[1].Ns) }}
}

// bitsTable has a column for each format that the run has figures of: the rate, which is the same on every CPU, and the times of an
// absent key, alone and in a column.
func bitsTable(r run) (string, error) {
	t := table{part: "bits", head: "bits per key", rows: "Bits/bits=*/what=" + bloom.Default.String()}
	for _, format := range r.formatsIn("what") {
		at := "Bits/bits=*/what=" + format
		t.columns = append(t.columns, column{head: "`" + format + "`", names: []string{at, at + "/keys=one/hits=0%", at + "/keys=column/hits=0%"}, cell: func(f []figure) string {
			return fmt.Sprintf("%s; %s, %s", percent(f[0].Rate), digits(f[1].Ns), digits(f[2].Ns))
		}})
	}
	return t.text(r)
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
	t := race.NewTable(heads...)
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
		t.Row(row...)
	}
	return t.String(), nil
}

// machineTable says what bloom bench --report ran on.
func machineTable(r run) (string, error) {
	t := race.NewTable("", "<")
	for _, row := range [][2]string{{"CPU", "model"}, {"version", "version"}, {"kernels", "kernels"}, {"huge pages", "huge-pages"}, {"date", "date"}, {"load", "load"}} {
		text := r.Config[row[1]]
		if row[1] == "version" {
			text = strings.Replace(text, "(devel)", "(devel) at commit "+r.Commit, 1)
		}
		t.Row(row[0], text)
	}
	return t.String(), nil
}

// reportTable has a row for each filter and share of hits, and a column for each way.
func reportTable(prefix string) table {
	return table{part: "report", write: func(r run) (string, error) {
		names := r.names(prefix + "*/way=plain-loop")
		if len(names) == 0 {
			return "", fmt.Errorf("the part %s has no figures of %s", r.Part, prefix)
		}
		var head []string
		for pair := range strings.SplitSeq(names[0], "/") {
			key, _, _ := strings.Cut(pair, "=")
			head = append(head, strings.Replace(key, "filter", "<filter", 1))
		}
		ways := r.names(prefix + names[0] + "/way=*")
		for _, way := range ways {
			head = append(head, strings.ReplaceAll(way, "-", " "))
		}
		t := race.NewTable(head...)
		for _, name := range names {
			var row []string
			for pair := range strings.SplitSeq(name, "/") {
				_, value, _ := strings.Cut(pair, "=")
				row = append(row, labelOf(value))
			}
			for _, way := range ways {
				f, err := r.find(prefix + name + "/way=" + way)
				if err != nil {
					return "", err
				}
				row = append(row, cell(f))
			}
			t.Row(row...)
		}
		return t.String(), nil
	}}
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
