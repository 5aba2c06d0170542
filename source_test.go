package bloom

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/floors"
)

// The tests of this file read the source, and run none of it.

// TestFloors looks at the files of the package in the order in which CONTRIBUTING.md lists them. Each has a place there, and uses
// only names of files below it. So a reader who goes down never has to go back up.
func TestFloors(t *testing.T) {
	order := floorsOf(t, "CONTRIBUTING.md")
	for _, arch := range []string{"amd64", "arm64", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			for _, use := range floors.Uses(t, arch) {
				here, there := slices.Index(order, use.At.Filename), slices.Index(order, use.Declared.Filename)
				switch {
				case here < 0:
					t.Errorf("CONTRIBUTING.md has no floor for %s", use.At.Filename)
				case here > there && there >= 0:
					t.Errorf("%v uses %s, which is above it, in %s", use.At, use.Name, use.Declared.Filename)
				}
			}
		})
	}
	for _, name := range order {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// floorsOf returns the files that the table below the heading "The floors of the root" lists.
func floorsOf(t *testing.T, document string) []string {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### The floors of the root\n")
	section, _, _ = strings.Cut(section, "\n#")
	var floors []string
	for _, row := range regexp.MustCompile(`(?m)^\|([^|]*)\|`).FindAllStringSubmatch(section, -1) {
		floors = append(floors, regexp.MustCompile(`\w+\.go`).FindAllString(row[1], -1)...)
	}
	if sorted := slices.Sorted(slices.Values(floors)); len(floors) < 30 || len(slices.Compact(sorted)) < len(floors) {
		t.Fatalf("%s lists %d files, or one of them twice", document, len(floors))
	}
	return floors
}

// TestDirectives compares functions with their directives. The compiler inlines a function with //gcassert:inline, and what the
// arguments of a function with //gcassert:noescape point to can be on the caller's stack. The receiver does not count.
func TestDirectives(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-gcflags=-m", ".")
	build.Env = append(os.Environ(), "GOARCH=amd64", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0")
	report, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	remarks := map[string][]string{} // by file and line
	for _, m := range regexp.MustCompile(`(?m)^\./(\w+\.go:\d+):\d+: (.*)$`).FindAllStringSubmatch(string(report), -1) {
		remarks[m[1]] = append(remarks[m[1]], m[2])
	}
	inlined, onStack := 0, 0
	set := token.NewFileSet()
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			at := name + ":" + strconv.Itoa(set.Position(f.Pos()).Line)
			for _, comment := range f.Doc.List {
				switch comment.Text {
				case "//gcassert:inline":
					inlined++
					if !slices.ContainsFunc(remarks[at], func(r string) bool { return strings.HasPrefix(r, "can inline ") }) {
						t.Errorf("%s: %s is not inlined", at, f.Name.Name)
					}
				case "//gcassert:noescape":
					onStack++
					checkNoEscape(t, at, f, remarks[at])
				}
			}
		}
	}
	if inlined < 20 || onStack < 20 {
		t.Errorf("%d functions are to be inlined, and %d are to leave their arguments on the stack", inlined, onStack)
	}
}

// checkNoEscape wants no argument of a function to escape, except to its results.
func checkNoEscape(t *testing.T, at string, f *ast.FuncDecl, remarks []string) {
	t.Helper()
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			for _, how := range []string{"leaking param: ", "leaking param content: ", "moved to heap: "} {
				if slices.Contains(remarks, how+name.Name) {
					t.Errorf("%s: %s lets its argument %s escape", at, f.Name.Name, name.Name)
				}
			}
		}
	}
}
