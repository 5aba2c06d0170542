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
)

func main() {
	ConstraintExpr("!purego")
	viewStrings()
	fitViews()
	hash32ByRows()
	xxph3ByRows()
	xxh64ByRows()
	murmurByRows()
	placeFull64()
	xxph3AnyAVX2()
	xxph3Stripes()
	setSplit256(&avx2{})
	setNewSplit256(&avx2{})
	singles()
	singleAddresses()
	addOneSplit256()
	addOneLine512()
	addUint64Double32()
	addUint64Double64()
	addUint64Split256()
	addUint64Line512AVX2()
	addUint64Line512AVX512()
	addUint64Line32()
	hasDouble32()
	hasDouble64()
	hasSplit256()
	hasLine512()
	hasLine32()
	probeShortSplit256()
	groups()
	andSlices()
	requestSlices()
	transposeTile()
	setPlaces()
	sortPlaces()
	hash32InGroups()
	for _, v := range []vectors{&avx512{}, &avx2{}} {
		hash32(v, 4)
		hash32(v, 8)
		probeDouble32(v)
		placeDouble32(v)
		probeFull64(v)
		for _, width := range []int{4, 8} {
			xxh64Width(v, width)
			xxph3Width(v, width)
		}
		murmurWidth(v, 8)
		murmurWidth(v, 16)
		probeSplit256(v)
		probeLine512(v)
		probeLine32(v)
		setLine512(v)
		setLine32(v)
		setNewLine512(v)
		pack32(v)
		pack64(v)
	}
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
