package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
	"github.com/lanebloom/bloom/internal/document"
)

// top is the folder of the repository from here; the program runs in the folder above.
const top = "../" + root

// TestPages wants the tables between markers, and README's picture, to be those of the files, and the sentence below each
// table to say rightly whether the code has changed since.
func TestPages(t *testing.T) {
	os.Getenv("BLOOM_TEST_DOCUMENTS") // go test knows no change of a file outside of a module, but of this sum
	written, err := documents(top)
	if err != nil {
		t.Error(err)
	}
	for name := range written {
		t.Errorf("%s: the figures are not those of %s, or the code has changed since they were measured and the page does not say it; make pages writes them", name, measurements)
	}
}

// TestWrite wants a file without what no table shows, and all files together small: they are in every clone.
func TestWrite(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, measurements), 0o777); err != nil {
		t.Fatal(err)
	}
	var measured figures
	for _, kernel := range []string{"avx512", "avx2", "generic"} {
		measured = append(measured, figure{Name: "A/kernel=" + kernel, Ns: 1, Low: 1, High: 2}, figure{Name: "A/kernel=" + kernel + "/batch=1", Ns: 1})
	}
	f := &file{Name: "Zen 9", stem: "zen9"}
	for _, part := range []string{"singles", "group"} {
		f.put(run{Part: part, Figures: slices.Clone(measured)})
	}
	if err := f.write(root); err != nil {
		t.Fatal(err)
	}
	read, err := filesOf(root)
	if err != nil || len(read) != 1 {
		t.Fatal(read, err)
	}
	for part, want := range map[string]int{"singles": 4, "group": 6} {
		r, err := read[0].run(part)
		if err != nil || len(r.Figures) != want || r.Figures[0].Low != 0 {
			t.Errorf("%s has %v, %v, want %d figures without deciles", part, r.Figures, err, want)
		}
	}

	files, err := filepath.Glob(filepath.Join(top, measurements, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size == 0 || size > 200<<10 {
		t.Errorf("the figures have %d bytes", size)
	}
}

// TestUntimedFormat leaves the figures of a format out of every run, as if the format were new and nobody had timed it. No table
// may fail then, or name the format. With the figures, both tables of docs/choosing.md name it.
func TestUntimedFormat(t *testing.T) {
	files, err := filesOf(top)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, format := range bloom.Formats() {
		if format == bloom.Default {
			continue // every run has its figures
		}
		value, cell := "="+format.String(), "`"+format.String()+"`"
		ofFormat := func(f figure) bool {
			return slices.ContainsFunc(strings.Split(f.Name, "/"), func(part string) bool { return strings.HasSuffix(part, value) })
		}
		check := func(name string, write func(f *file) (string, error), f *file) {
			t.Helper()
			untimed := &file{Name: f.Name, stem: f.stem}
			for _, r := range f.Runs {
				r.Figures = slices.DeleteFunc(slices.Clone(r.Figures), ofFormat)
				untimed.put(r)
			}
			if text, err := write(untimed); err != nil || strings.Contains(text, cell) {
				t.Errorf("%s of %s, without figures of %v: %v\n%s", name, f.stem, format, err, text)
			}
			text, err := write(f)
			if err != nil {
				t.Errorf("%s of %s: %v", name, f.stem, err)
			}
			if name != "uuids" && name != "bits" {
				return
			}
			if r, _ := f.run(tables[name].part); slices.ContainsFunc(r.Figures, ofFormat) {
				if named++; !strings.Contains(text, cell) {
					t.Errorf("%s of %s does not show the figures of %v", name, f.stem, format)
				}
			}
		}
		for _, f := range files {
			check("columns", func(f *file) (string, error) { return columnsTable("", []*file{f}, "") }, f)
			for name, table := range tables {
				if _, err := f.run(table.part); err != nil || strings.Contains(table.rows, value+"/") { // the table is about this format
					continue
				}
				check(name, func(f *file) (string, error) {
					r, err := f.run(table.part)
					if err != nil {
						return "", err
					}
					return table.text(r)
				}, f)
			}
		}
	}
	if named < 10 {
		t.Errorf("the tables name %d formats", named)
	}
}

// TestNoTableByHand wants every table of figures between markers. A table has figures if a column is right-aligned. Those
// above a command of falsepositives are the same on every CPU, and its test compares them.
func TestNoTableByHand(t *testing.T) {
	pages, err := document.Pages(top)
	if err != nil {
		t.Fatal(err)
	}
	generated := 0
	for _, p := range pages {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(p.Path)))
		if err != nil {
			t.Fatal(err)
		}
		generated += len(marked.FindAll(text, -1))
		for _, head := range tablesByHand(string(text)) {
			t.Errorf("%s: no program writes the table of figures %s", p.Path, head)
		}
	}
	if generated < 20 {
		t.Errorf("the documents have %d tables between markers", generated)
	}
	byHand := "## A\n\n| a | b |\n|---|---:|\n| x | 1 |\n"
	compared := byHand + "\nWords.\n\n    cd compare && go run ./falsepositives keys\n"
	if got := tablesByHand("<!-- figures x zen5 -->\n" + byHand + "<!-- end of figures -->\n" + compared + byHand); !slices.Equal(got, []string{"| a | b |"}) {
		t.Errorf("of three tables, these are by hand: %q", got)
	}
}

