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

// class is what a test proves. The steps of the Makefile choose tests by classes.
type class uint

const (
	// behaviour is what users see, and what no other class has.
	behaviour class = 1 << iota
	// kernelTest proves that assembly does what portable Go does. These tests reach every function
	// in assembly on all of its paths, as make mutants measures, and are all that slow emulators
	// have the time for.
	kernelTest
	// loadTest proves AVX2's functions that load words one by one. AVX-512 shares them.
	loadTest
	// maskTest reads through masks what an emulator may read whole.
	maskTest
	// cpuTest proves that the CPU's kernels are found, and run.
	cpuTest
	// buildTest proves that what is added is found.
	buildTest
	// portable has rates, sizes and tables in portable Go without goroutines, and what takes long
	// beside them. It would find the same on every CPU, and a race detector has nothing to see in it.
	portable
	// sharing is how Go shares a build among workers: neither a kernel nor the width or the order of
	// words plays a part.
	sharing
	// unordered has no order of bytes, such as arithmetic, and walks through hashes that
	// TestArraysAtPageEnd has in arrays of all sizes.
	unordered
	// alone takes long under the race detector, and starts no goroutines, or none that
	// TestBuildOnAnyCores lacks.
	alone
)

// classNames are the words of BLOOM_TEST.
var classNames = []string{"behaviour", "kernels", "loads", "masks", "cpu", "building", "portable", "sharing", "unordered", "alone"}

// is says of which classes a test is, and skips it if BLOOM_TEST does not choose it. That has words:
// each test runs that is of a class named there, or every test if none is, except those of a
// class that has a minus before its name.
func is(t testing.TB, c class) {
	t.Helper()
	gathers.CompareAndSwap(untimedGathers, fastGathers) // no test depends on what a timing finds
	var wanted, unwanted class
	for _, word := range strings.Fields(os.Getenv("BLOOM_TEST")) {
		name, minus := strings.CutPrefix(word, "-")
		i := slices.Index(classNames, name)
		if i < 0 {
			t.Fatalf("BLOOM_TEST has the word %s; the classes are %v", word, classNames)
		}
		if minus {
			unwanted |= 1 << i
		} else {
			wanted |= 1 << i
		}
	}
	if c&unwanted != 0 || wanted != 0 && c&wanted == 0 {
		t.Skip("not in BLOOM_TEST")
	}
}

// IsPortable is is for tests outside of the package.
func IsPortable(t testing.TB) {
	t.Helper()
	is(t, portable)
}

// TestClasses wants every test to begin with its classes, whatever the system that compiles it.
func TestClasses(t *testing.T) {
	is(t, portable)
	if n := bits.Len(uint(alone)); n != len(classNames) {
		t.Errorf("%d classes have %d names", n, len(classNames))
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
