// Command asm generates the assembly of package bloom:
//
//	go generate github.com/lanebloom/bloom
//
// Each file beside this one holds a family of kernels, written once for every
// instruction set in vectors.go.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!purego")
	compactTable()
	setBits()
	scatterPlaces()
	for _, v := range []vectors{&avx512{}, &avx2{}} {
		hash32(v, 4)
		hash32(v, 8)
		for _, c := range columns {
			hash32Bytes(v, c)
		}
		testDouble32(v)
		placeDouble32(v)
	}
	Generate()
}