// tablesByHand returns the first rows of a page's tables of figures that no program writes or compares.
func tablesByHand(text string) (heads []string) {
	last := ""
	for section := range strings.SplitSeq(marked.ReplaceAllString(text, ""), "\n#") {
		if i := strings.LastIndex(section, "\n    cd compare && go run ./falsepositives "); i >= 0 {
			section = section[i+1:]
		}
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "|--") && strings.Contains(line, "--:|") {
				heads = append(heads, last)
			}
			last = strings.TrimSpace(line)
		}
	}
	return heads
}

// TestAge changes the code and the comments of a tree.
func TestAge(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code := func() string {
		t.Helper()
		sum, err := codeOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	const goCode, assembly = "package bloom\n\n// f does it.\nfunc f() int {\n\treturn 1\n}\n", "// Generated.\nTEXT ·f(SB), $0-8\n\tMOVQ $1, ret+0(FP) // one\n"
	write("hash.go", goCode)
	write("probe_amd64.s", assembly)
	before := code()
	f := file{Name: "Zen 5", stem: "zen5"}
	f.put(run{Part: "loads", Commit: "1234567", Code: before, Figures: []figure{{Name: "Loads/filter=16KiB", Ns: 0.25}}})
	if err := os.MkdirAll(filepath.Join(dir, measurements), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.write(dir); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what, name, text string
		older            bool
	}{
		{"the same", "hash.go", goCode, false},
		{"another comment", "hash.go", strings.Replace(goCode, "does it", "does\n// this", 1), false},
		{"a comment in the assembly", "probe_amd64.s", strings.Replace(assembly, "// one", "// 1", 1), false},
		{"a file of tests", "hash_test.go", goCode, false},
		{"a file that is not code", "notes.txt", goCode, false},
		{"a constant", "hash.go", strings.Replace(goCode, "1", "2", 1), true},
		{"an instruction", "probe_amd64.s", strings.Replace(assembly, "MOVQ", "MOVL", 1), true},
		{"a file", "single.go", goCode, true},
	} {
		write("hash.go", goCode)
		write("probe_amd64.s", assembly)
		write(test.name, test.text)
		if older := code() != before; older != test.older {
			t.Errorf("%s: older %v, want %v", test.what, older, test.older)
		}
		text, err := withTables(dir, "<!-- figures loads zen5 -->\n<!-- end of figures -->\n")
		if err != nil || strings.Contains(text, "the code has changed since") != test.older || !strings.Contains(text, "| ns | 0.25 |") {
			t.Errorf("%s: %v\n%s", test.what, err, text)
		}
	}
}

// TestFile reads what it has written.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, measurements), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := read(dir, "zen5")
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range []float64{1, 2} { // the second replaces the first
		f.put(run{Part: "report", Figures: figures{{Name: "x", Ns: ns}, {Name: "y", Ns: 3, X: 2, Low: 1, High: 4}}})
		f.put(run{Part: "b", Config: map[string]string{"cpu": "A"}, Figures: figures{{Name: "z", Ns: 3, Low: 1, High: 4}}})
		if err := f.write(dir); err != nil {
			t.Fatal(err)
		}
	}
	f, err = read(dir, "zen5")
	if err != nil || len(f.Runs) != 2 || !slices.Equal(f.Runs[0].Figures, figures{{Name: "z", Ns: 3}}) ||
		!slices.Equal(f.Runs[1].Figures, figures{{Name: "x", Ns: 2}, {Name: "y", Ns: 3, X: 2, Low: 1, High: 4}}) {
		t.Errorf("read %+v: %v", f, err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, measurements, "zen5.json"))
	if lines := strings.Count(string(text), "\n"); lines != 6 {
		t.Errorf("there are %d lines in\n%s", lines, text)
	}
	if _, err := f.run("c"); err == nil {
		t.Error("no error for a part that was not measured")
	}
}

