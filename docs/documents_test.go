package docs_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/document"
)

// The documents name much that others move: here is what of it can be checked. The tests of both
// commands check their flags, and TestCodeOfDocs the code.

const root = ".."

func pages(t *testing.T) []document.Page {
	t.Helper()
	pages, err := document.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 20 {
		t.Fatalf("there are %d pages", len(pages))
	}
	return pages
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// source returns the text of the files that match a pattern.
func source(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestLinks(t *testing.T) {
	all := pages(t)
	anchors := map[string]map[string]bool{}
	for _, page := range all {
		anchors[page.Path] = page.Anchors
	}
	checked := 0
	for _, page := range all {
		for _, link := range page.Links {
			if strings.Contains(link, "://") {
				continue
			}
			checked++
			file, anchor, hasAnchor := strings.Cut(link, "#")
			target := path.Join(path.Dir(page.Path), file)
			if file == "" {
				target = page.Path
			}
			switch {
			case !exists(target):
				t.Errorf("%s: the link %s has no file", page.Path, link)
			case hasAnchor && !anchors[target][anchor]:
				t.Errorf("%s: the link %s has no heading", page.Path, link)
			}
		}
	}
	if checked < 20 {
		t.Errorf("the pages have %d links", checked)
	}
}

// TestMap wants every page of docs on the map, docs/README.md, by itself or by its folder. Every page leads on
// to another one, and the first page to the map.
func TestMap(t *testing.T) {
	const atlas = "docs/README.md"
	links := map[string]map[string]bool{} // pages and folders, by page
	for _, page := range pages(t) {
		links[page.Path] = map[string]bool{}
		for _, link := range page.Links {
			file, _, _ := strings.Cut(link, "#")
			links[page.Path][path.Join(path.Dir(page.Path), file)] = true
		}
	}
	if !links["README.md"][atlas] {
		t.Errorf("README.md has no link to %s", atlas)
	}
	for name, targets := range links {
		folder := path.Dir(name)
		if !strings.HasPrefix(name, "docs/") || name == atlas {
			continue
		}
		if !links[atlas][name] && (folder == "docs" || !links[atlas][folder]) {
			t.Errorf("%s has no link to %s", atlas, name)
		}
		onward := func(target string) bool {
			return target != name && target != atlas && path.Dir(target) == "docs" && path.Ext(target) == ".md"
		}
		if folder == "docs" && !slices.ContainsFunc(slices.Collect(maps.Keys(targets)), onward) {
			t.Errorf("%s has no link to another page of docs", name)
		}
	}
}

// TestLength keeps README.md a page of three minutes.
func TestLength(t *testing.T) {
	if n := strings.Count(source(t, "README.md"), "\n"); n > 100 {
		t.Errorf("README.md has %d lines, more than 100", n)
	}
}

// TestCPUs wants a page of measurements of every CPU that a page names. CHANGELOG.md is history.
func TestCPUs(t *testing.T) {
	names := regexp.MustCompile(`\b(?:Zen \d|[A-Z][a-z]+ (?:Rapids|Lake)|Skylake|Broadwell|Haswell|SPR|Z[345])\b`)
	measured := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# ([^:\n]*): .*\n\n.bloom bench --report. measured`).FindAllStringSubmatch(source(t, "docs/measurements/*.md"), -1) {
		measured[m[1]] = true
	}
	named := map[string]bool{}
	for _, page := range pages(t) {
		if page.Path == "CHANGELOG.md" {
			continue
		}
		for _, name := range names.FindAllString(source(t, page.Path), -1) {
			if named[name] = true; !measured[name] {
				t.Errorf("%s names %s, of which docs/measurements has no page", page.Path, name)
			}
		}
	}
	if len(measured) < 3 || len(named) < 3 {
		t.Errorf("the pages name the CPUs %v, and pages of measurements are of %v", named, measured)
	}
}

// TestForms wants every family of functions in assembly in the table of docs/measurements/forms.md, and no other.
func TestForms(t *testing.T) {
	_, list, _ := strings.Cut(source(t, "asm/entries.go"), "\nvar families = ")
	list, _, _ = strings.Cut(list, "\n}\n")
	_, table, _ := strings.Cut(source(t, "docs/measurements/forms.md"), "\n| form |")
	table, _, _ = strings.Cut(table, "\n\n")
	families := regexp.MustCompile(`(?m)^\t\{(?:name: )?"(\w+)"`).FindAllStringSubmatch(list, -1)
	rows := regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(table, -1)
	made, described := map[string]bool{}, map[string]bool{}
	for _, family := range families {
		made[family[1]] = true
	}
	for _, row := range rows {
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			described[name[1]] = true
		}
	}
	for name := range made {
		if !described[name] {
			t.Errorf("docs/measurements/forms.md has no row of %s, which asm/entries.go lists", name)
		}
	}
	for name := range described {
		if !made[name] {
			t.Errorf("asm/entries.go has no %s, which docs/measurements/forms.md describes", name)
		}
	}
	if len(made) < 20 {
		t.Errorf("asm/entries.go has %d families", len(made))
	}
}

