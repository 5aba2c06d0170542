// Package floors tests that the files of a package stand above each other, so that a reader who goes down
// finds what a file needs, and never has to go back up.
package floors

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Check fails if a file of the package in the working directory is under itself: if it uses a name of another
// file that, directly or through others, uses one of its own. Tests do not count. An exception is an arrow
// that may run up, such as "low.go -> high.go", and one without which no file is under itself either is an
// error.
func Check(t *testing.T, exceptions ...string) {
	t.Helper()
	uses := fileUses(t)
	for _, arrow := range exceptions {
		low, high, _ := strings.Cut(arrow, " -> ")
		if name := uses[low][high]; name == "" || wayTo(uses, high, low, map[string]bool{}) == nil {
			t.Errorf("%s does not run up: it is no exception", arrow)
		}
		delete(uses[low], high)
	}
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		if way := wayTo(uses, file, file, map[string]bool{}); way != nil {
			t.Errorf("%s is under itself:\n\t%s", file, strings.Join(way, "\n\t"))
			return // the others may be on the same way
		}
	}
}

// wayTo returns the names by which one file leads to another, or nil if it does not.
func wayTo(uses map[string]map[string]string, from, to string, seen map[string]bool) []string {
	for _, next := range slices.Sorted(maps.Keys(uses[from])) {
		step := fmt.Sprintf("%s uses %s of %s", from, uses[from][next], next)
		if next == to {
			return []string{step}
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if way := wayTo(uses, next, to, seen); way != nil {
			return append([]string{step}, way...)
		}
	}
	return nil
}

// fileUses returns for each file which other files it uses, and one name that it uses there.
func fileUses(t *testing.T) map[string]map[string]string {
	t.Helper()
	uses := map[string]map[string]string{}
	for _, use := range Uses(t, runtime.GOARCH) {
		from, to := use.At.Filename, use.Declared.Filename
		if uses[from] == nil {
			uses[from] = map[string]string{}
		}
		if old := uses[from][to]; old == "" || use.Name < old { // always the same one
			uses[from][to] = use.Name
		}
	}
	return uses
}

// Use is a place where a file uses a name that another file of its package declares.
type Use struct {
	Name         string
	At, Declared token.Position
}

// Uses returns where the files of the package in the working directory use names of other ones, in the build
// for an architecture.
func Uses(t *testing.T, arch string) (uses []Use) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range strings.Fields(list(t, "GOARCH="+arch, "{{join .GoFiles \" \"}}", ".")) {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	// compiled are the packages that it imports, for this architecture: what they export is the same for all.
	compiled := map[string]string{}
	imports := strings.Fields(list(t, "GOARCH="+arch, "{{join .Imports \" \"}}", "."))
	for line := range strings.Lines(list(t, "", "{{.ImportPath}} {{.Export}}", append([]string{"-export", "-deps"}, imports...)...)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(filepath.Clean(compiled[path])) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", open)}
	pkg, err := config.Check("floors", set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		use := Use{name.Name, set.Position(name.Pos()), set.Position(object.Pos())}
		if use.At.Filename != use.Declared.Filename {
			uses = append(uses, use)
		}
	}
	return uses
}

// list returns what the command go list prints, with one more variable in its environment.
func list(t *testing.T, variable, format string, args ...string) string {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-f", format}, args...)...)
	command.Env, command.Stderr = append(os.Environ(), variable), os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return string(out)
}
