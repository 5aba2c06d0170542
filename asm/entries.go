package main

import "github.com/lanebloom/bloom/asm/arm64"

// A family is the functions whose names begin with its name, of every architecture. The name of a
// kernel's function ends with the kernel.
//
// A family with arguments is an entry: a Go function that every architecture has. It takes a kernel and
// the arguments, calls the function of the kernel, and reports whether there is one. If the first argument
// is a prober, the kernel is the prober's. If it is a layout, the functions have one each, and do not take it.
type family struct {
	name      string
	arguments string // of an entry, and of all its functions: names and types
	results   string // of these, beside ok of the entry
	doc       string
	forms     []form
}

// A form is what emits the functions of a family, for each instruction set: all, or those for one layout of keys or one scheme, whose
// name stands before the kernel's in the names of functions.
type form struct {
	name string
	sets []func() vectors
	emit func(v vectors)
	neon func(f *arm64.Function, tables neonTables)
}

// on returns the only form of a family.
func on(sets []func() vectors, emit func(v vectors), neon func(f *arm64.Function, tables neonTables)) []form {
	return []form{{sets: sets, emit: emit, neon: neon}}
}

func new512() vectors { return &avx512{} }
func new2() vectors   { return &avx2{} }

var (
	only512 = []func() vectors{new512}
	only2   = []func() vectors{new2}
	both    = []func() vectors{new512, new2}
)

// of and neonOf are what emits an operation for keys of one width.

func of(emit func(v vectors, width int), width int) func(vectors) {
	return func(v vectors) { emit(v, width) }
}

func neonOf(emit func(f *arm64.Function, width int), width int) func(*arm64.Function, neonTables) {
	return func(f *arm64.Function, _ neonTables) { emit(f, width) }
}

// inGo names the portable Go of each entry for single keys: assembly jumps to it. These entries take no kernel, which is in what
// they test, and single_generic.go has them where there is no assembly.
var inGo = map[string]string{"probeUint64": "mayContainUint64", "probeHash": "mayContainHash", "addUint64": "addUint64Generic"}

// targets have no entry: the entries for single keys jump to their functions.
var targets = []string{"hasUint64", "hasHash", "hasHashDouble64"}