// TestTopLevel looks for the names at the top of the repository that stay as they are: people and
// tools outside know them.
func TestTopLevel(t *testing.T) {
	for name := range strings.FieldsSeq("go.mod bloom.go probe_amd64.s probe_arm64.s probe_generic.go asm batch.go bloom_test.go fuzz_test.go bench_test.go README.md") {
		if !exists(name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestGoReleases compares the table of docs/adopting.md with the go.mod files of the modules that
// users build.
func TestGoReleases(t *testing.T) {
	_, section, _ := strings.Cut(source(t, "docs/adopting.md"), "\n## Which releases of Go\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\| (.*) \\|$").FindAllStringSubmatch(section, -1) {
		for module := range strings.SplitSeq(row[1], ", ") {
			documented[strings.Trim(module, "`")] = row[2]
		}
	}
	required := map[string]string{}
	for _, pattern := range []string{"", "adapter/*/", "adapter/parquet/*/", "cmd/"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern+"go.mod")))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, names, err)
		}
		for _, name := range names {
			module := path.Dir(strings.TrimPrefix(filepath.ToSlash(name), root+"/"))
			text := source(t, module+"/go.mod")
			required[module] = regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(text)[1]
			if strings.Contains(text, "\ntoolchain") {
				t.Errorf("%s: go.mod has a toolchain line, which raises users", module)
			}
		}
	}
	if !maps.Equal(documented, required) {
		t.Errorf("docs/adopting.md says %v, and the go.mod files say %v", documented, required)
	}
}

// TestFileNames looks for the files and folders that sentences name. CHANGELOG.md is history.
func TestFileNames(t *testing.T) {
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	isFolder := func(name string) bool {
		return slices.ContainsFunc(folders, func(entry os.DirEntry) bool { return entry.IsDir() && entry.Name() == name })
	}
	file := regexp.MustCompile(`^[a-z0-9_./*-]+\.(go|s|md|sh|svg|png|yml)$`)
	plain := regexp.MustCompile(`^[A-Za-z0-9_./*-]+$`)
	checked := 0
	for _, page := range pages(t) {
		if page.Path == "CHANGELOG.md" {
			continue
		}
		for _, word := range page.Words {
			first, _, hasSlash := strings.Cut(word, "/")
			if !plain.MatchString(word) || !file.MatchString(word) && (!hasSlash || !isFolder(first)) || strings.Contains(word, "_ARCH") || strings.Contains(word, "_X") || strings.HasSuffix(word, "/X") {
				continue
			}
			checked++
			found := false
			for _, folder := range []string{".", path.Dir(page.Path), "docs"} {
				names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path.Join(folder, word))))
				found = found || err == nil && len(names) > 0
			}
			if !found {
				t.Errorf("%s: there is no %s", page.Path, word)
			}
		}
	}
	if checked < 70 {
		t.Errorf("the pages name %d files", checked)
	}
}

