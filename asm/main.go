// Command asm generates the assembly of package bloom:
//
//	go generate github.com/lanebloom/bloom
//
// Each file beside this one has a family of kernels. The files without the prefix neon
// write a kernel once for the instruction sets of vectors.go; the files with it write the
// kernels of arm64.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	ConstraintExpr("!purego")
	compactTable()
	ascendingTable()
	alternateTables()
	smallNumbersTable()
	headerTables()
	rowsTables()
	xxph3Tables()
	splitSaltsTable()
	splitOnesTable()
	lineStartsTable()
	singleWordsTable()
	singleTables()
	longConstantTables()
	secretTable()
	xxph3ByRows()
	xxph3Stripes()
	xxph3Width(4)
	xxph3Width(8)
	hash64WidthAVX2(4)
	hash64WidthAVX2(8)
	xxph3WidthAVX2(4)
	xxph3WidthAVX2(8)
	addSplit256(&avx2{})
	testSingle("Uint64", ofUint64)
	testSingle("Hash", ofHash)
	hasDouble32()
	hasDouble64()
	hasKeySplit256()
	testArrays()
	setPlaces()
	sortPlaces()
	hash32HeadersLoads()
	hash32ByRows()
	for _, c := range append(columns, fixed) {
		hash32Bytes(&avx2{}, c)
	}
	testDouble32(&avx2Loads{})
	testDouble64(&avx2Loads{})
	for _, v := range []vectors{&avx512{}, &avx2{}} {
		hash32(v, 4)
		hash32(v, 8)
		testDouble32(v)
		placeDouble32(v)
		testDouble64(v)
		testSplit256(v)
		testLine512(v)
		testLine32(v)
		hasHashSplit256(v)
		hasHashLine512(v)
		hasHashLine32(v)
		hasUint64Split256(v)
		hasUint64Line512(v)
		hasUint64Line32(v)
		addLine512(v)
		addLine32(v)
		pack32(v)
		pack64(v)
	}
	for _, x := range []xxh64{twoSeeds, oneSeed} {
		hash64Width(x, 4)
		hash64Width(x, 8)
		for _, c := range columns {
			hash64Bytes(x, c)
		}
		hash64Bytes(x, fixed)
	}
	arm := flag.String("arm64", "", "file to write the assembly of arm64 to")
	flag.Parse()
	text, err := neon().Compile(printer.NewGoRunConfig())
	if err == nil {
		err = os.WriteFile(*arm, text, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pass.Compile = compile
	Generate()
}
