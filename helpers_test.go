package bloom

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/reference"
)

// waitGroup is a sync.WaitGroup with the method Go, which Go 1.25 added.
type waitGroup struct{ sync.WaitGroup }

func (g *waitGroup) Go(call func()) {
	g.Add(1)
	go func() {
		defer g.Done()
		call()
	}()
}

// masks is what qemu 7.2 lacks: it reads what the mask of a VPMASKMOVD leaves out.
const masks = "masks"

// space is what the machine in Bochs lacks: memory for arrays of 4 GiB.
const space = "space"

// needs skips a test where BLOOM_TEST_LACKS says that an emulator lacks something.
func needs(t testing.TB, ability string) {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv("BLOOM_TEST_LACKS")), ability) {
		t.Skipf("this CPU is emulated without %s", ability)
	}
}

// proven returns the kernels that tests compare with the reference: those of the CPU, or of them those that
// BLOOM_TEST_PROVES names, where an emulator is slow and another machine proves the others.
func proven() []Kernel {
	names := strings.Fields(os.Getenv("BLOOM_TEST_PROVES"))
	if len(names) == 0 {
		return kernels
	}
	return slices.DeleteFunc(slices.Clone(kernels), func(k Kernel) bool { return !slices.Contains(names, k.String()) })
}

// whole reports whether tests take all cases of their matrices, as make prove/long has them do, and no sample.
func whole() bool { return os.Getenv("BLOOM_TEST_WHOLE") != "" }

// oneOf returns n, so that a test runs every n-th case. With -short it returns the second number, if there is one, and with
// BLOOM_TEST_WHOLE it returns 1.
func oneOf(n int, short ...int) int {
	switch {
	case whole():
		return 1
	case testing.Short() && len(short) > 0:
		return short[0]
	}
	return n
}

