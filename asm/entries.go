package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/printer"
)

// A family is the functions whose names begin with its name, of every architecture. The name of a
// kernel's function ends with the kernel.
//
// A family with arguments is an entry: a Go function that every architecture has. It takes a kernel and
// the arguments, calls the function of the kernel, and reports whether there is one. If the first argument
// is a prober, the kernel is the prober's. If it is a layout, the names of the functions have a layout before
// the kernel, and they do not take it.
type family struct {
	name      string
	arguments string // of an entry, and of all its functions: names and types
	results   string // of these, beside ok of the entry
	doc       string
}

// inGo is what the entries for single keys call where there is no assembly. They take no kernel: it is
// in what they test.
var inGo = map[string]string{"probeUint64": "mayContainUint64", "probeHash": "mayContainHash", "addUint64": "addUint64Generic"}

// families are what the architectures provide. A function belongs to the first that has its name.
var families = []family{
	{"probeLine512", "s *prober, h *hashes, hits *uint64, factors *[8]uint32", "", `
		probeLine512 tests the hashes, 1 to windowKeys, by the probes of 8 factors. It reads on to the next
		multiple of 16 hashes. There are fewer than maxLinesBytes.`},
	{"setLine512", "s *prober, h *hashes, factors *[8]uint32", "", `
		setLine512 sets the bits of the hashes, minSetHashes to windowKeys, for the probes of 8 factors, or, if
		there are fewer, for as many pairs as have them.`},
	{"setNewLine512", "s *prober, h *hashes, added *uint64, factors *[8]uint32", "", `
		setNewLine512 is setLine512 in the order of the hashes. It sets bit i of added if a bit of hash i
		was missing before, and writes one word for every 64 hashes, as probeLine512 does.`},
	{"probeLine32", "s *prober, h *hashes, hits *uint64, steps *[8]uint32", "", `
		probeLine32 is probeLine512 for the probes of 8 steps, and with s.divisor.`},
	{"setLine32", "s *prober, h *hashes, steps *[8]uint32", "", `
		setLine32 is setLine512 in the same way.`},
	{"probeSplit256", "s *prober, h *hashes, hits *uint64", "", `
		probeSplit256 tests the hashes, 1 to windowKeys. It reads on to the next multiple of 16 hashes. There
		are fewer than maxLinesBytes.`},
	{"setSplit256", "s *prober, h *hashes", "", `
		setSplit256 sets the bits of the hashes, minSetHashes to windowKeys.`},
	{"setNewSplit256", "s *prober, h *hashes, added *uint64", "", `
		setNewSplit256 is setNewLine512 for blocks.`},
	{"probeDouble32", "kernel Kernel, s *prober, h *hashes, hits *uint64, dense bool", "", `
		probeDouble32 tests the hashes, 1 to windowKeys, with s.divisor. It reads on
		to the next multiple of 16 hashes. There are at least 2 bytes. It makes the first probes of all hashes and then
		the others of those that pass, or, if dense is set, all probes of each hash at once.`},
	{"placeDouble32", "s *prober, h *hashes, places *uint32", "done int", `
		placeDouble32 writes the numbers of the bits of the first hashes, as many as fill whole vectors, and
		returns how many. There are 8 hashes or more. The places are in any order.`},
	{"probeFull64", "s *prober, h *hashes, hits *uint64, w *fullWalk, dense bool", "", `
		probeFull64 tests the hashes, 1 to windowKeys, with s.full. It reads on to the next multiple of 16 hashes. There
		are at most maxKernelBits bits and maxFullProbes probes. It makes the first probes of all hashes, and then the
		others of those that pass, or, if dense is set, all probes of all hashes. AVX-512 gathers words if gathers is
		set, and else loads them one by one; AVX2 always loads.`},
	{"placeFull64", "s *prober, h *hashes, places *uint32, w *fullWalk", "done int", `
		placeFull64 is placeDouble32 for the walks of probeFull64: in blocks of 16 hashes, of any number of probes.`},
	{"hash32Rows", "rows *byte, stride int, data *byte, n int, hashes *uint32, signs uint32", "left int", `
		hash32Rows is hash32 for n keys of any layout but integers, at least 1. It loads the bytes of each
		key, and gathers nothing. It hashes groups of 64 keys, and leaves those from a group with a key of
		rowsLimit bytes or more on.`},
	{"xxh64Rows", "rows *byte, stride int, data *byte, n int, h1 *uint64, h2 *uint64", "left int", `
		xxh64Rows is hash32Rows for a word of 64 bits, in groups of 16 keys, for at least 16: it hashes the last 16
		again if they are not a group. It ends as hash32 does. It writes the hashes with seed 0 to h1, and those with
		seed 1 to h2, unless that is h1.`},
	{"xxph3Rows", "rows *byte, stride int, data *byte, n int, hashes *uint64", "left int", `
		xxph3Rows is xxh64Rows for this hash. A key of more than 128 bytes is long.`},
	{"hash32", "layout layout, rows *byte, stride int, data *byte, n int, hashes *uint32, signs uint32", "left int", `
		hash32 hashes the first of n keys, scheme.leastKeys or more, and returns how many it leaves. It may
		leave keys that do not fill a vector. It ends at a vector, or a group of 32, with a key of longKey
		bytes or more, and after so many bytes that a longer call would delay preemption.
		Keys.assemblyRows returns layout, rows, stride and data. Keys may lie on the stack, which can't move
		during a call. signs is keyhash.SignedBytes if the last bytes of a key are signed, and else 0.`},
	{"murmurRows", "rows *byte, stride int, data *byte, n int, h *hashes", "left int", `
		murmurRows is xxh64Rows for four words, or for two if h has no h3.`},
	{"murmur", "layout layout, rows *byte, stride int, data *byte, n int, h *hashes", "left int", `
		murmur is murmurRows for integers of 64 bits, and for keys of 16 bytes, which have a layout of their own.`},
	{"xxh64", "layout layout, rows *byte, stride int, data *byte, n int, hashes *uint64, seed uint64", "left int", `
		xxh64 is hash32 for a word of 64 bits.`},
	{"xxph3Stripes", "sums *uint64, key *byte, n int", "", `
		xxph3Stripes adds to the 8 sums, as keyhash.XXPH3Sums.Add does.`},
	{"xxph3", "layout layout, rows *byte, stride int, data *byte, n int, hashes *uint64", "left int", `
		xxph3 is xxh64 for this hash. A key of more than 128 bytes is long. AVX2 hashes
		four keys at a time, but for integers, and ends at one of less than 8 bytes as well.`},
	{"groupSplit256", "blocks **byte, n int, hash uint64", "word uint64", `
		groupSplit256 makes all probes of a key in n arrays, 1 to 64, of which the first octet begins at blocks.`},
	{"groupLine512", "blocks **byte, n int, hash uint64, factors *[8]uint32", "word uint64", `
		groupLine512 is groupSplit256 for 8 probes. factors is as for probeLine512.`},
	{"groupLine32", "blocks **byte, n int, hash uint64, steps *[8]uint32", "word uint64", `
		groupLine32 is groupLine512 for lines of 64 bytes. steps is as for probeLine32.`},
	{"andSlices", "hits *uint64, slices **byte, n int", "total int", `
		andSlices writes the AND of 8 arrays of n words, at least 1, to hits, and returns the number of set bits. The
		addresses of the arrays are in slices; hits can be one of them.`},
	{"requestSlices", "slices **byte", "", `
		requestSlices requests the first 4 lines of 8 arrays, whose addresses are in slices.`},
	{"transposeTile", "tile *uint64", "", `
		transposeTile swaps bit j of word i with bit i of word j, for all i and j below 64.`},
	{"setPlaces", "base *byte, whole uint32, places *uint32, fours int", "", `
		setPlaces sets the bits at 4·fours places; fours is at least 1. For a place below whole, it reads
		and writes a word of 32 bits; for any other place, a byte. whole is a multiple of 32, or 2^32-1.`},
	{"sortPlaces", "places *uint32, n int, numbers *uint32, lines *uint32, kept *uint32, capacity int", "left int", `
		sortPlaces is sortGeneric for n places, at least 1.`},
	{"viewStrings", "rows *byte, buffers *byte, valid uint64, n int, strings *string", "", `
		viewStrings writes the keys of n views as strings; n is a multiple of 8 up to 64. buffers is the first
		of their buffers. If bit i of valid is clear, string i is empty, and only its view is read.`},
	{"fitViews", "rows *byte, buffers *byte, valid uint64, n int, count int", "left int", `
		fitViews checks whether the keys of n views, as those of viewStrings, are within their buffers, which
		are so many. It ends at the first 8 views of which one is not, and returns how many are left.`},
	{"pack32", "words *uint32, chosen *uint64, n int", "left int", `
		pack32 moves the chosen ones of n words to the front, and returns their number. Word i is chosen
		if bit i%64 of chosen[i/64] is set. n is a multiple of 16, at least 16. It reads and writes the n
		words, and reads n bits of chosen.`},
	{"pack64", "words *uint64, chosen *uint64, n int", "left int", `
		pack64 is pack32 for words of 64 bits.`},
	{name: "probeUint64", arguments: "base **byte, key uint64", results: "may bool", doc: `
		probeUint64 tests a key of 8 bytes. base begins a prober. In assembly, it jumps to the address in the
		prober's single. Go inlines its callers, so a key takes one call: with two, Parquet's took 1.15 times
		as long.`},
	{name: "probeHash", arguments: "base **byte, h1 uint64, h2 uint64, h3 uint64, h4 uint64", results: "may bool", doc: `
		probeHash is probeUint64 for the words of a Hash, and mayContainHash.`},
	{"probeShortSplit256", "base **byte, key *byte, n int", "may bool", `
		probeShortSplit256 tests a key of n bytes, fewer than keyhash.ShortXXH64, in Parquet's blocks. base begins an
		array. It takes 0.8 times as long as hash and test by two calls.`},
	{"addOneSplit256", "base **byte, hash uint64", "isNew bool", `
		addOneSplit256 sets the bits of a hash, and reports whether one was missing. base begins an array.`},
	{"addOneLine512", "base **byte, hash uint64", "isNew bool", `
		addOneLine512 is addOneSplit256 for at most maxHasProbes probes.`},
	{name: "addUint64", arguments: "base **byte, key uint64", results: "isNew bool", doc: `
		addUint64 adds a key of 8 bytes, and reports whether it was certainly new. It works like probeUint64,
		and is not atomic: an AtomicSet must not call it.`},
	{name: "singleAt", doc: `
		singleAt returns the addresses of a single. Row 0 has those of Go, row 2*walk-1 those of AVX2 and row
		2*walk those of AVX512.`},
	{name: "has", doc: `
		The has functions test one key. Their base begins a prober, and those of lines make at most
		maxHasProbes probes.`},
}

