package bloom

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// class is what a test proves. A test may prove several things.
type class uint

const (
	// behaviour is what users see, and what no other class has.
	behaviour class = 1 << iota
	// kernelTest proves that assembly does what portable Go does.
	kernelTest
	// loadTest proves AVX2's functions that load words one by one. AVX-512 shares them.
	loadTest
	// cpuTest proves that the CPU's kernels are found, and run.
	cpuTest
	// buildTest proves that what is added is found.
	buildTest
	// concurrent is what goroutines do at once. The race detector runs these tests alone: it has nothing to watch in
	// the others, and makes them ten times as long. other-go checks unsafe pointers, as the detector does.
	concurrent
	// portable has rates, sizes and tables in portable Go without goroutines. It would find the same
	// everywhere, and runs only where BLOOM_UNDER is empty.
	portable
)

// classNames are the words of BLOOM_TEST.
var classNames = []string{"behaviour", "kernels", "loads", "cpu", "building", "concurrent", "portable"}

// place is a place where a test need not run, because it would find nothing that it, or another
// test there, does not find elsewhere.
type place uint

const (
	// portableGo is a run of portable Go again: as a 32-bit program, on another CPU, or without assembly.
	portableGo place = 1 << iota
	// otherOrder is a big-endian CPU: for arithmetic, for what damaged files and readers do, and for walks
	// through hashes that TestArraysAtPageEnd has in arrays of all sizes.
	otherOrder
	// bochs and qemu are slow. The kernel tests that are left reach every function in assembly on all
	// of its paths, as make mutants measures.
	bochs
	qemu
	// wholeMasks is an emulator that reads what a mask leaves out.
	wholeMasks
	// otherGo is another release of Go.
	otherGo
)

// placeNames are the words of BLOOM_UNDER.
var placeNames = []string{"portable-go", "big-endian", "bochs", "qemu", "whole-masks", "other-go"}

// is says what a test proves and where it need not run, and skips it there, or if BLOOM_TEST has classes
// and none of the test's. The steps of the Makefile set both variables: BLOOM_TEST to classes, and
// BLOOM_UNDER to the places that a step is.
func is(t testing.TB, proved class, not ...place) {
	t.Helper()
	wanted, here := bitsNamed[class](t, "BLOOM_TEST", classNames), bitsNamed[place](t, "BLOOM_UNDER", placeNames)
	var unwanted place
	for _, p := range not {
		unwanted |= p
	}
	switch {
	case wanted != 0 && proved&wanted == 0:
		t.Skip("not in BLOOM_TEST")
	case here&unwanted != 0 || here != 0 && proved == portable:
		t.Skip("need not run under BLOOM_UNDER")
	}
}

// bitsNamed returns the bits of the names that an environment variable has.
func bitsNamed[T class | place](t testing.TB, variable string, names []string) (bits T) {
	t.Helper()
	for _, word := range strings.Fields(os.Getenv(variable)) {
		i := slices.Index(names, word)
		if i < 0 {
			t.Fatalf("%s has the word %s; it may have %v", variable, word, names)
		}
		bits |= 1 << i
	}
	return bits
}

// IsPortable is is for tests outside of the package.
func IsPortable(t testing.TB) {
	t.Helper()
	is(t, portable)
}

// TestClasses wants every test to begin with its classes, whatever the system that compiles it.
func TestClasses(t *testing.T) {
	is(t, portable)
	if classes, places := bits.Len(uint(portable)), bits.Len(uint(otherGo)); classes != len(classNames) || places != len(placeNames) {
		t.Errorf("%d classes have %d names, and %d places %d", classes, len(classNames), places, len(placeNames))
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			tests++
			if !beginsWithClass(f) {
				t.Errorf("%s: %s does not begin with its classes: is(t, …)", name, f.Name.Name)
			}
		}
	}
	if tests < 100 {
		t.Errorf("%d tests in %d files", tests, len(files))
	}
}

func beginsWithClass(f *ast.FuncDecl) bool {
	if len(f.Body.List) == 0 {
		return false
	}
	first, ok := f.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := first.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return called.Name == "is"
	case *ast.SelectorExpr:
		return called.Sel.Name == "IsPortable"
	}
	return false
}