// families are what the architectures provide. A function belongs to the longest name that begins its own.
var families = []family{
	// Keys to words: rows.go for keys of any length, integers.go for those of 4 and 8 bytes.
	{"hash32", "layout layout, rows *byte, stride int, data *byte, n int, hashes *uint32, signs uint32", "left int", `
		hash32 hashes the first of n keys, scheme.leastKeys or more, and returns how many it leaves. It may
		leave keys that do not fill a vector. It ends at a vector, or a group of 32, with a key of longKey
		bytes or more, and after so many bytes that a longer call would delay preemption.
		Keys.assemblyRows returns layout, rows, stride and data. Keys may lie on the stack, which can't move
		during a call. signs is keyhash.SignedBytes if the last bytes of a key are signed, and else 0.`, []form{
		{"Width4", both, of(hash32, 4), neonOf(neonHash32, 4)},
		{"Width8", both, of(hash32, 8), neonOf(neonHash32, 8)},
		{"Any", only2, hash32InGroups, neonHash32Any},
	}},
	{"hash32Rows", "rows *byte, stride int, data *byte, n int, hashes *uint32, signs uint32", "left int", `
		hash32Rows is hash32 for n keys of any layout but integers, at least 1. It loads the bytes of each
		key, and gathers nothing. It hashes groups of 64 keys, and leaves those from a group with a key of
		rowsLimit bytes or more on.`, on(only512, hash32ByRows, nil)},
	{"xxh64", "layout layout, rows *byte, stride int, data *byte, n int, hashes *uint64, seed uint64", "left int", `
		xxh64 is hash32 for a word of 64 bits.`, []form{
		{"Width4", both, of(xxh64Width, 4), neonOf(neonHash64Width, 4)},
		{"Width8", both, of(xxh64Width, 8), neonOf(neonHash64Width, 8)},
		{"Any", nil, nil, neonHash64Any},
	}},
	{"xxh64Rows", "rows *byte, stride int, data *byte, n int, h1 *uint64, h2 *uint64", "left int", `
		xxh64Rows is hash32Rows for a word of 64 bits, in groups of 16 keys, for at least 16: it hashes the last 16
		again if they are not a group. It ends as hash32 does. It writes the hashes with seed 0 to h1, and those with
		seed 1 to h2, unless that is h1.`, on(only512, xxh64ByRows, nil)},
	{"xxph3", "layout layout, rows *byte, stride int, data *byte, n int, hashes *uint64", "left int", `
		xxph3 is xxh64 for this hash. A key of more than 128 bytes is long. AVX2 hashes
		four keys at a time, but for integers, and ends at one of less than 8 bytes as well.`, []form{
		{"Width4", both, of(xxph3Width, 4), neonOf(neonXXPH3Width, 4)},
		{"Width8", both, of(xxph3Width, 8), neonOf(neonXXPH3Width, 8)},
		{"Any", only2, xxph3AnyAVX2, nil},
	}},
	{"xxph3Rows", "rows *byte, stride int, data *byte, n int, hashes *uint64", "left int", `
		xxph3Rows is xxh64Rows for this hash. A key of more than 128 bytes is long.`, on(only512, xxph3ByRows, nil)},
	{"xxph3Stripes", "sums *uint64, key *byte, n int", "", `
		xxph3Stripes adds to the 8 sums, as keyhash.XXPH3Sums.Add does.`, on(only2, xxph3Stripes, neonXXPH3Stripes)},
	{"murmur", "layout layout, rows *byte, stride int, data *byte, n int, h *hashes", "left int", `
		murmur is murmurRows for integers of 64 bits, and for keys of 16 bytes, which have a layout of their own.`, []form{
		{"Width8", both, of(murmurWidth, 8), nil},
		{"Width16", both, of(murmurWidth, 16), nil},
	}},
	{"murmurRows", "rows *byte, stride int, data *byte, n int, h *hashes", "left int", `
		murmurRows is xxh64Rows for four words, or for two if h has no h3.`, on(only512, murmurByRows, nil)},

	// An address a key: lines.go, neon_lines.go.
	{"probeSplit256", "s *prober, h *hashes, hits *uint64", "", `
		probeSplit256 tests the hashes, 1 to windowKeys. It reads on to the next multiple of 16 hashes. There
		are fewer than maxLinesBytes.`, on(both, probeSplit256, neonProbeSplit256)},
	{"setSplit256", "s *prober, h *hashes", "", `
		setSplit256 sets the bits of the hashes, minSetHashes to windowKeys.`, on(only2, setSplit256, neonSetSplit256)},
	{"setNewSplit256", "s *prober, h *hashes, added *uint64", "", `
		setNewSplit256 is setNewLine512 for blocks.`, on(only2, setNewSplit256, neonSetNewSplit256)},
	{"probeLine512", "s *prober, h *hashes, hits *uint64, factors *[8]uint32", "", `
		probeLine512 tests the hashes, 1 to windowKeys, by the probes of 8 factors. It reads on to the next
		multiple of 16 hashes. There are fewer than maxLinesBytes.`, on(both, probeLine512, neonProbeLine512)},
	{"setLine512", "s *prober, h *hashes, factors *[8]uint32", "", `
		setLine512 sets the bits of the hashes, minSetHashes to windowKeys, for the probes of 8 factors, or, if
		there are fewer, for as many pairs as have them.`, on(both, setLine512, neonSetLine512)},
	{"setNewLine512", "s *prober, h *hashes, added *uint64, factors *[8]uint32", "", `
		setNewLine512 is setLine512 in the order of the hashes. It sets bit i of added if a bit of hash i
		was missing before, and writes one word for every 64 hashes, as probeLine512 does.`, on(both, setNewLine512, neonSetNewLine512)},
	{"probeLine32", "s *prober, h *hashes, hits *uint64, steps *[8]uint32", "", `
		probeLine32 is probeLine512 for the probes of 8 steps, and with s.divisor.`, on(both, probeLine32, neonProbeLine32)},
	{"setLine32", "s *prober, h *hashes, steps *[8]uint32", "", `
		setLine32 is setLine512 in the same way.`, on(both, setLine32, neonSetLine32)},
	{"groupSplit256", "blocks **byte, n int, hash uint64", "word uint64", `
		groupSplit256 makes all probes of a key in n arrays, 1 to 64, of which the first octet begins at blocks.`, on(only2, groupSplit256, nil)},
	{"groupLine512", "blocks **byte, n int, hash uint64, factors *[8]uint32", "word uint64", `
		groupLine512 is groupSplit256 for 8 probes. factors is as for probeLine512.`, on(both, groupLine512, nil)},
	{"groupLine32", "blocks **byte, n int, hash uint64, steps *[8]uint32", "word uint64", `
		groupLine32 is groupLine512 for lines of 64 bytes. steps is as for probeLine32.`, on(only2, groupLine32, nil)},

	// An address a probe: double32.go, full64.go, neon_double32.go.
	{"probeDouble32", "kernel Kernel, s *prober, h *hashes, hits *uint64, dense bool", "", `
		probeDouble32 tests the hashes, 1 to windowKeys, with s.divisor. It reads on
		to the next multiple of 16 hashes. There are at least 2 bytes. It makes the first probes of all hashes and then
		the others of those that pass, or, if dense is set, all probes of each hash at once.`, on(both, probeDouble32, neonProbeDouble32)},
	{"placeDouble32", "s *prober, h *hashes, places *uint32", "done int", `
		placeDouble32 writes the numbers of the bits of the first hashes, as many as fill whole vectors, and
		returns how many. There are 8 hashes or more. The places are in any order.`, on(both, placeDouble32, neonPlaceDouble32)},
	{"probeFull64", "s *prober, h *hashes, hits *uint64, w *fullProbes, dense bool", "", `
		probeFull64 tests the hashes, 1 to windowKeys, with s.full. It reads on to the next multiple of 16 hashes. There
		are at most maxKernelBits bits and maxFullProbes probes. It makes the first probes of all hashes, and then the
		others of those that pass, or, if dense is set, all probes of all hashes. AVX-512 gathers words if gathers is
		set, and else loads them one by one; AVX2 always loads.`, on(both, probeFull64, nil)},
	{"placeFull64", "s *prober, h *hashes, places *uint32, w *fullProbes", "done int", `
		placeFull64 is placeDouble32 for the schemes of probeFull64: in blocks of 16 hashes, of any number of probes.`, on(only512, placeFull64, nil)},

	// One key, by a call of its own.
	{"probeShortSplit256", "base **byte, key *byte, n int", "may bool", `
		probeShortSplit256 tests a key of n bytes, fewer than keyhash.ShortXXH64, in Parquet's blocks. base begins an
		array. It takes 0.8 times as long as hash and test by two calls.`, on(only2, probeShortSplit256, nil)},
	{"addOneSplit256", "base **byte, hash uint64", "isNew bool", `
		addOneSplit256 sets the bits of a hash, and reports whether one was missing. base begins an array.`, on(only2, forOneKey(halvesOf("hash"), setBlock), nil)},
	{"addOneLine512", "base **byte, hash uint64", "isNew bool", `
		addOneLine512 is addOneSplit256 for at most maxHasProbes probes.`, on(only512, forOneKey(halvesOf("hash"), setLine), nil)},

	// Around windows: views of keys, hashes of valid rows, interleaved filters, builds.
	{"viewStrings", "rows *byte, buffers *byte, valid uint64, n int, strings *string", "", `
		viewStrings writes the keys of n views as strings; n is a multiple of 8 up to 64. buffers is the first
		of their buffers. If bit i of valid is clear, string i is empty, and only its view is read.`, on(only512, viewStrings, nil)},
	{"fitViews", "rows *byte, buffers *byte, valid uint64, n int, count int", "left int", `
		fitViews checks whether the keys of n views, as those of viewStrings, are within their buffers, which
		are so many. It ends at the first 8 views of which one is not, and returns how many are left.`, on(only512, fitViews, nil)},
	{"pack32", "words *uint32, chosen *uint64, n int", "left int", `
		pack32 moves the chosen ones of n words to the front, and returns their number. Word i is chosen
		if bit i%64 of chosen[i/64] is set. n is a multiple of 16, at least 16. It reads and writes the n
		words, and reads n bits of chosen.`, on(both, pack32, nil)},
	{"pack64", "words *uint64, chosen *uint64, n int", "left int", `
		pack64 is pack32 for words of 64 bits.`, on(both, pack64, nil)},
	{"andSlices", "hits *uint64, slices **byte, n int", "total int", `
		andSlices writes the AND of 8 arrays of n words, at least 1, to hits, and returns the number of set bits. The
		addresses of the arrays are in slices; hits can be one of them.`, on(only2, andSlices, nil)},
	{"requestSlices", "slices **byte", "", `
		requestSlices requests the first 4 lines of 8 arrays, whose addresses are in slices.`, on(only2, requestSlices, nil)},
	{"transposeTile", "tile *uint64", "", `
		transposeTile swaps bit j of word i with bit i of word j, for all i and j below 64.`, on(only2, transposeTile, nil)},
	{"setPlaces", "base *byte, whole uint32, places *uint32, fours int", "", `
		setPlaces sets the bits at 4·fours places; fours is at least 1. For a place below whole, it reads
		and writes a word of 32 bits; for any other place, a byte. whole is a multiple of 32, or 2^32-1.`, on(only2, setPlaces, nil)},
	{"sortPlaces", "places *uint32, n int, numbers *uint32, lines *uint32, kept *uint32, capacity int", "left int", `
		sortPlaces is sortGeneric for n places, at least 1.`, on(only2, sortPlaces, nil)},

	// One key, by a jump: single.go.
	{"probeUint64", "base **byte, key uint64", "may bool", `
		probeUint64 tests a key of 8 bytes. base begins a prober. In assembly, it jumps to the address in the
		prober's oneKey. Go inlines its callers, so a key takes one call: with two, Parquet's took 1.15 times
		as long.`, nil},
	{"probeHash", "base **byte, h1 uint64, h2 uint64, h3 uint64, h4 uint64", "may bool", `
		probeHash is probeUint64 for the words of a Hash, and mayContainHash.`, nil},
	{"addUint64", "base **byte, key uint64", "isNew bool", `
		addUint64 adds a key of 8 bytes, and reports whether it was certainly new. It works like probeUint64,
		and is not atomic: an AtomicSet must not call it.`, []form{
		{"Double32", only2, forOneKey(hash32Single, addDouble32), nil},
		{"Double64", only2, forOneKey(hash64Single, addDouble64), nil},
		{"Split256", only2, forOneKey(xxh64Single, setBlock), nil},
		{"Line512", both, addLine512, nil},
		{"Line32", only2, forOneKey(hash32Single, addLine32), nil},
	}},
	{name: "oneKeyAt", doc: `
		oneKeyAt returns the addresses of a oneKey: in row 2*scheme for AVX2, and in the next row for AVX512. Both rows of noScheme
		have Go's functions.`},
	{"hasUint64", "base **byte, key uint64", "may bool", `
		The has functions test one key. Their base begins a prober, and those of lines make at most
		maxHasProbes probes.`, []form{
		{"Double32", only2, forOneKey(hash32Single, hasDouble32), nil},
		{"Double64", only2, forOneKey(hash64Single, hasDouble64), nil},
		{"Split256", only2, forOneKey(xxh64Single, hasBlock), nil},
		{"Line512", only2, forOneKey(xxph3Single, hasLine512), nil},
		{"Line32", only2, forOneKey(hash32Single, hasLine32), nil},
	}},
	{"hasHash", "base **byte, h1 uint64", "unused [3]uint64, may bool", `
		The result of those for a hash of one or two words lies where probeHash has it, which has four. Callers
		that had to store the others, too, would take a thirtieth longer.`, []form{
		{"Double32", only2, forOneKey(word, hasDouble32), nil},
		{"Split256", only2, forOneKey(halvesOf("h1"), hasBlock), nil},
		{"Line512", only2, forOneKey(halvesOf("h1"), hasLine512), nil},
		{"Line32", only2, forOneKey(word, hasLine32), nil},
	}},
	{"hasHashDouble64", "base **byte, h1 uint64, h2 uint64", "unused [2]uint64, may bool", `
		hasHashDouble64 is one of these.`, on(only2, forOneKey(twoWords, hasDouble64), nil)},
}