// TestCommands checks what commands of make, go and cd name: targets, folders, tests, benchmarks
// and the flags of programs.
func TestCommands(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^\.PHONY:(.*)`).FindAllStringSubmatch(source(t, "Makefile"), -1)
	checked := 0
	for _, page := range pages(t) {
		for _, line := range page.Commands {
			folder := "."
			for _, call := range document.Calls(line) {
				switch {
				case call[0] == "cd" && len(call) == 2:
					if folder = path.Join(folder, call[1]); strings.HasSuffix(folder, "bloom") && !exists(folder) {
						folder = "." // the clone
					}
					checked++
					if !exists(folder) {
						t.Errorf("%s: %q: there is no folder %s", page.Path, line, folder)
					}
				case call[0] == "make" && len(call) > 1:
					checked++
					if !isTarget(targets, call[1]) {
						t.Errorf("%s: there is no target for %q", page.Path, line)
					}
				case call[0] == "go" && len(call) > 1:
					checked++
					for _, wrong := range wrongInGo(t, folder, call[1:]) {
						t.Errorf("%s: %q: there is no %s", page.Path, line, wrong)
					}
				case strings.Contains(call[0], "/") && path.Ext(call[0]) == ".sh" && !exists(path.Join(folder, call[0])):
					t.Errorf("%s: there is no %s", page.Path, call[0])
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("the pages have %d commands", checked)
	}
}

// TestJobs wants the commands of docs/command.md's part "By job" in the script that runs them, in their order.
func TestJobs(t *testing.T) {
	_, jobs, _ := strings.Cut(source(t, "docs/command.md"), "\n## By job\n")
	jobs, _, _ = strings.Cut(jobs, "\n## ")
	var told, run []string
	for _, m := range regexp.MustCompile(`(?m)^    (bloom .*)$`).FindAllStringSubmatch(jobs, -1) {
		told = append(told, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^exec (bloom .*)$`).FindAllStringSubmatch(source(t, "cmd/bloom/testdata/script/jobs.txtar"), -1) {
		run = append(run, m[1])
	}
	if len(told) == 0 || !slices.Equal(told, run) {
		t.Errorf("the page has the commands %q, the script %q", told, run)
	}
}

// isTarget looks for a target among the lists of .PHONY, which name kinds of steps by patterns.
func isTarget(lists [][]string, name string) bool {
	return strings.Contains(name, "/") || // a step: internal/prove tests these names
		slices.ContainsFunc(lists, func(list []string) bool { return slices.Contains(strings.Fields(list[1]), name) })
}

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)`)

// wrongInGo returns the folders, flags and functions that a go command names and that do not exist.
func wrongInGo(t *testing.T, folder string, args []string) []string {
	t.Helper()
	var wrong []string
	names := testName.FindAllStringSubmatch(source(t, path.Join(folder, "*_test.go")), -1)
	program := ""
	for i, arg := range args {
		flag, isFlag := strings.CutPrefix(arg, "-")
		flag, _, _ = strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		switch {
		case args[0] == "get" || args[0] == "install" && !strings.HasPrefix(arg, "."):
		case strings.HasPrefix(arg, ".") && strings.Trim(arg, ".") != "":
			target := path.Join(folder, strings.TrimSuffix(arg, "..."))
			if i > 0 && args[i-1] != "-o" && !exists(target) && program == "" {
				wrong = append(wrong, arg)
			}
			if args[0] == "run" && program == "" {
				program = source(t, path.Join(target, "*.go"))
			}
		case isFlag && program != "":
			if !strings.Contains(program, `"`+flag+`"`) {
				wrong = append(wrong, "flag "+arg)
			}
		case (arg == "-run" || arg == "-bench") && i+1 < len(args) && args[i+1] != "^$":
			first, _, _ := strings.Cut(args[i+1], "/")
			for one := range strings.SplitSeq(first, "|") {
				pattern, err := regexp.Compile(one)
				if err != nil || !slices.ContainsFunc(names, func(name []string) bool {
					return strings.HasPrefix(name[1], "Benchmark") == (arg == "-bench") && pattern.MatchString(name[1])
				}) {
					wrong = append(wrong, "function for "+one)
				}
			}
		}
	}
	return wrong
}