// TestFill wants the figures of what a command prints, and an error for none.
func TestFill(t *testing.T) {
	var r run
	err := part{command: `echo 'cpu: A'; echo 'BenchmarkRows/keys=1/way=a 1 2e6 ns/op'; echo 'BenchmarkRows/keys=1/way=b,_c 1 3e6 ns/op 4 MB'`}.fill(&r)
	if want := []figure{{Name: "Rows/keys=1/way=a", Ns: 2e6}, {Name: "Rows/keys=1/way=b, c", Ns: 3e6, MB: 4}}; err != nil || !slices.Equal(r.Figures, want) || r.Config["cpu"] != "A" {
		t.Errorf("read %+v, %v", r, err)
	}
	for _, broken := range []string{"echo PASS", "echo BenchmarkA 1", "false"} {
		if err := (part{command: broken}).fill(&run{}); err == nil {
			t.Errorf("no error for %s", broken)
		}
	}
}

// TestTable wants a row for each figure, an empty cell only where a figure may be missing, and no row without a label.
func TestTable(t *testing.T) {
	r := run{Figures: []figure{{Name: "Rows/keys=1/way=a", Ns: 2e6}, {Name: "Rows/keys=1/way=avx512/kernel=avx512"}, {Name: "Rows/keys=1/way=16KiB", Ns: 3e6, MB: 4}, {Name: "Rows/keys=2/way=a", Ns: 5e6}}}
	of := func(rows string, columns ...column) table {
		return table{head: "x", rows: rows, columns: columns, label: func(row string) string { return strings.TrimPrefix(labelOf(row), "avx512/kernel=avx512") }}
	}
	const one1, two = "Rows/keys=1/way=*", "Rows/keys=2/way=*"
	text, err := of(one1, ns("time", milliseconds, one1), one("size", megabytes, one1), optional(ns("more", milliseconds, one1, two))).text(r)
	if want := "| x | time | size | more |\n|---|---:|---:|---:|\n| a | 2 ms | 0 MB | 2 ms, 5 ms |\n| 16 KiB | 3 ms | 4 MB | 3 ms |\n"; err != nil || text != want {
		t.Errorf("%v\n%s", err, text)
	}
	for what, table := range map[string]table{"without rows": of("Rows/keys=3/way=*"), "that lacks a figure": of(one1, ns("time", milliseconds, two))} {
		if text, err := table.text(r); err == nil {
			t.Errorf("no error for a table %s:\n%s", what, text)
		}
	}
	if text, err := of("Rows/keys=1/way=*/kernel=KERNEL").text(r); err != nil || !strings.Contains(text, "| avx512 |\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestLines runs tools of a job, and writes the table of what they have measured.
func TestLines(t *testing.T) {
	job := lineJob{"test", "are lost", func(written, exact float64) float64 { return (exact - written) / exact }, []lineTool{
		{"head", "printf 'a\n' > out", 3, false}, {"sort", "printf 'a\nb\n' | sort > out", 1, true}, {"printf", "printf 'a\nb\n' > out", 1, true},
	}}
	figures, err := job.time(t.TempDir())
	if err != nil || len(figures) != 4 || figures[0].Ns <= 0 || figures[0].MB < 1 || figures[3] != (figure{Name: "Lines/job=test/tool=head/wrong", Rate: 0.5}) {
		t.Errorf("measured %+v: %v", figures, err)
	}
	for i := range figures[:3] {
		figures[i].Ns, figures[i].MB = 2.5e9, 12
	}
	table, err := linesTable(job).text(run{Figures: figures})
	if err != nil || !strings.Contains(table, "|---|---:|---:|---|\n| head | 2.5 | 12 | no: 50 % are lost |\n| sort | 2.5 | 12 | yes |\n") {
		t.Errorf("%v\n%s", err, table)
	}
	for want, command := range map[string]string{"broken": "echo broken; false", "another exact tool": "printf 'a\n' > out"} {
		job.tools[1].command = command
		if _, err := job.time(t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}

// TestForms wants figures in each row of the table of forms: of the CPU whose figures the pages have.
func TestForms(t *testing.T) {
	files, err := filesOf(top)
	cpus := runsOf(files, "report")
	if err != nil || len(cpus) < 3 {
		t.Fatalf("%d CPUs have a page: %v", len(cpus), err)
	}
	for name, form := range forms {
		for _, figure := range form.figures {
			if part, _, _ := strings.Cut(figure, ":"); !slices.Contains(partNames(), part) {
				t.Errorf("%s: there is no part %s", name, part)
			}
		}
		if cell, err := form.cell(files); err != nil || !strings.Contains(cell, "Zen 4 ×") {
			t.Errorf("%s: %q, %v", name, cell, err)
		}
	}
	const head = "| form | figures |\n|---|---|\n"
	for what, table := range map[string]string{
		"a form without figures": head + "| `probeNothing` | a | b |\n", "a row of one cell": head + "| `probeDouble32` |\n", "no row": head,
	} {
		if _, err := formsTable("", files, table); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// compares returns the figures of a CPU on which the libraries were compared: README's row n takes n ns with integers, and 2 n with strings.
// With AVX-512, this library takes 100 ns more by the kernel avx2.
func compares(name, kernel, date string) *file {
	f := &file{Name: name, stem: strings.ToLower(strings.ReplaceAll(name, " ", ""))}
	r := run{Part: "libraries", Date: date, Commit: "1234567", Config: map[string]string{"cpu": "A & B (family 1)", "kernel": kernel}}
	add := func(s shown, library string, ns float64) {
		for i, kind := range []string{integers, texts} {
			for _, job := range []string{"absent", "present"} {
				name := nameOfLibrary(keysOfREADME, kind, library+"/call="+s.call, job)
				r.Figures = append(r.Figures, figure{Name: name, Ns: ns * float64(i+1), Rate: 0.01})
			}
		}
	}
	for i, s := range rowsOfREADME {
		add(s, s.library, float64(i+1))
		if s.own() && kernel == "avx512" {
			add(s, s.library+", avx2", float64(i+1)+100)
		}
	}
	f.put(r)
	return f
}

// TestCPUsOfREADME wants the CPU without AVX-512 in the second place if there is one, and else the first by its kernel avx2.
func TestCPUsOfREADME(t *testing.T) {
	zen4, zen5, zen3, arm := compares("Zen 4", "avx512", "2026-01-02"), compares("Zen 5", "avx512", "2026-01-03"), compares("Zen 3", "avx2", "2026-01-01"), compares("Arm", "neon", "2026-01-04")
	const fuse = "| BinaryFuse8 (no adds) | its own | 1.0 % | 9.0, 9.0 | 18, 18 | "
	for _, test := range []struct {
		files             []*file
		head, first, last string // of the table
		words             string
	}{
		{[]*file{zen5, zen4, arm}, "integers, AVX-512 | strings, AVX-512 | integers, AVX2 | strings, AVX2", "| 1.0, 1.0 | 2.0, 2.0 | 101, 101 | 202, 202 |", "the same | the same |", "Measured on one CPU, Zen 5 (family 1). The bottom bars"},
		{[]*file{arm, zen4, zen3, zen5}, "integers, Zen 5, AVX-512 | strings, Zen 5, AVX-512 | integers, Zen 3, AVX2 | strings, Zen 3, AVX2", "| 1.0, 1.0 | 2.0, 2.0 | 1.0, 1.0 | 2.0, 2.0 |", "9.0, 9.0 | 18, 18 |", "CPUs: Zen 5 (family 1); without AVX-512, Zen 3 ("},
	} {
		text, err := readmeTable("", test.files, "")
		if err != nil || !strings.Contains(text, "| "+test.head+" |\n") ||
			!strings.Contains(text, "**`RocksDB`, a column** | RocksDB | 1.0 % "+test.first+"\n") || !strings.Contains(text, fuse+test.last+"\n") {
			t.Errorf("%v\n%s", err, text)
		}
		if words, err := chartWords("", test.files, ""); err != nil || !strings.HasPrefix(words, test.words) {
			t.Errorf("%v: %s", err, words)
		}
	}
	none := &file{Name: "Zen 5", stem: "zen5"}
	none.put(run{Part: "libraries", Date: "2026-01-01", Config: map[string]string{"kernel": "avx512"}})
	for what, files := range map[string][]*file{"no CPU with AVX-512": {zen3}, "no figures": {none}, "nothing": nil} {
		if text, err := readmeTable("", files, ""); err == nil {
			t.Errorf("%s: no error for\n%s", what, text)
		}
	}
}

// TestBenchmarks wants a benchmark for each one that a part runs.
func TestBenchmarks(t *testing.T) {
	var names []string
	for _, folder := range []string{"", "/window", "/compare"} {
		found, err := filepath.Glob(top + folder + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	var text strings.Builder
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(source)
	}
	var functions []string
	for _, m := range regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`).FindAllStringSubmatch(text.String(), -1) {
		functions = append(functions, m[1])
	}
	checked := 0
	for _, p := range parts {
		_, pattern, ok := strings.Cut(p.command, " -bench ")
		if !ok {
			continue
		}
		pattern, _, _ = strings.Cut(pattern, " -benchtime")
		for alternative := range strings.SplitSeq(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(strings.Trim(pattern, "'"), ""), "|") {
			name, _, _ := strings.Cut(alternative, "/")
			checked++
			if expression := regexp.MustCompile(name); !slices.ContainsFunc(functions, expression.MatchString) {
				t.Errorf("%s: there is no benchmark %s", p.name, name)
			}
		}
	}
	if checked < 8 {
		t.Errorf("the parts name %d benchmarks", checked)
	}
}

// TestPicture measures the bars of the picture, and its text on a telephone.
func TestPicture(t *testing.T) {
	for _, test := range []struct {
		files  []*file
		second int // bars
		most   float64
	}{
		{[]*file{compares("Zen 5", "avx512", "2026-01-01")}, 2, 204},
		{[]*file{compares("Zen 5", "avx512", "2026-01-01"), compares("Zen 3", "avx2", "2026-01-01")}, 8, 18},
	} {
		text, err := readmePicture(test.files)
		if err != nil {
			t.Fatal(err)
		}
		var drawn struct {
			Width  int    `xml:"width,attr"`
			Height int    `xml:"height,attr"`
			Style  string `xml:"style"`
			Bars   []struct {
				Width float64 `xml:"width,attr"`
				X     float64 `xml:"x,attr"`
				Class string  `xml:"class,attr"`
			} `xml:"rect"`
			Texts []struct {
				Words string  `xml:",chardata"`
				X     float64 `xml:"x,attr"`
				Y     int     `xml:"y,attr"`
			} `xml:"text"`
		}
		if err := xml.Unmarshal([]byte(text), &drawn); err != nil {
			t.Fatal(err)
		}
		if last := drawn.Texts[len(drawn.Texts)-1]; drawn.Width > 328 || !strings.Contains(drawn.Style, "font:16px ") || last.Y >= drawn.Height {
			t.Errorf("the picture is %d wide and %d high, with text at %d, in the style %s", drawn.Width, drawn.Height, last.Y, drawn.Style)
		}
		const head, legend = 4, 2 // texts, and bars
		texts, bars := drawn.Texts[head:], drawn.Bars[legend:]
		if want := 2 * (8 + test.second); len(bars) != want || len(texts) != 2+want {
			t.Fatalf("%d bars and %d texts, want %d bars:\n%s", len(bars), len(texts), want, text)
		}
		for i, n := range []int{8, test.second} {
			if want := []string{"Zen 5, AVX-512", map[int]string{2: "Zen 5 limited to AVX2", 8: "Zen 3, AVX2"}[test.second]}[i]; texts[0].Words != want {
				t.Errorf("the panel %d is of %q, want %q", i, texts[0].Words, want)
			}
			for row := range n {
				label, numbers := texts[1+2*row], texts[2+2*row]
				at := slices.IndexFunc(rowsOfREADME, func(s shown) bool { return s.label == label.Words })
				if at < 0 {
					t.Fatalf("there is no library %s", label.Words)
				}
				ns := float64(at + 1)
				if i == 1 && test.second == 2 {
					ns += 100
				}
				for j, bar := range bars[2*row : 2*row+2] {
					if want := longestBar / test.most * ns * float64(j+1); math.Abs(bar.Width-want) > 0.1 || strings.Contains(bar.Class, "string") != (j == 1) || strings.HasPrefix(bar.Class, "own") != (at < 2) {
						t.Errorf("%s: bar %d is %+v, want the width %v", label.Words, j, bar, want)
					}
				}
				if numbers.Words != digits(ns)+", "+digits(2*ns) || numbers.X+float64(8*len(numbers.Words)) > 328 {
					t.Errorf("%s: %q at %v", label.Words, numbers.Words, numbers.X)
				}
			}
			texts, bars = texts[1+2*n:], bars[2*n:]
		}
	}
}

// TestCPUs wants a row for the CPU without AVX-512 if there is one, and all kernels of all CPUs in the table of these.
func TestCPUs(t *testing.T) {
	of := func(name, kernels string) *file {
		f := &file{Name: name, stem: strings.ToLower(strings.ReplaceAll(name, " ", ""))}
		r := run{Part: "report", Code: "1", Config: map[string]string{"kernels": kernels + ", generic; the first is chosen"}}
		for i, kernel := range append(strings.Split(kernels, ", "), "generic") {
			for _, size := range sizesOfColumns {
				for _, keys := range []string{"uint64", "8-32"} {
					for _, hits := range []string{"0%", "100%"} {
						r.Figures = append(r.Figures, figure{Name: fmt.Sprintf("Test/keys=%s/format=rocksdb/filter=%s/hits=%s/way=%s", keys, size, hits, kernel), Ns: float64(i + 1), X: 6 / float64(i+1)})
					}
				}
			}
		}
		f.put(r)
		return f
	}
	zen5, zen4, zen3 := of("Zen 5", "avx512, avx2"), of("Zen 4", "avx512, avx2"), of("Zen 3", "avx2")
	zen4.Runs[0].Code = "0"
	for _, test := range []struct {
		files []*file
		rows  string
	}{
		{[]*file{zen5, zen4}, "| `rocksdb` | Zen 5, AVX-512 | 1.0 ×6.0, 1.0 ×6.0 | 1.0 ×6.0, 1.0 ×6.0 | 1.0 ×6.0, 1.0 ×6.0 | 1.0 ×6.0, 1.0 ×6.0 | 1.0 ×6.0, 1.0 ×6.0 | 1.0 ×6.0, 1.0 ×6.0 |\n" +
			"| `rocksdb` | Zen 5 limited to AVX2 | 2.0 ×3.0, 2.0 ×3.0 |"},
		{[]*file{zen5, zen4, zen3}, "| `rocksdb` | Zen 3, AVX2 | 1.0 ×6.0, 1.0 ×6.0 |"},
	} {
		if text, err := columnsTable("1", test.files, ""); err != nil || !strings.Contains(text, test.rows) || strings.Count(text, "`rocksdb`") != 2 {
			t.Errorf("%v\n%s", err, text)
		}
	}
	text, err := cpusTable("1", []*file{zen5, zen4, zen3}, "")
	if err != nil || strings.Count(text, "\n") != 2+2+2+1 || !strings.Contains(text, "| [Zen 4](zen4.md) limited to AVX2, older code | 2.0 ×3.0") || !strings.Contains(text, "| [Zen 3](zen3.md), AVX2 | 1.0 ×6.0") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestPageOfCPU wants the page of a CPU to say if the code has changed since, and its note.
func TestPageOfCPU(t *testing.T) {
	r := run{name: "Zen 9", stem: "zen9", Commit: "1234567", Code: "1", Note: "It was hot.", Config: map[string]string{"cpu": "A"}}
	for code, want := range map[string]string{"1": "these figures. It was hot.\n", "2": "these figures at commit 1234567. **The code has changed since**. It was hot.\n"} {
		text, err := r.page(code)
		if err != nil || !strings.HasPrefix(text, "# Zen 9: A\n\n") || !strings.Contains(text, want) || !strings.Contains(text, "<!-- figures test-8-32 zen9 -->\n") {
			t.Errorf("code %s: %v\n%s", code, err, text)
		}
	}
}

// TestReport reads what bloom bench --report prints, and writes the tables of a page.
func TestReport(t *testing.T) {
	const out = "goos: linux\ncpu: AMD EPYC\nmodel: family 25\nversion: bloom (devel), go1.26.8\nkernels: avx512, avx2; the first is chosen\n" +
		"BenchmarkTest/keys=uint64/format=rocksdb/filter=16KiB/hits=0%/way=plain-loop\t99\t16.7 ns/key\t16.5 ns/key-p10\t17.5 ns/key-p90\n" +
		"BenchmarkTest/keys=uint64/format=rocksdb/filter=16KiB/hits=0%/way=avx512\t99\t1.16 ns/key\t14.3 x-ref\t13.2 x-p10\t14.7 x-p90\n"
	figures, err := race.Read(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	r := run{Part: "report", Commit: "8ec6ba2", Config: figures.Config, Figures: figures.List}
	text, err := reportTable("Test/keys=uint64/").text(r)
	if want := "| format | filter | hits | plain loop | avx512 |\n|---|---|---:|---:|---:|\n| `rocksdb` | 16 KiB | 0 % | 16.7 (16.5–17.5) | 1.16 ×14.3 (13.2–14.7) |\n"; err != nil || text != want {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = machineTable(r)
	if err != nil || !strings.Contains(text, "| CPU | family 25 |\n| version | bloom (devel) at commit 8ec6ba2, go1.26.8 |\n| kernels | avx512, avx2; the first is chosen |\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := reportTable("Add/keys=uint64/").text(r); err == nil {
		t.Errorf("no error for a table without figures:\n%s", text)
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0.34: "34 %", 0.0991: "9.9 %", 0.00973: "0.97 %", 0.000841: "0.084 %", 0.0000634: "0.0063 %", 0.00996: "1.0 %", 0: "0 %", 2e-7: "under 0.0001 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) is %s, want %s", share, got, want)
		}
	}
}

// TestErrors wants an error for every name that does not exist.
func TestErrors(t *testing.T) {
	if _, err := choose([]string{"group", "grupp"}); err == nil {
		t.Error("no error for a part that does not exist")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, measurements), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (&file{Name: "arm64", stem: "arm64"}).write(dir); err != nil {
		t.Fatal(err)
	}
	const unmeasured = "<!-- figures loads arm64 -->\n<!-- end of figures -->"
	if text, err := withTables(dir, unmeasured); err != nil || !strings.Contains(text, "Nobody has measured this yet: `make figures CPU=\"arm64\" PARTS=loads` does.") {
		t.Errorf("%s becomes %q, %v", unmeasured, text, err)
	}
	for _, marker := range []string{"<!-- figures nothing zen5 -->", "<!-- figures loads zen0 -->"} {
		if _, err := withTables(top, marker+"\n<!-- end of figures -->"); err == nil {
			t.Errorf("no error for %s", marker)
		}
	}
	if chosen, err := choose(nil); err != nil || len(chosen) != len(parts) {
		t.Errorf("without names, these parts are chosen: %v, %v", chosen, err)
	}
	for name, table := range tables {
		if !slices.Contains(partNames(), table.part) {
			t.Errorf("the table %s is of %s, which is no part", name, table.part)
		}
	}
}

// TestWriteLines wants half of the stream to be known, and no known line twice.
func TestWriteLines(t *testing.T) {
	dir := t.TempDir()
	if err := writeLines(dir, 200, 1000); err != nil {
		t.Fatal(err)
	}
	lines := func(name string) []string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
	known := map[string]bool{}
	for _, line := range lines("known") {
		known[line] = true
	}
	stream := lines("stream")
	found := 0
	for _, line := range stream {
		if len(line) < 8 || len(line) > 24 {
			t.Errorf("%q has %d digits", line, len(line))
		}
		if known[line] {
			found++
		}
	}
	if len(known) != 200 || len(stream) != 1000 || found < 450 || found > 550 {
		t.Errorf("%d different known lines, %d of %d lines are known", len(known), found, len(stream))
	}
}
