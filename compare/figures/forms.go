package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// formOf says what measures a form of the assembly: cells of the CPUs' pages, or figures of the part that is named
// before a colon. KERNEL stands for the first kernel of the CPU. All are how many times as fast as the plain loop, or as
// what the words name.
type formOf struct {
	words   string
	figures []string
}

// integers are tests of a column of integers at 16 KiB, absent and present.
func integers(format string) []string {
	at := "Testing integers/" + format + "/16 KiB/"
	return []string{at + "0 %/KERNEL", at + "100 %/KERNEL"}
}

// formsOfBenchmarks is what the part forms runs.
const formsOfBenchmarks = `Forms/filter=16KiB/hits=(0|100)%/kernel=(avx512|avx2|neon)/form=(staged|dense|switched)$|` +
	`Gathers/keys=8-8/job=(hash|absent|present)/kernel=(avx512|avx2)-loads|Stripes/bytes=1000|` +
	`Columns/keys=8-32/hits=(0|100)%/kernel=(avx512|avx2|neon)/layout=Views|Nulls/format=parquet/layout=uint64/nulls=50%/path=test/kernel=(avx512|avx2|neon)`

// forms has a line for each row of the table, by the first name in it.
var forms = map[string]formOf{
	"probeDouble32":      {"`leveldb`, absent, present", integers("leveldb")},
	"probeDouble32Loads": {"over gathers, absent, present", []string{"forms:Gathers/keys=8-8/job=absent/kernel=KERNEL-loads", "forms:Gathers/keys=8-8/job=present/kernel=KERNEL-loads"}},
	"probeFull64":        {"`nori`, absent, present", integers("nori")},
	"probeSplit256":      {"`parquet`, absent, present", integers("parquet")},
	"setSplit256":        {"`parquet`, `rocksdb`", []string{"Adding integers/parquet/16 KiB/AddBatch", "Adding integers/rocksdb/16 KiB/AddBatch"}},
	"setNewSplit256":     {"`parquet`, `rocksdb`", []string{"Adding integers/parquet/16 KiB/TestAndAddBatch", "Adding integers/rocksdb/16 KiB/TestAndAddBatch"}},
	"placeDouble32":      {"`leveldb`, `nori` of 1 MiB", []string{"Adding integers/leveldb/1 MiB/NewFilter", "Adding integers/nori/1 MiB/NewFilter"}},
	"andSlices":          {"over a `Group`, 1,000 and 100,000 filters", []string{"interleaved:Interleaved/format=parquet/filters=1000/keys=50000/kernel=KERNEL", "interleaved:Interleaved/format=parquet/filters=100000/keys=1000/kernel=KERNEL"}},
	"hash32":             {"`rocksdb`, absent, present", integers("rocksdb")},
	"hash32Loads":        {"over gathers", []string{"forms:Gathers/keys=8-8/job=hash/kernel=KERNEL-loads"}},
	"hash32Rows": {"strings, absent: `leveldb`, `parquet`, `rocksdb`", []string{
		"Testing byte slices of 8 to 32 bytes/leveldb/16 KiB/0 %/KERNEL", "Testing byte slices of 8 to 32 bytes/parquet/16 KiB/0 %/KERNEL",
		"Testing byte slices of 8 to 32 bytes/rocksdb/16 KiB/0 %/KERNEL"}},
	"xxph3Stripes": {"hashes of 1,000 bytes, over Go", []string{"forms:Stripes/bytes=1000"}},
	"groupSplit256": {"over a loop, `parquet`, `rocksdb`", []string{
		"group:Group/format=parquet/filters=1000/each=1024KiB/hits=0/kernel=KERNEL", "group:Group/format=rocksdb/filters=1000/each=1024KiB/hits=0/kernel=KERNEL"}},
	"probeUint64": {"`parquet`, `leveldb`, absent", []string{"Testing integers/parquet/16 KiB/0 %/one key", "Testing integers/leveldb/16 KiB/0 %/one key"}},
	"addUint64":   {"`parquet`, `rocksdb`", []string{"Adding integers/parquet/16 KiB/one key", "Adding integers/rocksdb/16 KiB/one key"}},
	"viewStrings": {"`leveldb`, absent, present", []string{"forms:Columns/keys=8-32/hits=0%/kernel=KERNEL/layout=Views", "forms:Columns/keys=8-32/hits=100%/kernel=KERNEL/layout=Views"}},
	"pack32":      {"half the rows null, over none null", []string{"forms:Nulls/format=parquet/layout=uint64/nulls=50%/path=test/kernel=KERNEL"}},
}

var firstName = regexp.MustCompile("^`(\\w+)`")

// formsTable returns a table with the words that it has, and the figures of all CPUs in its last column. Below it is what
// measured those that are not on the pages of the CPUs.
func formsTable(root, code string, pages []page, old string) (string, error) {
	var b strings.Builder
	found := map[string]bool{}
	columns := 0
	for line := range strings.Lines(old) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		m := firstName.FindStringSubmatch(row[0])
		if m == nil { // the head
			columns = max(columns, len(row))
			b.WriteString(line)
			continue
		}
		form, ok := forms[m[1]]
		if !ok || len(row) != columns {
			return "", fmt.Errorf("the row of %s has %d cells, want %d, or no figures are known of it", m[1], len(row), columns)
		}
		found[m[1]] = true
		cell, err := form.cell(root, pages)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m[1], err)
		}
		row[columns-1] = cell
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	for name := range forms {
		if !found[name] {
			return "", fmt.Errorf("the table has no row of %s", name)
		}
	}
	f, err := read(root, pages[0].stem)
	if err != nil {
		return "", err
	}
	var parts, commits []string
	for _, part := range []string{"batches", "forms", "group", "interleaved"} {
		r, err := f.run(part)
		if err != nil {
			continue
		}
		parts = append(parts, part)
		if commit := r.Commit + age(r.Code, code); !slices.Contains(commits, commit) {
			commits = append(commits, commit)
		}
	}
	fmt.Fprintf(&b, "\nFigures of %s alone: commit %s, `make figures CPU=%q PARTS=%q`. The others:\n", f.Name, strings.Join(commits, ", "), f.Name, strings.Join(parts, " "))
	return b.String(), nil
}

// cell returns the figures of a form, by CPU. It leaves out a CPU of which they were not measured.
func (f formOf) cell(root string, pages []page) (string, error) {
	var cpus []string
	for _, p := range pages {
		measured, err := read(root, p.stem)
		if err != nil {
			return "", err
		}
		var cells []string
		for _, name := range f.figures {
			name = strings.ReplaceAll(name, "KERNEL", p.kernel)
			part, rest, ofPart := strings.Cut(name, ":")
			fig, ok := p.cells[name]
			if ofPart {
				r, err := measured.run(part)
				if err != nil {
					break
				}
				if fig, err = r.find(rest); err != nil {
					return "", err
				}
			} else if !ok {
				break // the page may be older than the format
			}
			cells = append(cells, times(fig.X))
		}
		if len(cells) == len(f.figures) {
			cpus = append(cpus, p.name+" "+strings.Join(cells, ", "))
		}
	}
	if len(cpus) == 0 {
		return "not measured yet", nil
	}
	return f.words + ": " + strings.Join(cpus, "; "), nil
}