func mustOpen(t testing.TB, format Format, encoded []byte) *Filter {
	t.Helper()
	f, err := Open(format, encoded)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustSet(t testing.TB, p Policy, capacity int) *Set {
	t.Helper()
	s, err := p.NewSet(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustAtomicSet(t testing.TB, p Policy, capacity int) *AtomicSet {
	t.Helper()
	s, err := p.NewAtomicSet(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB) func(Keys, error) Keys {
	return func(k Keys, err error) Keys {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
}

// viewAt returns the header of a view that is not inline.
func viewAt(length, buffer, at int32) []byte {
	header := binary.NativeEndian.AppendUint32(nil, uint32(length))
	header = binary.NativeEndian.AppendUint32(header, 0)
	header = binary.NativeEndian.AppendUint32(header, uint32(buffer))
	return binary.NativeEndian.AppendUint32(header, uint32(at))
}

func fromHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// panicOf returns what a call panics with, or "".
func panicOf(call func()) (message string) {
	defer func() {
		if r := recover(); r != nil {
			message = fmt.Sprint(r)
		}
	}()
	call()
	return ""
}

// eachFormat runs a subtest for every format.
func eachFormat(t *testing.T, run func(t *testing.T, f Format)) {
	for _, f := range Formats() {
		t.Run("format="+f.String(), func(t *testing.T) { run(t, f) })
	}
}

// eachKernel runs a subtest for every kernel of this CPU with a filter that
// uses it.
func eachKernel(t *testing.T, format Format, encoded []byte, run func(t *testing.T, f *Filter)) {
	t.Helper()
	for _, kernel := range proven() {
		t.Run("kernel="+kernel.String(), func(t *testing.T) { run(t, onKernel(t, mustOpen(t, format, encoded), kernel)) })
	}
}

// onKernel returns a view of f on a kernel, and fails if another runs, but Generic where the kernel does not take the filter.
func onKernel(t testing.TB, f *Filter, kernel Kernel) *Filter {
	t.Helper()
	f, err := f.WithKernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	if f.Kernel() != kernel && (f.scheme == noScheme || arrays[f.scheme].onKernels(f.Array)) {
		t.Fatalf("kernel %v runs instead of %v", f.Kernel(), kernel)
	}
	return f
}

// checkFilter compares every way to query f with the reference.
func checkFilter(t *testing.T, f *Filter, keys [][]byte) {
	t.Helper()
	want := make([]bool, len(keys))
	group, err := NewGroup([]*Filter{f})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		want[i] = Reference(f.format, f.data, key)
		for _, c := range [...]struct {
			name string
			got  bool
		}{
			{"MayContain", f.MayContain(key)},
			{"MayContainString", f.MayContainString(string(key))},
			{"MayContainHash", f.MayContainHash(f.format.Hash(key))},
			{"Group.MayContain", group.MayContain(key, make([]uint64, 1)) == 1},
			{"Policy.MayContain", Policy{Format: f.format}.MayContain(f.data, key)},
		} {
			if c.got != want[i] {
				t.Fatalf("%s(%x) = %v", c.name, key, c.got)
			}
		}
		if len(key) == 8 {
			if got := f.MayContainUint64(binary.LittleEndian.Uint64(key)); got != want[i] {
				t.Fatalf("MayContainUint64(%x) = %v", key, got)
			}
		}
	}
	checkBatch(t, f, Bytes(keys), want)
}

// checkBatch compares the batch queries of f over a column with the answers
// wanted, and looks for words written that should not be.
func checkBatch(t *testing.T, f *Filter, keys Keys, want []bool) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	words := (len(want) + 63) / 64
	hits := slices.Repeat([]uint64{canary}, words+3)
	total := f.MayContainBatch(keys, hits[1:])
	wantHits := make([]uint64, words)
	var wantPositions []uint32
	for i, yes := range want {
		if yes {
			wantHits[i/64] |= 1 << (i % 64)
			wantPositions = append(wantPositions, uint32(i))
		}
	}
	if !slices.Equal(hits[1:words+1], wantHits) {
		t.Fatalf("MayContainBatch of %d keys: hits\n%x, want\n%x", len(want), hits[1:words+1], wantHits)
	}
	if total != len(wantPositions) {
		t.Fatalf("MayContainBatch = %d, want %d", total, len(wantPositions))
	}
	if hits[0] != canary || hits[words+1] != canary || hits[words+2] != canary {
		t.Fatalf("MayContainBatch wrote outside of hits: %x", hits)
	}
	spare := make([]uint32, len(want)+4)
	spare[0], spare[len(want)+3] = 0xdeadbeef, 0xdeadbeef
	positions := f.AppendHits(spare[:1], keys)
	if positions[0] != 0xdeadbeef || !slices.Equal(positions[1:], wantPositions) {
		t.Fatalf("AppendHits = %v, want %v", positions[1:], wantPositions)
	}
	next := 0
	for i := range f.Hits(keys) {
		if next == len(wantPositions) || uint32(i) != wantPositions[next] {
			t.Fatalf("Hits yields %d as number %d of %v", i, next, wantPositions)
		}
		next++
	}
	if next != len(wantPositions) {
		t.Fatalf("Hits yields %d positions of %d", next, len(wantPositions))
	}
	if spare[len(want)+3] != 0xdeadbeef {
		t.Fatal("AppendHits wrote past the last position")
	}
}

// columnOfHashes returns a column of hashes of one kind.
func columnOfHashes(s scheme, hashed []Hash) (k Keys) {
	switch schemes[s].words {
	case one32:
		words := make([]uint32, len(hashed))
		for i, h := range hashed {
			words[i] = uint32(h.h1)
		}
		k = columnOf(hashes32, words)
	case one64:
		words := make([]uint64, len(hashed))
		for i, h := range hashed {
			words[i] = h.h1
		}
		k = columnOf(hashes64, words)
	case two64:
		words := make([]hash128, len(hashed))
		for i, h := range hashed {
			words[i] = hash128{h.h1, h.h2}
		}
		k = columnOf(hashes128, words)
	case four64:
		k = columnOf(hashes256, hashed)
	}
	k.hashed = s
	return k
}

// referenceHash returns the hash of a key by the letter.
func referenceHash(s scheme, key []byte) Hash {
	return hashOf(s, referenceWords(s, key))
}

// referenceWords returns the words of the hash of a key by the letter, and 0 for those that the hash does not have.
func referenceWords(s scheme, key []byte) (words [4]uint64) {
	switch s {
	case schemeLevelDB:
		words[0] = uint64(reference.Hash32(key))
	case schemeNori:
		words[0], words[1] = reference.XXH64x2(key)
	case schemeParquet:
		words[0] = reference.XXH64(key)
	case schemeRocksDB:
		words[0] = reference.XXPH3(key)
	case schemePebble:
		words[0] = uint64(reference.SignedHash32(key))
	case schemeBitsAndBlooms:
		words = reference.Murmur3x2(key)
	case schemeGuava:
		words[0], words[1] = reference.Murmur3(key)
	default:
		panic("no reference of this hash")
	}
	return words
}

// create builds a filter as plainly as the reference of its format reads it.
func create(f Format, keys [][]byte, bitsPerKey int) []byte {
	return formatTests[f].create(keys, bitsPerKey)
}

// hashOf returns the hash of a kind that has such words.
func hashOf(s scheme, words [4]uint64) Hash {
	if schemes[s].words == four64 {
		return Hash{words[0], words[1], words[2], words[3]}
	}
	return shortHash(words[0], words[1], s)
}

// schemeTest is what the tests know of a scheme: a new one is a line in schemeTests.
type schemeTest struct {
	hash scheme // one that it takes
	unit uint64 // its arrays have a multiple of this number of bits
	most uint64 // bits that it reaches
	k    int    // the only number of probes it has, or 0 for any up to 30

	// bit returns the bit of probe i of a hash among n, by the letter.
	bit func(h Hash, i int, n uint64) uint64
	// edges returns hashes at which an inexact remainder by n bits shows.
	edges func(n uint64) []Hash
}

var schemeTests = [...]schemeTest{
	schemeLevelDB: {
		hash: schemeLevelDB, unit: 8, most: 1 << 32,
		bit: func(h Hash, i int, n uint64) uint64 {
			h32 := uint32(h.h1)
			return uint64(h32+uint32(i)*(h32>>17|h32<<15)) % n
		},
		edges: func(n uint64) (edges []Hash) {
			for _, h := range edges64(n, math.MaxUint32) {
				edges = append(edges, Hash{h1: h & math.MaxUint32})
			}
			return edges
		},
	},
	schemeNori: {
		hash: schemeNori, unit: 1, most: 1 << 62,
		bit: func(h Hash, i int, n uint64) uint64 { return (h.h1 + uint64(i)*h.h2) % n },
		edges: func(n uint64) (edges []Hash) {
			words := edges64(n, math.MaxUint64)
			for i, h := range words {
				edges = append(edges, Hash{h1: h, h2: words[len(words)-1-i]}, Hash{h1: h, h2: h})
			}
			return edges
		},
	},
	schemeBitsAndBlooms: testBitsAndBlooms,
	schemeGuava:         testGuava,
	schemeParquet:       testParquet,
	schemeRocksDB:       testRocksDB,
	schemePebble:        testPebble,
}

// eachScheme runs a subtest for every scheme.
func eachScheme(t *testing.T, run func(t *testing.T, s scheme, test schemeTest)) {
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		t.Run("scheme="+s.String(), func(t *testing.T) { run(t, s, schemeTests[s]) })
	}
}

// probes returns numbers of probes that the scheme has, among those given.
func (test schemeTest) probes(of ...int) []int {
	if test.k != 0 {
		return []int{test.k}
	}
	return of
}

// format returns a format with the hash of the scheme, for the check of columns of hashes.
func (test schemeTest) format() Format {
	f := Default
	for f.scheme() != test.hash {
		f++
	}
	return f
}

// proberOf returns the prober of a scheme and a kernel for k probes of n bits of data.
func proberOf(f scheme, kernel Kernel, data []byte, n uint64, k int) *prober {
	s := prober{Array: f.array(data, n, k), scheme: f}
	s.setKernel(kernel)
	return &s
}

// filter returns a filter of the scheme with n bits of data.
func (test schemeTest) filter(s scheme, kernel Kernel, data []byte, n uint64, k int) *Filter {
	filter := &Filter{view{prober: prober{Array: s.array(data, n, k), scheme: test.hash}, format: test.format(), data: data}}
	filter.setKernel(kernel)
	return filter
}

// has answers for a hash by the letter.
func (test schemeTest) has(data []byte, h Hash, n uint64, k int) bool {
	for i := range k {
		bit := test.bit(h, i, min(n, test.most))
		if data[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// hashesOf returns random hashes, three of four of them at edges.
func (test schemeTest) hashesOf(random *rand.Rand, count int, n uint64) []Hash {
	edges := test.edges(n)
	list := make([]Hash, count)
	for i := range list {
		h, edge := Hash{random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()}, edges[random.IntN(len(edges))]
		switch i % 4 {
		case 1:
			h.h1, h.h3 = edge.h1, edge.h3
		case 2:
			h.h2, h.h4 = edge.h2, edge.h4
		case 3:
			h = edge
		}
		switch schemes[test.hash].words {
		case one32:
			h.h1, h.h2 = h.h1&math.MaxUint32, 0
		case one64:
			h.h2 = 0
		}
		list[i] = hashOf(test.hash, [4]uint64{h.h1, h.h2, h.h3, h.h4})
	}
	return list
}

// addOneByOne is what every way to build does, by the letter of the scheme.
func (test schemeTest) addOneByOne(hashed []Hash, n uint64, k int) []byte {
	data := make([]byte, formats[test.format()].scheme.bytesOf(n))
	for _, h := range hashed {
		for i := range k {
			bit := test.bit(h, i, n)
			data[bit/8] |= 1 << (bit % 8)
		}
	}
	return data
}

// checkScheme compares every kernel, one hash at a time and in batches of the given lengths,
// with the letter of the scheme.
func checkScheme(t *testing.T, s scheme, data []byte, n uint64, k int, hashed []Hash, lengths []int) {
	t.Helper()
	test := schemeTests[s]
	want := make([]bool, len(hashed))
	for i, h := range hashed {
		want[i] = test.has(data, h, n, k)
	}
	for first := range min(k, len(hashed)) {
		s, h, probes := test.filter(s, Generic, data, n, k).prober, hashed[first], make([]uint64, k-first)
		s.probes(h, first, probes)
		for i, got := range probes {
			if want := test.bit(h, first+i, min(n, test.most)); got != want {
				t.Fatalf("%d bits, %d probes from %d on: bit %d of %v is %d, want %d", n, k, first, i, h, got, want)
			}
		}
	}
	for _, kernel := range proven() {
		f := test.filter(s, kernel, data, n, k)
		g, err := NewGroup([]*Filter{f, f})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hashed {
			if got := f.MayContainHash(h); got != want[i] {
				t.Fatalf("kernel %v, %d bits, %d probes: MayContainHash(%v) = %v", kernel, n, k, h, got)
			}
			var hits [1]uint64
			if g.MayContainHash(h, hits[:]); hits[0] == 3 != want[i] || hits[0] == 0 == want[i] {
				t.Fatalf("kernel %v, %d bits, %d probes: hits %b of a group of two for %v, want %v", kernel, n, k, hits[0], h, want[i])
			}
		}
		column := columnOfHashes(test.hash, hashed)
		for _, length := range lengths {
			checkBatch(t, f, column.Slice(0, length), want[:length])
		}
	}
}

// edges64 returns numbers up to last at which an inexact remainder by n shows: around
// multiples of n, of powers of two, and at both ends.
func edges64(n, last uint64) []uint64 {
	edges := append(make([]uint64, 0, 22+5*64), 0, 1, 7, 8, last, last-1, last-7)
	top := last / n * n
	for _, multiple := range []uint64{n, 2 * n, top / n / 2 * n, top - n, top} {
		edges = append(edges, multiple-1, multiple, multiple+1)
	}
	for i := range bits.Len64(last) {
		edges = append(edges, 1<<i, 1<<i-1)
		if above := uint64(1)<<i/n*n + n; above > n {
			edges = append(edges, above-1, above, above+1)
		}
	}
	return edges
}

// randomBits returns n bits, each set with the given chance. It makes 64 at a time out of 16
// random words, one for each binary digit of the chance.
func randomBits(random *rand.Rand, n uint64, fill float64) []byte {
	const digits = 16
	chance := uint(math.Round(fill * (1 << digits)))
	data := make([]byte, 0, (n+63)/64*8)
	for range (n + 63) / 64 {
		word := uint64(math.MaxUint64)
		if chance < 1<<digits {
			word = 0
			for digit := range digits {
				if chance>>digit&1 != 0 {
					word |= random.Uint64()
				} else if word != 0 {
					word &= random.Uint64()
				}
			}
		}
		data = binary.LittleEndian.AppendUint64(data, word)
	}
	if n%8 != 0 {
		data[n/8] &= 1<<(n%8) - 1
	}
	return slices.Clip(data[:(n+7)/8])
}

// eachHash runs a subtest for every hash.
func eachHash(t *testing.T, run func(t *testing.T, s scheme)) {
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		t.Run("hash="+s.String(), func(t *testing.T) { run(t, s) })
	}
}

// checkHashes compares the hashes of columns of the same keys by some kernels with the reference,
// and looks for hashes past the last.
func checkHashes(t *testing.T, s scheme, kernels []Kernel, keys [][]byte, columns ...Keys) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	n := len(keys)
	want := make([]Hash, n)
	for i, key := range keys {
		if i > 0 && len(key) == len(keys[i-1]) && unsafe.SliceData(key) == unsafe.SliceData(keys[i-1]) {
			want[i] = want[i-1] // the same bytes: long keys take long
		} else {
			want[i] = referenceHash(s, key)
		}
	}
	room := hashesOfLength(s, n+1)
	for _, kernel := range proven() {
		for _, column := range columns {
			for i := range room.h32 {
				room.h32[i] = canary & math.MaxUint32
			}
			for i := range room.h1 {
				room.h1[i] = canary
			}
			for i := range room.h2 {
				room.h2[i] = canary
			}
			for i := range room.h3 {
				room.h3[i], room.h4[i] = canary, canary
			}
			after := room.at(n, s)
			h := room.slice(0, n)
			column.hash(s, kernel, &h)
			for i, key := range keys {
				if got := h.at(i, s); got != want[i] {
					t.Fatalf("%v, kernel %v, layout %d, key %d of %d, %d bytes: hash %v, want %v", s, kernel, column.layout, i, n, len(key), got, want[i])
				}
			}
			if room.at(n, s) != after {
				t.Fatalf("%v, kernel %v, layout %d: wrote past the last of %d hashes", s, kernel, column.layout, n)
			}
		}
	}
}

// checkEachHash is checkHashes for every hash and kernel.
func checkEachHash(t *testing.T, keys [][]byte, columns ...Keys) {
	t.Helper()
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		checkHashes(t, s, proven(), keys, columns...)
	}
}

// checkFixedWidth is checkEachHash for the keys of data, which have one width.
func checkFixedWidth(t *testing.T, data []byte, width int) {
	t.Helper()
	var keys [][]byte
	for i := 0; i < len(data); i += width {
		keys = append(keys, data[i:i+width])
	}
	checkEachHash(t, keys, must(t)(FixedWidth(data, width)))
}

// hashesOfLength returns room for n hashes.
func hashesOfLength(s scheme, n int) (h hashes) {
	switch schemes[s].words {
	case one32:
		h.h32 = make([]uint32, n)
	case one64:
		h.h1 = make([]uint64, n)
	case two64:
		h.h1, h.h2 = make([]uint64, n), make([]uint64, n)
	case four64:
		h.h1, h.h2, h.h3, h.h4 = make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]uint64, n)
	}
	return h
}

