package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/document"
)

// top is the folder of the repository from here; the program runs in the folder above.
const top = "../" + root

// TestPages wants the tables between markers to be those of the files, and the sentence below each to say rightly
// whether the code has changed since.
func TestPages(t *testing.T) {
	pages, err := document.Pages(top)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pages {
		old, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(p.Path)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := withTables(top, string(old))
		if err != nil {
			t.Errorf("%s: %v", p.Path, err)
		} else if text != string(old) {
			t.Errorf("%s: the tables are not those of %s, or the code has changed since they were measured and the page does not say it; make pages writes them", p.Path, measurements)
		}
		found += len(marked.FindAllString(string(old), -1))
	}
	if found < 10 {
		t.Errorf("the documents have %d tables of figures", found)
	}
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
	write("walk.go", goCode)
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
		{"the same", "walk.go", goCode, false},
		{"another comment", "walk.go", strings.Replace(goCode, "does it", "does\n// this", 1), false},
		{"a comment in the assembly", "probe_amd64.s", strings.Replace(assembly, "// one", "// 1", 1), false},
		{"a file of tests", "walk_test.go", goCode, false},
		{"a file that times nothing", "text.go", goCode, false},
		{"a constant", "walk.go", strings.Replace(goCode, "1", "2", 1), true},
		{"an instruction", "probe_amd64.s", strings.Replace(assembly, "MOVQ", "MOVL", 1), true},
		{"a file", "single.go", goCode, true},
	} {
		write("walk.go", goCode)
		write("probe_amd64.s", assembly)
		write(test.name, test.text)
		if older := code() != before; older != test.older {
			t.Errorf("%s: older %v, want %v", test.what, older, test.older)
		}
		text, err := withTables(dir, "<!-- figures loads zen5 -->\n<!-- end of figures -->\n")
		if err != nil || strings.Contains(text, "it has changed since") != test.older || !strings.Contains(text, "| ns | 0.25 |") {
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
		f.put(run{Part: "b", Figures: []figure{{Name: "x", Ns: ns}, {Name: "y", Ns: 3, X: 2, Low: 1, High: 4}}})
		f.put(run{Part: "a", Report: []byte(`{"sizes":[]}`)})
		if err := f.write(dir); err != nil {
			t.Fatal(err)
		}
	}
	f, err = read(dir, "zen5")
	if err != nil || len(f.Runs) != 2 || f.Runs[0].Part != "a" || !slices.Equal(f.Runs[1].Figures, []figure{{Name: "x", Ns: 2}, {"y", 3, 2, 1, 4, 0}}) {
		t.Errorf("read %+v: %v", f, err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, measurements, "zen5.json"))
	if lines := strings.Count(string(text), "\n"); lines != 5 {
		t.Errorf("there are %d lines in\n%s", lines, text)
	}
	if _, err := f.run("c"); err == nil {
		t.Error("no error for a part that was not measured")
	}
}

func TestReadBenchmarks(t *testing.T) {
	const out = "goos: linux\n" +
		"BenchmarkGroup/format=rocksdb/hits=0/kernel=avx512-2 \t 1\t 472321935 keys/s\t 2.117 ns/key\t 2.725 x-p10\t 2.8 x-p90\t 2.7549 x-ref\n" +
		"BenchmarkAtomicSet/goroutines=1-2 \t 1\t 34.69 add-atomic-ns/key\t 27.60 add-mutex-ns/key\nPASS\n"
	r := run{Part: "group"}
	if err := readBenchmarks(&r, []byte(out)); err != nil {
		t.Fatal(err)
	}
	want := []figure{
		{"Group/format=rocksdb/hits=0/kernel=avx512", 2.12, 2.75, 2.73, 2.8, 0},
		{Name: "AtomicSet/goroutines=1/way=add-atomic", Ns: 34.7},
		{Name: "AtomicSet/goroutines=1/way=add-mutex", Ns: 27.6},
	}
	if !slices.Equal(r.Figures, want) {
		t.Errorf("read %v, want %v", r.Figures, want)
	}
	if err := readBenchmarks(&run{}, []byte("PASS\n")); err == nil {
		t.Error("no error for no figures")
	}
}

func TestReadLines(t *testing.T) {
	const out = "locale: C\nbloom build + filter:  0.200 s\nbloom build + filter:  0.300 s\nbloom build + filter:  0.250 s\n" +
		"sort + join: 4 s\nawk:    9.500 s\ngrep -F -x -f:         24.000 s\nlines: 2500000 known, 2525000 passed by the filter, 0 of the known ones missing\n"
	var r run
	if err := readLines(&r, []byte(out)); err != nil {
		t.Fatal(err)
	}
	table, err := linesTable(r)
	if err != nil || !strings.Contains(table, "| `bloom build` and `bloom filter` | 0.25 | no: 1.0 % of the unknown lines pass |") || !strings.Contains(table, "| 24 | yes |") {
		t.Errorf("%v\n%s", err, table)
	}
	if err := readLines(&run{}, []byte("awk: 1 s\n")); err == nil {
		t.Error("no error for runs that are missing")
	}
}

func TestReadPage(t *testing.T) {
	p, err := readPage("# Zen 4: AMD EPYC\n\n| | |\n|---|---|\n| version | bloom (devel) at commit 8ec6ba2, go1.26.8 |\n| kernels | avx512, avx2; the first is chosen |\n\n" +
		"## Testing integers\n\n| format | filter | hits | plain loop | avx512 |\n|---|---|---:|---:|---:|\n| `rocksdb` | 16 KiB | 0 % | 16.7 (16.5–17.5) | 1.16 ×14.3 (13.2–14.7) |\n")
	got := p.cells["Testing integers/rocksdb/16 KiB/0 %/avx512"]
	if err != nil || p.name != "Zen 4" || p.kernel != "avx512" || p.commit != "8ec6ba2" || got.Ns != 1.16 || got.X != 14.3 || got.Low != 13.2 || got.High != 14.7 {
		t.Errorf("read %+v: %v", p, err)
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0.34: "34 %", 0.0991: "9.9 %", 0.00973: "0.97 %", 0.000841: "0.084 %", 0.0000634: "0.0063 %", 0.00996: "1.0 %"} {
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
	for _, marker := range []string{"<!-- figures nothing zen5 -->", "<!-- figures loads zen0 -->"} {
		if _, err := withTables(top, marker+"\n<!-- end of figures -->"); err == nil {
			t.Errorf("no error for %s", marker)
		}
	}
	for name, table := range tables {
		if !slices.Contains(partNames(), table.part) {
			t.Errorf("the table %s is of %s, which is no part", name, table.part)
		}
	}
}
