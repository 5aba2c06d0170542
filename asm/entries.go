package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/printer"
)

// A family is the functions whose names begin with its name, of every architecture.
type family struct{ name, doc string }

// families are what the architectures provide. A function belongs to the first that has its name.
var families = []family{
	{"hash32HeadersLoads", `
		The hash32HeadersLoads functions are hash32 functions for groups of 32 keys with headers. They
		load words one by one, and return how many groups are left.`},
	{"hash32", `
		The hash32 functions are hash32Generic for the given number of vectors of keys, at least 1. Those
		for keys of any length return how many vectors are left. Headers are those of slices or strings:
		an address, and the length 8 bytes after it. Keys of a fixed width have at least 8 bytes. Keys
		may lie on the stack, which can't move during a call. signs is signedBytes if the last bytes of a
		key are signed, and else 0.`},
	{"hash64", `
		The hash64 functions write the two hashes of n keys, or of the given number of vectors of 16
		keys, at least 1. Those for keys of any length return how many keys or vectors are left.`},
	{"xxh64", `
		The xxh64 functions are the hash64 functions for one hash.`},
	{"xxph3Stripes", `
		The xxph3Stripes functions add to the 8 sums, as xxph3Sums.add does.`},
	{"xxph3", `
		The xxph3 functions write the hashes of n keys, or of the given number of vectors of 16 keys, at
		least 1. Those for keys of any length return the number of vectors that they leave.`},
	{"testDouble32", `
		The testDouble32 functions are testGeneric for n hashes, 1 to windowKeys, with the numbers of
		vectorWalk. They read on to the next multiple of 16 hashes. first is the number of probes, at
		least 1, that arm64 makes of all hashes, before it makes the others of the hashes that pass.`},
	{"placeDouble32", `
		The placeDouble32 functions are placeGeneric for the given number of vectors of hashes, at least
		1. The places are in another order.`},
	{"testDouble64", `
		The testDouble64 functions are testGeneric for n hashes, 1 to windowKeys. They read on to the
		next multiple of 16 hashes. The AVX-512 function computes the remainders of the hashes itself if
		inverse, of double64.inverse, is not 0.`},
	{"testSplit256", `
		The testSplit256 functions are testGeneric for n hashes, 1 to windowKeys, and fewer than
		maxKernelBlocks blocks. They read on to the next multiple of 16 hashes. If far is true, they
		request lines of memory before they need them.`},
	{"addSplit256", `
		The addSplit256 functions set the bits of n hashes, on arm64 at least 4.`},
	{"testLine512", `
		The testLine512 functions make 8 probes of each of n hashes, 1 to windowKeys, with the factors of
		line512.factors. They read on to the next multiple of 16 hashes. There are at most maxKernelLines
		lines. If far is true, the functions request lines before they need them.`},
	{"addLine512", `
		The addLine512 functions set two bits for each of the pairs, 1 to 4, of n hashes, on arm64 at
		least 4.`},
	{"testLine32", `
		The testLine32 functions are the testLine512 functions for the steps of line32.steps, and what
		line32.divisor returns.`},
	{"addLine32", `
		The addLine32 functions are the addLine512 functions for the steps of line32.steps.`},
	{"request", `
		The request functions request the lines of the given number of 4 hashes, at least 1.`},
	{"testArrays", `
		The testArrays functions test a key with n arrays, 1 to 64, of which the first block begins at
		blocks, or the first array at arrays. bits has the bits of the key in its line, and probes is at
		most maxHasProbes for lines. The AVX-512 functions of double walks make all probes, and those of
		AVX2 the first three.`},
	{"setPlaces", `
		The setPlaces functions set the bits at 4·fours places; fours is at least 1. For a place below
		whole, they read and write a word of 32 bits; for any other place, a byte. whole is a multiple of
		32, or 2^32-1.`},
	{"sortPlaces", `
		The sortPlaces functions are sortGeneric for n places, at least 1.`},
	{"pack", `
		The pack functions move the chosen ones of n words to the front, and return their number. n is a
		multiple of 16, at least 16. They read and write the n words, and read n bits of chosen.`},
	{"testUint64", `
		testUint64 tests a key of 8 bytes. base begins a scheme. It jumps to the function below for the
		pair and the kernel of the scheme, or to mayContainUint64. Go inlines its callers, so a key takes
		one call: with two, Parquet's took 1.15 times as long.`},
	{"testHash", `
		testHash is testUint64 for a hash and the number of its kind, and mayContainHash.`},
	{"has", `
		The has functions test one key. Their base begins a scheme, and those of lines make at most
		maxHasProbes probes.`},
}

// declare writes the Go file of an architecture, with the declarations of its functions.
func declare(file string, functions []*ir.Function) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n//go:build !purego\n\npackage bloom\n", printer.NewGoRunConfig().GeneratedWarning())
	members := map[string][]*ir.Function{}
	for _, f := range functions {
		name, err := familyOf(f.Name)
		if err != nil {
			return err
		}
		members[name] = append(members[name], f)
	}
	for _, family := range families {
		for i, f := range members[family.name] {
			if i == 0 {
				b.WriteString(strings.ReplaceAll(family.doc, "\n\t\t", "\n// ") + "\n")
			}
			fmt.Fprintf(&b, "\n//go:noescape\n%s\n", f.Stub())
		}
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}

// familyOf returns the name of the family of a function.
func familyOf(function string) (string, error) {
	for _, f := range families {
		if strings.HasPrefix(function, f.name) {
			return f.name, nil
		}
	}
	return "", fmt.Errorf("%s is of no family in entries.go", function)
}
