package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const root = "../.."

func readRoot(t *testing.T) tree {
	t.Helper()
	tree, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestTree wants every module of the repository in go.work, which the lists are made of, and every fuzz target.
func TestTree(t *testing.T) {
	tree := readRoot(t)
	found, err := filepath.Glob(root + "/*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, deep := range []string{"/*/*/go.mod", "/*/*/*/go.mod"} {
		more, err := filepath.Glob(root + deep)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, more...)
	}
	all := slices.Concat(tree.modules, unpublished)
	for _, file := range found {
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(all, filepath.ToSlash(folder)) && !strings.Contains(folder, "testdata") {
			t.Errorf("go.work does not use %s", folder)
		}
	}
	if len(all) < len(found)+1 || tree.modules[0] != "." {
		t.Errorf("%d modules in go.work, %d in folders: %v", len(all), len(found), tree.modules)
	}
	for _, want := range []target{{"FuzzOpen", "."}, {"FuzzHeader", "adapter/parquet"}, {"FuzzExplore", "cmd/bloom/internal/answers"}} {
		if !slices.Contains(tree.fuzz, want) {
			t.Errorf("%v is not in %v", want, tree.fuzz)
		}
	}
	if again := readRoot(t); again.documents != tree.documents || tree.documents == 0 {
		t.Errorf("the sum of the documents is %x, and then %x", tree.documents, again.documents)
	}
	if _, err := readTree("."); err == nil {
		t.Error("a folder without go.work is the repository's")
	}
}

func names(steps []step) (names []string) {
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// TestSteps wants names that are unique, and lie in a folder that make has a rule for.
func TestSteps(t *testing.T) {
	all := names(readRoot(t).steps([]string{"generic"}))
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("two steps of one name: %v", all)
	}
	for _, name := range all {
		if !regexp.MustCompile(`^(test|prove)/`).MatchString(name) {
			t.Errorf("make knows no %s", name)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []step{{name: "test/a"}, {name: "prove/emulated/x"}, {name: "prove/em"}, {name: "prove/all/x"}}
	for _, c := range []struct {
		names, want string
	}{
		{"test", "test/a"},
		{"test/a", "test/a"},
		{"prove", "prove/emulated/x prove/em"},
		{"prove/all", "prove/all/x"},
		{"prove/emulated", "prove/emulated/x"},
		{"prove/em test", "test/a prove/em"},
	} {
		chosen, err := choose(all, strings.Fields(c.names))
		if got := strings.Join(names(chosen), " "); got != c.want || err != nil {
			t.Errorf("%s chooses %s, %v", c.names, got, err)
		}
	}
	for _, name := range []string{"", "tes", "test/b", "prove/emulated/xx"} {
		if chosen, err := choose(all, []string{"test", name}); err == nil {
			t.Errorf("%q chooses %v", name, chosen)
		}
	}
	if chosen, err := choose(all, nil); err == nil {
		t.Errorf("no name chooses %v, and passes", chosen)
	}
}

// TestRunAll wants the output of a step that fails, the name of each step, and the others none the less.
func TestRunAll(t *testing.T) {
	var out bytes.Buffer
	failed := runAll(t.Context(), []step{
		{name: "a/bad", env: []string{"WORD=said"}, script: "echo $WORD; false | true; echo not reached"},
		{name: "a/worse", script: "echo $UNSET"},
		{name: "a/good", script: "echo silent"},
	}, 1, &out)
	if !slices.Equal(failed, []string{"a/bad", "a/worse"}) {
		t.Errorf("%v failed", failed)
	}
	for _, want := range []string{"said\n", "a/bad FAILED (exit status 1); make a/bad runs it alone\n", "UNSET", " s of CPU  a/good\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	for _, no := range []string{"silent", "not reached"} {
		if strings.Contains(out.String(), no) {
			t.Errorf("%q is in\n%s", no, out.String())
		}
	}
}

// TestEnd ends a step with all that it has started.
func TestEnd(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no process groups")
	}
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(t.TempDir(), "mark")
	go func() {
		for {
			if _, err := os.Stat(mark); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	// Wait returns when the last process that holds the output has ended.
	failed := runAll(ctx, []step{{name: "long", script: "(sleep 1000 & touch " + mark + "; wait)"}, {name: "never", script: "rm " + mark}}, 1, new(bytes.Buffer))
	if !slices.Equal(failed, []string{"long", "never"}) {
		t.Errorf("%v failed", failed)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("a step was started after the end")
	}
}

func TestKernelsIn(t *testing.T) {
	for text, want := range map[string]string{
		"flags : sse2 avx avx2 avx512f avx512vl": "avx512 avx2 generic",
		"machdep.cpu: RDWRFSGS BMI1 AVX2 SMEP":   "avx2 generic",
		"flags : avx avx2x xavx512f":             "generic",
		"":                                       "generic",
	} {
		if got := strings.Join(kernelsIn([]byte(text)), " "); got != want {
			t.Errorf("%q has %s", text, got)
		}
	}
}

// TestSample wants the kernel tests on an emulated CPU where this one cannot run them, and a sample elsewhere.
func TestSample(t *testing.T) {
	bochs := machines[0]
	for _, c := range []struct {
		folder, host, want string
	}{
		{"prove/emulated", "avx512 avx2 generic", cpuTests},
		{"prove/emulated", "avx2 generic", kernelTests},
		{"prove/all", "avx512 avx2 generic", kernelTests},
	} {
		s := bochs.step(c.folder, strings.Fields(c.host))
		if s.name != c.folder+"/skylake-x" || !strings.Contains(s.script, `"`+c.want+`"`) {
			t.Errorf("%s beside %s: %s runs %s", c.folder, c.host, s.name, s.script)
		}
	}
	text := proved([]string{"generic"}, "Z80")
	for _, want := range []string{"avx2: emulated haswell\n", "neon: emulated cortex-a53; emulated neoverse-n1; emulated max\n", "generic: real Z80; emulated "} {
		if runtime.GOARCH == "amd64" {
			want = strings.Replace(want, "emulated haswell", "emulated skylake-x; emulated haswell", 1)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestPatterns wants a test behind every name in the patterns that choose some.
func TestPatterns(t *testing.T) {
	files, err := filepath.Glob(root + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(text, -1) {
			tests = append(tests, string(m[1]))
		}
	}
	count := func(pattern string) (n int) {
		for _, name := range tests {
			if regexp.MustCompile(pattern).MatchString(name) {
				n++
			}
		}
		return n
	}
	if n := count(kernelTests); n < 40 || n == len(tests) {
		t.Errorf("%d of %d tests are of kernels", n, len(tests))
	}
	group := regexp.MustCompile(`^\^(Test)?\((.*)\)\$$`)
	for _, pattern := range []string{cpuTests, concurrentTests} {
		m := group.FindStringSubmatch(pattern)
		for _, name := range strings.Split(m[2], "|") {
			if count("^"+m[1]+name+"$") == 0 {
				t.Errorf("no test is called %s%s", m[1], name)
			}
		}
	}
}

// TestNamed wants the steps that documents name.
func TestNamed(t *testing.T) {
	steps := readRoot(t).steps(nil)
	named := 0
	for _, pattern := range []string{"/*.md", "/docs/*.md"} {
		files, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile("`make ([^ `]+/[^ `]+)`").FindAllSubmatch(text, -1) {
				named++
				if _, err := choose(steps, []string{string(m[1])}); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
	if named < 3 {
		t.Errorf("the documents name %d steps", named)
	}
}
