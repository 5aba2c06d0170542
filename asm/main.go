// Command asm generates the assembly of package bloom:
//
//	go generate github.com/lanebloom/bloom
//
// Each file beside this one has a family of kernels. The files without the prefix neon
// write a kernel once for the instruction sets of vectors.go; the files with it write the
// kernels of arm64.
package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"

	"github.com/lanebloom/bloom/asm/arm64"
)

// An operation is an entry of entries.go, perhaps for one layout, and what emits it for each instruction set. The
// name of a function has all three.
type operation struct {
	family, layout string
	sets           []func() vectors
	emit           func(v vectors)
	neon           func(f *arm64.Function, tables neonTables)
}

func new512() vectors { return &avx512{} }
func new2() vectors   { return &avx2{} }

var (
	only512 = []func() vectors{new512}
	only2   = []func() vectors{new2}
	both    = []func() vectors{new512, new2}
)

// operations are those of the scheme's windows, and then what surrounds them. The tests and additions of one key are in singles.
var operations = []operation{
	// Keys to words: rows.go for keys of any length, integers.go for those of 4 and 8 bytes.
	{"hash32", "Width4", both, of(hash32, 4), neonOf(neonHash32, 4)},
	{"hash32", "Width8", both, of(hash32, 8), neonOf(neonHash32, 8)},
	{"hash32", "Any", only2, hash32InGroups, neonHash32Any},
	{"hash32Rows", "", only512, hash32ByRows, nil},
	{"xxh64", "Width4", both, of(xxh64Width, 4), neonOf(neonHash64Width, 4)},
	{"xxh64", "Width8", both, of(xxh64Width, 8), neonOf(neonHash64Width, 8)},
	{"xxh64", "Any", nil, nil, neonHash64Any},
	{"xxh64Rows", "", only512, xxh64ByRows, nil},
	{"xxph3", "Width4", both, of(xxph3Width, 4), neonOf(neonXXPH3Width, 4)},
	{"xxph3", "Width8", both, of(xxph3Width, 8), neonOf(neonXXPH3Width, 8)},
	{"xxph3", "Any", only2, xxph3AnyAVX2, nil},
	{"xxph3Rows", "", only512, xxph3ByRows, nil},
	{"xxph3Stripes", "", only2, xxph3Stripes, neonXXPH3Stripes},
	{"murmur", "Width8", both, of(murmurWidth, 8), nil},
	{"murmur", "Width16", both, of(murmurWidth, 16), nil},
	{"murmurRows", "", only512, murmurByRows, nil},

	// An address a key: lines.go, neon_lines.go.
	{"probeSplit256", "", both, probeSplit256, neonProbeSplit256},
	{"setSplit256", "", only2, setSplit256, neonSetSplit256},
	{"setNewSplit256", "", only2, setNewSplit256, neonSetNewSplit256},
	{"probeLine512", "", both, probeLine512, neonProbeLine512},
	{"setLine512", "", both, setLine512, neonSetLine512},
	{"setNewLine512", "", both, setNewLine512, neonSetNewLine512},
	{"probeLine32", "", both, probeLine32, neonProbeLine32},
	{"setLine32", "", both, setLine32, neonSetLine32},
	{"groupSplit256", "", only2, groupSplit256, nil},
	{"groupLine512", "", both, groupLine512, nil},
	{"groupLine32", "", only2, groupLine32, nil},

	// An address a probe: double32.go, full64.go, neon_double32.go.
	{"probeDouble32", "", both, probeDouble32, neonProbeDouble32},
	{"placeDouble32", "", both, placeDouble32, neonPlaceDouble32},
	{"probeFull64", "", both, probeFull64, nil},
	{"placeFull64", "", only512, placeFull64, nil},

	// One key, by a call of its own.
	{"probeShortSplit256", "", only2, probeShortSplit256, nil},
	{"addOneSplit256", "", only2, addOneSplit256, nil},
	{"addOneLine512", "", only512, addOneLine512, nil},

	// Around windows: views of keys, hashes of valid rows, interleaved filters, builds.
	{"viewStrings", "", only512, viewStrings, nil},
	{"fitViews", "", only512, fitViews, nil},
	{"pack32", "", both, pack32, nil},
	{"pack64", "", both, pack64, nil},
	{"andSlices", "", only2, andSlices, nil},
	{"requestSlices", "", only2, requestSlices, nil},
	{"transposeTile", "", only2, transposeTile, nil},
	{"setPlaces", "", only2, setPlaces, nil},
	{"sortPlaces", "", only2, sortPlaces, nil},
}

// of and neonOf are what emits an operation for keys of one width.

func of(emit func(v vectors, width int), width int) func(vectors) {
	return func(v vectors) { emit(v, width) }
}

func neonOf(emit func(f *arm64.Function, width int), width int) func(*arm64.Function, neonTables) {
	return func(f *arm64.Function, _ neonTables) { emit(f, width) }
}

func main() {
	ConstraintExpr("!purego")
	for _, o := range operations {
		for _, set := range o.sets {
			v := set()
			TEXT(o.family+o.layout+v.name(), 0, signature(o.family))
			o.emit(v)
		}
	}
	singles()
	arm := flag.String("arm64", "", "file to write the assembly of arm64 to")
	flag.Parse()
	writeNEON(*arm)
	pass.Compile = pass.Concat(compile, pass.Func(func(f *ir.File) error {
		dir := filepath.Dir(*arm)
		return errors.Join(
			declare(filepath.Join(dir, "probe_amd64.go"), "!purego", f.Functions()),
			declare(filepath.Join(dir, "probe_generic.go"), "(!amd64 && !arm64) || purego", nil))
	}))
	Generate()
}

// writeNEON writes the assembly of arm64, and its declarations beside it.
func writeNEON(to string) {
	file := neon()
	text, err := file.Compile(printer.NewGoRunConfig())
	check(err)
	check(os.WriteFile(to, text, 0o666))
	check(declare(strings.TrimSuffix(to, ".s")+".go", "!purego", file.Functions()))
}
