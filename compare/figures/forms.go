package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// formOf says what measures a form of the assembly: figures of the part that is named before a colon. KERNEL stands for the first kernel of the CPU. All are how many times as fast as the plain loop, or as
// what the words name.
type formOf struct {
	words   string
	figures []string
}

// testsOf are tests of a column of integers at 16 KiB, absent and present.
func testsOf(format string) []string {
	at := "report:Test/keys=uint64/format=" + format + "/filter=16KiB/hits="
	return []string{at + "0%/way=KERNEL", at + "100%/way=KERNEL"}
}

// formsOfBenchmarks is what the part forms runs.
const formsOfBenchmarks = `Forms/filter=16KiB/hits=(0|100)%/kernel=(avx512|avx2|neon)/form=(dense|switched)$|` +
	`Stripes/bytes=1000|` +
	`Columns/keys=8-32/hits=(0|100)%/kernel=(avx512|avx2|neon)/layout=Views|Nulls/format=parquet/layout=uint64/nulls=50%/path=test/kernel=(avx512|avx2|neon)`

// forms has a line for each row of the table, by the first name in it.
var forms = map[string]formOf{
	"probeDouble32":  {"`leveldb`, absent, present", testsOf("leveldb")},
	"probeFull64":    {"`nori`, absent, present", testsOf("nori")},
	"probeSplit256":  {"`parquet`, absent, present", testsOf("parquet")},
	"setSplit256":    {"`parquet`, `rocksdb`", []string{"report:Add/keys=uint64/format=parquet/filter=16KiB/way=AddBatch", "report:Add/keys=uint64/format=rocksdb/filter=16KiB/way=AddBatch"}},
	"setNewSplit256": {"`parquet`, `rocksdb`", []string{"report:Add/keys=uint64/format=parquet/filter=16KiB/way=TestAndAddBatch", "report:Add/keys=uint64/format=rocksdb/filter=16KiB/way=TestAndAddBatch"}},
	"placeDouble32":  {"`leveldb`, `nori` of 1 MiB", []string{"report:Add/keys=uint64/format=leveldb/filter=1MiB/way=NewFilter", "report:Add/keys=uint64/format=nori/filter=1MiB/way=NewFilter"}},
	"andSlices":      {"over a `Group`, 1,000 and 100,000 filters", []string{"interleaved:Interleaved/format=parquet/filters=1000/keys=50000/kernel=KERNEL", "interleaved:Interleaved/format=parquet/filters=100000/keys=1000/kernel=KERNEL"}},
	"hash32":         {"`rocksdb`, absent, present", testsOf("rocksdb")},
	"hash32Rows": {"strings, absent: `leveldb`, `parquet`, `rocksdb`", []string{
		"report:Test/keys=8-32/format=leveldb/filter=16KiB/hits=0%/way=KERNEL", "report:Test/keys=8-32/format=parquet/filter=16KiB/hits=0%/way=KERNEL",
		"report:Test/keys=8-32/format=rocksdb/filter=16KiB/hits=0%/way=KERNEL"}},
	"xxph3Stripes": {"hashes of 1,000 bytes, over Go", []string{"forms:Stripes/bytes=1000"}},
	"groupSplit256": {"over a loop, `parquet`, `rocksdb`", []string{
		"group:Group/format=parquet/filters=1000/each=1024KiB/hits=0/kernel=KERNEL", "group:Group/format=rocksdb/filters=1000/each=1024KiB/hits=0/kernel=KERNEL"}},
	"probeUint64": {"`parquet`, `leveldb`, absent", []string{"report:Test/keys=uint64/format=parquet/filter=16KiB/hits=0%/way=one-key", "report:Test/keys=uint64/format=leveldb/filter=16KiB/hits=0%/way=one-key"}},
	"addUint64":   {"`parquet`, `rocksdb`", []string{"report:Add/keys=uint64/format=parquet/filter=16KiB/way=one-key", "report:Add/keys=uint64/format=rocksdb/filter=16KiB/way=one-key"}},
	"viewStrings": {"`leveldb`, absent, present", []string{"forms:Columns/keys=8-32/hits=0%/kernel=KERNEL/layout=Views", "forms:Columns/keys=8-32/hits=100%/kernel=KERNEL/layout=Views"}},
	"pack32":      {"half the rows null, over none null", []string{"forms:Nulls/format=parquet/layout=uint64/nulls=50%/path=test/kernel=KERNEL"}},
}

var firstName = regexp.MustCompile("^`(\\w+)`")

// formsTable keeps the words of a table, and writes the figures of all CPUs into its last column. Below the table it writes commit
// and command of those figures that are not on the pages of the CPUs.
func formsTable(code string, files []*file, old string) (string, error) {
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
		cell, err := form.cell(files)
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
	parts := []string{"forms", "group", "interleaved"} // whose figures are in no table of a CPU's page
	var commits []string
	for _, f := range files {
		for _, part := range parts {
			if r, err := f.run(part); err == nil {
				if commit := f.Name + " at commit " + r.Commit + age(r.Code, code); !slices.Contains(commits, commit) {
					commits = append(commits, commit)
				}
			}
		}
	}
	fmt.Fprintf(&b, "\nSome forms have no table on the pages of CPUs. Their figures come from `make figures CPU=NAME PARTS=%q` on %s. The figures of all other forms are from the pages of these CPUs:\n", strings.Join(parts, " "), strings.Join(commits, ", "))
	sources := strings.ReplaceAll(sourcesOf(code, runsOf(files, "report")), "](measurements/", "](") // the table is on a page of that folder
	return b.String() + "\n" + sources, nil
}

// cell returns the figures of a form, by CPU. It leaves out a CPU that has none.
func (f formOf) cell(files []*file) (string, error) {
	var cpus []string
	for _, p := range files {
		report, err := p.run("report")
		if err != nil {
			continue
		}
		var cells []string
		for _, name := range f.figures {
			part, name, _ := strings.Cut(strings.ReplaceAll(name, "KERNEL", report.firstKernel()), ":")
			r, err := p.run(part)
			if err != nil {
				break
			}
			fig, err := r.find(name)
			if err != nil && part != "report" { // that may be older than the format
				return "", err
			}
			if err == nil {
				cells = append(cells, times(fig.X))
			}
		}
		if len(cells) == len(f.figures) {
			cpus = append(cpus, p.Name+" "+strings.Join(cells, ", "))
		}
	}
	if len(cpus) == 0 {
		return "not measured yet", nil
	}
	return f.words + ": " + strings.Join(cpus, "; "), nil
}