// addByReference sets the bits that the format's explanation of a key names.
func addByReference(t testing.TB, format Format, encoded, key []byte) {
	t.Helper()
	f := mustOpen(t, format, encoded)
	bits, _ := f.encoded()
	for _, bit := range f.Explain(key).Positions {
		bits[bit/8] |= 1 << (bit % 8)
	}
}

func probesOf(p Policy) int {
	s, _ := p.Format.encoding().Shape(1, p.BitsPerKey)
	return s.Probes
}

// allocated returns how many bytes a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// measureRate tests random hashes in filters of n random hashes, and returns the share that
// passes. Filters of few keys differ much, so it takes many of them.
func measureRate(p Policy, n, queries int) float64 {
	random := rand.NewPCG(uint64(n), uint64(p.BitsPerKey))
	column := columnOfHashes(p.Format.scheme(), make([]Hash, windowKeys))
	words := unsafe.Slice((*uint64)(column.column), column.n*int(elementSize[column.layout])/8)
	hits := make([]uint64, windowKeys/64)
	filters := max(1, min(queries/windowKeys, 1<<18/n))
	rounds := (queries/windowKeys + filters - 1) / filters
	yes := 0
	for range filters {
		s, err := p.NewSet(n)
		if err != nil {
			panic(err)
		}
		for i := 0; i < n; i += windowKeys {
			randomWords(random, words)
			s.AddBatch(column.slice(0, min(windowKeys, n-i)))
		}
		for range rounds {
			randomWords(random, words)
			yes += s.MayContainBatch(column, hits)
		}
	}
	return float64(yes) / float64(filters*rounds*windowKeys)
}

// randomWords replaces all words by random ones.
func randomWords(random *rand.PCG, words []uint64) {
	for i := range words {
		words[i] = random.Uint64()
	}
}