// signature returns the type of the functions of an entry for avo, which knows no type of package bloom: a pointer is
// as good as another.
func signature(name string) string {
	for _, f := range families {
		if f.name == name {
			return "func" + structs.ReplaceAllString(f.signature(), "*byte")
		}
	}
	panic("no family " + name)
}

var structs = regexp.MustCompile(`\*(prober|hashes|fullWalk)\b`)

func (f *family) signature() string { return "(" + f.taken() + ") (" + f.results + ")" }

// ofLayout begins the arguments of an entry for several layouts, ofProber those of one for a prober, and ofKernel those of one for
// a prober that another kernel may serve.
const (
	ofLayout = "layout layout, "
	ofProber = "s *prober, "
	ofKernel = "kernel Kernel, "
)

// taken returns the arguments that the functions of an entry take.
func (f *family) taken() string {
	return strings.TrimPrefix(strings.TrimPrefix(f.arguments, ofLayout), ofKernel)
}

// kernels are the suffixes of functions. A kernel without a function of its own takes that of the next
// one, if it has a line for that.
var kernels = []struct{ name, instead string }{{"AVX512", "AVX2"}, {"AVX2", ""}, {"NEON", ""}}

// layouts are what follows the family in the name of a hash's function, and the layouts that it serves.
var layouts = []struct{ name, layouts string }{
	{"Width4", "uint32s"},
	{"Width8", "uint64s"},
	{"Width16", "fixedWidth"},
	{"Any", "byteSlices, strs, offsets32, offsets64, fixedWidth"},
}

