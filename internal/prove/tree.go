package main

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tree is what there is to prove.
type tree struct {
	modules []string // folders of those that users build
	fuzz    []target
	// documents is a sum of all documents and their figures: with it in the environment, go test runs those tests again
	// that read them.
	documents uint64
}

// target is a fuzz target, and the folder of its package.
type target struct{ name, folder string }

// unpublished are the modules of go.work that nobody imports.
var unpublished = []string{"asm", "cmd/bloom/browser", "compare", "compare/duckdb", "examples/redpanda", "release"}

var (
	usedModule = regexp.MustCompile(`(?m)^\t\./?(\S*)$`)
	fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
)

// readTree reads the lists that the repository itself has: go.work names the modules.
func readTree(root string) (t tree, err error) {
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return t, fmt.Errorf("%w: not the repository's directory", err)
	}
	used, _, _ := bytes.Cut(text, []byte("\n)"))
	for _, m := range usedModule.FindAllSubmatch(used, -1) {
		if module := cmp.Or(string(m[1]), "."); !slices.Contains(unpublished, module) {
			t.modules = append(t.modules, module)
		}
	}
	sum := fnv.New64a()
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case strings.HasSuffix(name, ".md") || strings.HasPrefix(name, filepath.Join(root, "docs")) && !entry.IsDir():
			return addFile(sum, name)
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range fuzzTarget.FindAllSubmatch(text, -1) {
			folder, _ := filepath.Rel(root, filepath.Dir(name))
			t.fuzz = append(t.fuzz, target{string(m[1]), filepath.ToSlash(folder)})
		}
		return err
	})
	t.documents = sum.Sum64()
	if err == nil && (len(t.modules) == 0 || len(t.fuzz) == 0) {
		err = fmt.Errorf("%d modules and %d fuzz targets: not the repository's directory", len(t.modules), len(t.fuzz))
	}
	return t, err
}

// addFile adds the name and the text of a file to a sum.
func addFile(sum io.Writer, name string) error {
	text, err := os.ReadFile(name)
	fmt.Fprintf(sum, "%s\x00%s\x00", name, text)
	return err
}

// packages returns the patterns of all packages of modules.
func packages(modules ...string) string {
	patterns := make([]string, len(modules))
	for i, m := range modules {
		patterns[i] = "./" + path.Join(m, "...")
	}
	return strings.Join(patterns, " ")
}
