package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	values "go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bloom is the package whose assembly this is, in the directory above this one. keyhash and probes have its hashes and their
// bits. So the generator takes the offsets of fields and the values of constants from where they are written.
var bloom, keyhash, probes = load(".."), load("../internal/keyhash"), load("../internal/probes")

// source is a package, as the compiler for amd64 sees it. What the kernels of arm64 take from it is the
// same there.
type source struct {
	checked *types.Package
	scope   *types.Scope
	sizes   types.Sizes
	files   []*ast.File
	info    types.Info

	read map[string]int64 // what offset and constant returned, by expressions of Go
}

func load(dir string) *source {
	c, set := build.Default, token.NewFileSet()
	c.GOARCH, c.GOOS, c.BuildTags = "amd64", "linux", nil
	p, err := c.ImportDir(dir, 0)
	check(err)
	s := &source{sizes: types.SizesFor("gc", "amd64"), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}}, read: map[string]int64{}}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		check(err)
		s.files = append(s.files, f)
	}
	// Errors, as of packages that it does not import, are the compiler's to report.
	config := types.Config{IgnoreFuncBodies: true, Sizes: s.sizes, Importer: internals{}, Error: func(error) {}}
	s.checked, _ = config.Check(p.Name, set, s.files, &s.info)
	s.scope = s.checked.Scope()
	return s
}

// check ends the program if there is an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "asm:", err)
		os.Exit(1)
	}
}

// internals imports the packages whose types and constants those of package bloom are made of.
type internals struct{}

func (internals) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if dir, found := strings.CutPrefix(path, "github.com/lanebloom/bloom/internal/"); found {
		return load("../internal/" + dir).checked, nil
	}
	return nil, errors.New("not read")
}

// offset returns the offset of a field, such as prober.array.n.
func (s *source) offset(path string) int {
	at, _ := s.field(path)
	return at
}

// elementsOf returns the number of elements of a field that is an array.
func (s *source) elementsOf(path string) uint64 {
	_, t := s.field(path)
	n := t.Underlying().(*types.Array).Len()
	s.read["len("+strings.Replace(path, ".", "{}.", 1)+")"] = n
	return uint64(n)
}

// field returns the offset and the type of a field.
func (s *source) field(path string) (offset int, of types.Type) {
	names := strings.Split(path, ".")
	t, at := s.typeOf(names[0]), int64(0)
	for _, name := range names[1:] {
		fields, found := t.Underlying().(*types.Struct), -1
		var all []*types.Var
		for i := range fields.NumFields() {
			all = append(all, fields.Field(i))
			if all[i].Name() == name {
				found = i
			}
		}
		if found < 0 {
			panic("package bloom has no field " + path)
		}
		at += s.sizes.Offsetsof(all)[found]
		t = all[found].Type()
	}
	s.read[offsetsOf(names)] = at
	return int(at), t
}

// offsetsOf returns an expression of Go for the offset of a field: the sum of the offsets on the way to it.
func offsetsOf(names []string) string {
	terms := make([]string, 0, len(names))
	for i := range names[1:] {
		terms = append(terms, "unsafe.Offsetof("+names[0]+"{}."+strings.Join(names[1:i+2], ".")+")")
	}
	return strings.Join(terms, " + ")
}

// guards returns declarations of package bloom that compile only while each offset and each constant is what the assembly
// has for it.
func guards() string {
	read := maps.Clone(bloom.read)
	for _, s := range []*source{keyhash, probes} {
		for name, value := range s.read {
			read[s.checked.Name()+"."+name] = value
		}
	}
	var b strings.Builder
	b.WriteString("// The assembly has these offsets and constants. Where one differs, generate it anew.\nvar (\n")
	for _, name := range slices.Sorted(maps.Keys(read)) {
		fmt.Fprintf(&b, "\t_ [0]struct{} = [%s - %d]struct{}{}\n", name, read[name])
	}
	return b.String() + ")\n"
}

// size returns the size of a type in bytes.
func (s *source) size(name string) int {
	size := s.sizes.Sizeof(s.typeOf(name))
	s.read["unsafe.Sizeof("+name+"{})"] = size
	return int(size)
}

func (s *source) typeOf(name string) types.Type {
	t, ok := s.scope.Lookup(name).(*types.TypeName)
	if !ok {
		panic("package bloom has no type " + name)
	}
	return t.Type()
}

// constant returns a constant that is not negative.
func (s *source) constant(name string) uint64 {
	c, ok := s.scope.Lookup(name).(*types.Const)
	if !ok {
		panic("there is no constant " + name)
	}
	word := wordOf(name, c.Val())
	if word < 1<<62 {
		s.read[name] = int64(word)
	}
	return word
}

// elements returns those of an array variable, which the source lists.
func (s *source) elements(name string) (list []uint64) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || v.Names[0].Name != name || len(v.Values) != 1 {
				return true
			}
			for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
				list = append(list, wordOf(name, s.info.Types[e].Value))
			}
			return false
		})
	}
	if len(list) == 0 {
		panic("there is no array " + name)
	}
	return list
}

func wordOf(name string, v values.Value) uint64 {
	if v == nil {
		panic(name + " of there is no constant value")
	}
	u, ok := values.Uint64Val(v)
	if !ok {
		panic(name + " is no constant of 64 bits")
	}
	return u
}