// declare writes a Go file with the entries and the declarations of an architecture's functions.
func declare(file, constraint string, functions []*ir.Function) error {
	members := make([][]string, len(families))
	stubs := map[string]string{}
	for _, f := range functions {
		i := slices.IndexFunc(families, func(family family) bool { return strings.HasPrefix(f.Name, family.name) })
		if i < 0 {
			return fmt.Errorf("%s is of no family in entries.go", f.Name)
		}
		members[i] = append(members[i], f.Name)
		if stubs[f.Name] = f.Stub(); families[i].arguments != "" {
			stubs[f.Name] = "func " + f.Name + families[i].signature()
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n//go:build %s\n\npackage bloom\n", printer.NewGoRunConfig().GeneratedWarning(), constraint)
	if len(functions) > 0 {
		b.WriteString("\nimport (\n\t\"unsafe\"\n\n\t\"github.com/lanebloom/bloom/internal/keyhash\"\n\t\"github.com/lanebloom/bloom/internal/probes\"\n)\n\n" + guards())
	}
	for i, family := range families {
		if family.arguments != "" || len(members[i]) > 0 {
			b.WriteString(strings.ReplaceAll(family.doc, "\n\t\t", "\n// ") + "\n")
		}
		if instead, single := inGo[family.name]; single && len(members[i]) == 0 {
			fmt.Fprintf(&b, "func %s(%s) (%s) { return %s(%s) }\n", family.name, family.arguments, family.results, instead, strings.Join(names(family.arguments), ", "))
		} else if !single && family.arguments != "" {
			b.WriteString(family.entry(members[i]))
		}
		for _, name := range members[i] {
			fmt.Fprintf(&b, "\n//go:noescape\n%s\n", stubs[name])
		}
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}

// entry returns the Go function of an entry, which calls one of some functions.
func (f *family) entry(functions []string) string {
	var b strings.Builder
	results := "ok bool"
	if f.results != "" {
		results = f.results + ", ok bool"
	}
	arguments, kernel := ofKernel+strings.TrimPrefix(f.arguments, ofKernel), "kernel"
	if strings.HasPrefix(f.arguments, ofProber) {
		arguments, kernel = f.arguments, "s.kernel"
	}
	fmt.Fprintf(&b, "func %s(%s) (%s) {\n", f.name, arguments, results)
	if len(functions) > 0 {
		b.WriteString("switch " + kernel + " {\n" + f.cases(functions) + "}\n")
	}
	fmt.Fprintf(&b, "return %s\n}\n", strings.Join(append(names(f.results), "false"), ", "))
	return b.String()
}

// cases returns those of the switch over the kernels.
func (f *family) cases(functions []string) string {
	var b strings.Builder
	if !strings.HasPrefix(f.arguments, ofLayout) {
		for _, name := range functions {
			fmt.Fprintf(&b, "case %s:\n%s\n", strings.Join(f.kernels(name, functions), ", "), f.call(name))
		}
		return b.String()
	}
	for _, k := range kernels {
		inner := ""
		for _, l := range layouts {
			if name := f.name + l.name + k.name; slices.Contains(functions, name) {
				inner += fmt.Sprintf("case %s:\n%s\n", l.layouts, f.call(name))
			}
		}
		if inner != "" {
			fmt.Fprintf(&b, "case %s:\nswitch layout {\n%s}\n", k.name, inner)
		}
	}
	return b.String()
}

// kernels returns those that a function of an entry serves.
func (f *family) kernels(function string, all []string) (served []string) {
	for _, k := range kernels {
		if own := f.name + k.name; function == own || function == f.name+k.instead && !slices.Contains(all, own) {
			served = append(served, k.name)
		}
	}
	return served
}

// call returns the statements that call a function with the arguments of the entry.
func (f *family) call(function string) string {
	call := function + "(" + strings.Join(names(f.taken()), ", ") + ")"
	if f.results == "" {
		return call + "\nreturn true"
	}
	return "return " + call + ", true"
}

// names returns the names of arguments or results.
func names(list string) (names []string) {
	for _, one := range strings.Split(list, ",") {
		if one != "" {
			names = append(names, strings.Fields(one)[0])
		}
	}
	return names
}
