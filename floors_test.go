package bloom

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFloors looks at the files of the package in the order in which CONTRIBUTING.md lists them. Each has a place there, and uses
// only names of files below it. So a reader who goes down never has to go back up.
func TestFloors(t *testing.T) {
	floors := floorsOf(t, "CONTRIBUTING.md")
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "source", nil)
	for _, arch := range []string{"amd64", "arm64", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			for name, object := range namesUsed(t, set, imports, arch) {
				from, to := set.Position(name.Pos()), set.Position(object.Pos())
				here, there := slices.Index(floors, from.Filename), slices.Index(floors, to.Filename)
				switch {
				case here < 0:
					t.Errorf("CONTRIBUTING.md has no floor for %s", from.Filename)
				case here > there && there >= 0:
					t.Errorf("%v uses %s, which is above it, in %s", from, name.Name, to.Filename)
				}
			}
		})
	}
	for _, name := range floors {
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

// namesUsed returns where the package uses names that it declares, in the build for an architecture.
func namesUsed(t *testing.T, set *token.FileSet, imports types.Importer, arch string) map[*ast.Ident]types.Object {
	context := build.Default
	context.GOARCH, context.CgoEnabled = arch, false
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if built, err := context.MatchFile(".", name); err != nil || !built || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Importer: imports, Error: func(err error) { t.Error(err) }}
	pkg, err := config.Check("bloom", set, files, &types.Info{Uses: uses})
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range uses {
		if object.Pkg() != pkg {
			delete(uses, name)
		}
	}
	return uses
}
