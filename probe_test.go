package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// eachKernel runs a subtest for every kernel of this CPU with a filter that
// uses it.
func eachKernel(t *testing.T, encoded []byte, run func(t *testing.T, f *Filter)) {
	t.Helper()
	eachKernelOf(t, LevelDB, encoded, run)
}

func eachKernelOf(t *testing.T, format Format, encoded []byte, run func(t *testing.T, f *Filter)) {
	t.Helper()
	for _, kernel := range Kernels() {
		t.Run("kernel="+kernel.String(), func(t *testing.T) {
			f, err := mustOpenAs(t, format, encoded).WithKernel(kernel)
			if err != nil {
				t.Fatal(err)
			}
			if f.Kernel() != kernel {
				t.Fatalf("kernel %v runs instead", f.Kernel())
			}
			run(t, f)
		})
	}
}

// TestPromisedKernels compares the kernels found with those that the job which
// runs the test, see the Makefile, promises this CPU has.
func TestPromisedKernels(t *testing.T) {
	if kernels[len(kernels)-1] != Generic {
		t.Errorf("kernels %v do not end with generic", kernels)
	}
	var found []string
	for _, kernel := range kernels {
		found = append(found, kernel.String())
	}
	promised, ok := os.LookupEnv("BLOOM_TEST_KERNELS")
	if ok && strings.Join(found, " ") != promised {
		t.Errorf("kernels %s found, %s promised", found, promised)
	}
}

// checkFilter compares every way to query f with the reference.
func checkFilter(t *testing.T, f *Filter, keys [][]byte) {
	t.Helper()
	want := make([]bool, len(keys))
	for i, key := range keys {
		want[i] = Reference(f.format, f.data, key)
		for name, got := range map[string]bool{
			"MayContain":       f.MayContain(key),
			"MayContainString": f.MayContainString(string(key)),
			"MayContainHash":   f.MayContainHash(f.format.Hash(key)),
		} {
			if got != want[i] {
				t.Fatalf("%s(%x) = %v", name, key, got)
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
	if spare[len(want)+3] != 0xdeadbeef {
		t.Fatal("AppendHits wrote past the last position")
	}
}

// keyOf returns the 4-byte key whose hash is h: the hash of one word is a
// permutation.
func keyOf(h uint32) uint32 {
	h ^= h >> 16
	inverse := uint32(hash32Mul) // Newton's iteration doubles the correct bits, 3 at first
	for range 4 {
		inverse *= 2 - hash32Mul*inverse
	}
	return h*inverse - hash32Start(4)
}

// edgeHashes are hashes at which an inexact remainder shows: around multiples
// of n, of powers of two, and at both ends.
func edgeHashes(n uint64) []uint32 {
	hashes := []uint32{0, 1, 7, 8, math.MaxUint32, math.MaxUint32 - 1, math.MaxUint32 - 7}
	last := math.MaxUint32 / n * n
	for _, multiple := range []uint64{n, 2 * n, last / n / 2 * n, last - n, last} {
		for d := range uint64(3) {
			hashes = append(hashes, uint32(multiple+d-1))
		}
	}
	for i := range 32 {
		hashes = append(hashes, 1<<i, 1<<i-1)
	}
	return hashes
}

// TestIndex compares the remainder by reciprocal with % over all small sizes,
// sizes around powers of two, and random ones.
func TestIndex(t *testing.T) {
	check := func(size int) {
		n := 8 * uint64(size)
		d := double32{size: size, recip: math.MaxUint64/n + 1}
		for _, h := range edgeHashes(n) {
			if got, want := d.index(h), uint64(h)%n/8; got != want {
				t.Fatalf("size %d, hash %d: index %d, want %d", size, h, got, want)
			}
		}
	}
	for size := range 20000 {
		check(size + 1)
	}
	for i := range 30 {
		for d := range 64 {
			if size := 1<<i + d - 32; size > 0 && size <= 1<<29 {
				check(size)
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		check(1 + int(random.Uint32()>>3>>random.IntN(29)))
	}
}

// TestRemainders sets the bits of hashes at which an inexact remainder shows and
// looks for them with each kernel, in filters of all small sizes, of sizes around
// powers of two, and of random ones. All other bits are clear, so that a wrong
// remainder finds none. A kernel that knows the hits to be dense makes its probes
// in another way.
func TestRemainders(t *testing.T) {
	limit, stride := 2<<20, 1
	if testing.Short() {
		stride = 61
	}
	memory := make([]byte, 1<<29) // hardly any of it touched
	hits := make([]uint64, window/64)
	check := func(size, k int) {
		data := memory[:size]
		n := 8 * uint64(size)
		hashes := append(make([]uint32, 0, 128), edgeHashes(n)...)
		eachBit := func(set func(b *byte, mask byte)) {
			for _, h := range hashes {
				delta := bits.RotateLeft32(h, -17)
				for range k {
					set(&data[uint64(h)%n/8], 1<<(uint64(h)%n%8))
					h += delta
				}
			}
		}
		eachBit(func(b *byte, mask byte) { *b |= mask })
		for _, kernel := range kernels {
			for _, dense := range []bool{false, true} {
				newDouble32(data, k).testBatch(kernel, hashes, hits, dense)
				found := 0
				for _, word := range hits[:(len(hashes)+63)/64] {
					found += bits.OnesCount64(word)
				}
				if found != len(hashes) {
					t.Fatalf("kernel %v, %d bytes, k = %d, dense %v: %d of %d hashes found", kernel, size, k, dense, found, len(hashes))
				}
			}
		}
		eachBit(func(b *byte, _ byte) { *b = 0 })
	}
	for size := 1; size <= limit; size += stride {
		check(size, 1+size/7%2)
	}
	random := rand.New(rand.NewPCG(13, 14))
	for i := range 30 {
		for d := range 16 {
			if size := 1<<i + d - 8; size > 0 && size <= 1<<29 {
				check(size, 30)
			}
		}
		for range 2000 / stride {
			check(1+random.IntN(1<<i), 1+random.IntN(30)>>(i/6))
		}
	}
}

// randomFilter returns a filter of the given length and k with a share of its
// bits set.
func randomFilter(random *rand.Rand, size, k int, fill float64) []byte {
	encoded := make([]byte, size+1)
	for i := range encoded[:size] {
		for bit := range 8 {
			if random.Float64() < fill {
				encoded[i] |= 1 << bit
			}
		}
	}
	encoded[size] = byte(k)
	return encoded
}

// TestKernels compares each kernel with the reference over sizes, numbers of
// probes, batch lengths and shares of hits: the fill of a random filter sets
// the latter.
func TestKernels(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	lengths := []int{0, 1, 2, short - 1, short, short + 1, 127, 128, 129, window - 1, window, window + 1, 2*window + 67}
	keys := make([]uint32, slices.Max(lengths))
	for i := range keys {
		keys[i] = random.Uint32()
	}
	copy(keys, []uint32{keyOf(0), keyOf(math.MaxUint32), keyOf(1 << 31)})
	if referenceHash32(binary.LittleEndian.AppendUint32(nil, keyOf(0))) != 0 {
		t.Fatal("keyOf does not invert the hash")
	}
	for _, size := range []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 1000, 1024, 4099} {
		for k := 1; k <= 30; k++ {
			share := random.Float64()
			encoded := randomFilter(random, size, k, math.Pow(share, 1/float64(k)))
			want := make([]bool, len(keys))
			for i, key := range keys {
				want[i] = referenceLevelDB(encoded, binary.LittleEndian.AppendUint32(nil, key))
			}
			eachKernel(t, encoded, func(t *testing.T, f *Filter) {
				for _, n := range lengths {
					checkBatch(t, f, Uint32s(keys[:n]), want[:n])
				}
			})
		}
	}
}

// TestBatchLengths tests batches of every length up to two windows and a tail.
func TestBatchLengths(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	keys := make([]uint64, 2*window+70)
	want := make([]bool, len(keys))
	for _, share := range []float64{0, 0.3, 0.9, 1} {
		encoded := randomFilter(random, 16001, 6, math.Pow(share, 1./6))
		for i := range keys {
			keys[i] = random.Uint64()
			want[i] = referenceLevelDB(encoded, binary.LittleEndian.AppendUint64(nil, keys[i]))
		}
		eachKernel(t, encoded, func(t *testing.T, f *Filter) {
			for n := 0; n <= len(keys); n += 1 {
				checkBatch(t, f, Uint64s(keys[:n]), want[:n])
			}
		})
	}
}

// TestMixedDensity changes between stretches of hits and of misses, at which a
// kernel may change its way of probing.
func TestMixedDensity(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	known := make([]uint64, 5000)
	for i := range known {
		known[i] = random.Uint64()
	}
	for k := range 31 {
		encoded := Policy{BitsPerKey: max(1, k*10/7)}.AppendFilter(nil, Uint64s(known))
		encoded[len(encoded)-1] = byte(k)
		var keys [][]byte
		for len(keys) < 6000 {
			stretch, hit := 1+random.IntN(900), random.IntN(101)
			for range stretch {
				key := random.Uint64()
				if random.IntN(100) < hit {
					key = known[random.IntN(len(known))]
				}
				keys = append(keys, binary.LittleEndian.AppendUint64(nil, key))
			}
		}
		eachKernel(t, encoded, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
	}
}

// layouts lists every column layout of the same keys. Those of fixed width
// take keys of that width alone.
var layouts = []struct {
	name   string
	width  int // of the keys it takes, 0 for any
	column func(t testing.TB, keys [][]byte) Keys
}{
	{"Bytes", 0, func(_ testing.TB, keys [][]byte) Keys { return Bytes(keys) }},
	{"Strings", 0, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]string, len(keys))
		for i, key := range keys {
			column[i] = string(key)
		}
		return Strings(column)
	}},
	{"Offsets", 0, func(t testing.TB, keys [][]byte) Keys {
		data, offsets := concatenate[int32](keys)
		return must(t)(Offsets(data, offsets))
	}},
	{"Offsets64", 0, func(t testing.TB, keys [][]byte) Keys {
		data, offsets := concatenate[int64](keys)
		return must(t)(Offsets64(data, offsets))
	}},
	{"Hashes32", 0, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]uint32, len(keys))
		for i, key := range keys {
			column[i] = referenceHash32(key)
		}
		return Hashes32(column)
	}},
	{"Hashed", 0, func(_ testing.TB, keys [][]byte) Keys { return Bytes(keys).Hashed(LevelDB) }},
	{"Hashed Nori", 0, func(_ testing.TB, keys [][]byte) Keys { return Bytes(keys).Hashed(Nori) }},
	{"Uint32s", 4, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]uint32, len(keys))
		for i, key := range keys {
			column[i] = binary.LittleEndian.Uint32(key)
		}
		return Uint32s(column)
	}},
	{"Uint64s", 8, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]uint64, len(keys))
		for i, key := range keys {
			column[i] = binary.LittleEndian.Uint64(key)
		}
		return Uint64s(column)
	}},
	{"FixedWidth", 1, fixedWidthOf}, {"FixedWidth", 3, fixedWidthOf}, {"FixedWidth", 4, fixedWidthOf},
	{"FixedWidth", 8, fixedWidthOf}, {"FixedWidth", 16, fixedWidthOf}, {"FixedWidth", 21, fixedWidthOf},
}

func fixedWidthOf(t testing.TB, keys [][]byte) Keys {
	if len(keys) == 0 {
		return must(t)(FixedWidth(nil, 1))
	}
	return must(t)(FixedWidth(slices.Concat(keys...), len(keys[0])))
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

// concatenate returns keys in Arrow's layout, with bytes ahead of the first
// and after the last.
func concatenate[E int32 | int64](keys [][]byte) (data []byte, offsets []E) {
	data = []byte("ahead")
	offsets = []E{5}
	for _, key := range keys {
		data = append(data, key...)
		offsets = append(offsets, E(len(data)))
	}
	return append(data, "after"...), offsets
}

// TestLayouts queries and builds with every column layout, whole, sliced, and
// with null rows.
func TestLayouts(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, layout := range layouts {
		t.Run(fmt.Sprintf("%s/width=%d", layout.name, layout.width), func(t *testing.T) {
			for _, n := range []int{0, 1, 64, 65, window, 2*window + 7} {
				keys := make([][]byte, n)
				for i := range keys {
					keys[i] = golden.Mixed.Key(i)
					if layout.width > 0 {
						keys[i] = make([]byte, layout.width)
						for j := range keys[i] {
							keys[i][j] = byte(random.Uint32())
						}
					}
				}
				column := layout.column(t, keys)
				if column.Len() != n {
					t.Fatalf("Len() = %d of %d keys", column.Len(), n)
				}
				checkColumn(t, column, keys, nil)
				for range 5 {
					i := random.IntN(n + 1)
					j := i + random.IntN(n-i+1)
					checkColumn(t, column.Slice(i, j), keys[i:j], nil)
				}
				checkValidity(t, random, column, keys)
			}
		})
	}
}

// TestOtherLengths hashes columns of keys of one length, but for one key anywhere, or
// the keys from there on.
func TestOtherLengths(t *testing.T) {
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(7 * i)
	}
	for _, layout := range layouts {
		if layout.width != 0 {
			continue
		}
		for _, length := range []int{0, 4, 8, 16, 28} {
			for _, other := range []int{length, 0, 1, length + 1, length + 3, length + 4, length + 16, length + 32, length + 128} {
				for at := range 2 * 32 {
					keys := make([][]byte, 36)
					for i := range keys {
						keys[i] = data[i:][:length]
						if i == at || at >= 32 && i >= at-32 {
							keys[i] = data[i:][:other]
						}
					}
					column := layout.column(t, keys)
					if column.layout == hashes32 || column.layout == hashes64 {
						continue
					}
					checkHashes(t, column, keys)
				}
			}
		}
	}
}

// checkValidity gives a column random nulls, one run of them, and a bit offset.
func checkValidity(t *testing.T, random *rand.Rand, column Keys, keys [][]byte) {
	t.Helper()
	for _, offset := range []int{0, 1, 7, 8, 63, 64, 100} {
		bitmap := make([]byte, (offset+len(keys)+7)/8)
		for i := range bitmap {
			bitmap[i] = byte(random.Uint32())
		}
		run := random.IntN(len(bitmap) + 1)
		clear(bitmap[run:min(run+30, len(bitmap))])
		valid := make([]bool, len(keys))
		for i := range valid {
			valid[i] = bitmap[(offset+i)/8]>>((offset+i)%8)&1 != 0
		}
		with := must(t)(column.WithValidity(bitmap, offset))
		checkColumn(t, with, keys, valid)
		i := random.IntN(len(keys) + 1)
		j := i + random.IntN(len(keys)-i+1)
		checkColumn(t, with.Slice(i, j), keys[i:j], valid[i:j])
		for format := range Format(len(formats)) {
			if column.layout != hashes32 && column.layout != hashes64 || (column.layout == hashes64) == format.isWide() {
				checkColumn(t, with.Hashed(format).Slice(i, j), keys[i:j], valid[i:j])
			}
		}
	}
}

// checkColumn queries and builds with a column. A nil valid is no bitmap.
func checkColumn(t *testing.T, column Keys, keys [][]byte, valid []bool) {
	t.Helper()
	var present [][]byte
	for i, key := range keys {
		if valid == nil || valid[i] {
			present = append(present, key)
		}
	}
	for format := range Format(len(formats)) {
		if fits := column.layout != hashes32 && column.layout != hashes64; !fits && (column.layout == hashes64) != format.isWide() {
			continue
		}
		checkColumnAs(t, Policy{format, 10}, column, keys, present, valid)
	}
}

func checkColumnAs(t *testing.T, p Policy, column Keys, keys, present [][]byte, valid []bool) {
	t.Helper()
	if got, want := p.AppendFilter(nil, column), referenceCreate(p, present); !slices.Equal(got, want) {
		t.Fatalf("%v: AppendFilter of %d keys differs from the reference", p.Format, len(keys))
	}
	b := p.NewBuilder()
	b.AddBatch(column)
	if b.Len() != len(present) {
		t.Fatalf("Builder took %d of %d keys", b.Len(), len(present))
	}
	// Every second key, so that there are hits and misses.
	var known [][]byte
	for i := 0; i < len(keys); i += 2 {
		known = append(known, keys[i])
	}
	encoded := p.AppendFilter(nil, Bytes(known))
	want := make([]bool, len(keys))
	for i, key := range keys {
		want[i] = (valid == nil || valid[i]) && Reference(p.Format, encoded, key)
	}
	eachKernelOf(t, p.Format, encoded, func(t *testing.T, f *Filter) { checkBatch(t, f, column, want) })
}

// TestHashes hashes columns of fixed width with each kernel, at every length up to
// some vectors, at any alignment, and looks for hashes past the last.
func TestHashes(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	data := make([]byte, 8*150+8)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for _, width := range []int{4, 8} {
		for n := range 150 {
			rows := data[n%8:][:n*width]
			checkHashes(t, must(t)(FixedWidth(rows, width)), slices.Collect(slices.Chunk(rows, width)))
		}
	}
}

// checkHashes compares the hashes of a column by each kernel with the reference.
func checkHashes(t *testing.T, column Keys, keys [][]byte) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	n := len(keys)
	narrow := make([]uint32, n+1)
	h1, h2 := make([]uint64, n+1), make([]uint64, n+1)
	for _, kernel := range kernels {
		narrow[n], h1[n], h2[n] = canary&math.MaxUint32, canary, canary
		column.hash(kernel, &hashes{narrow: narrow[:n]})
		column.hash(kernel, &hashes{h1: h1[:n], h2: h2[:n]})
		for i, key := range keys {
			if want := referenceHash32(key); narrow[i] != want {
				t.Fatalf("kernel %v, key %d of %d, %d bytes: hash %x, want %x", kernel, i, n, len(key), narrow[i], want)
			}
			if want1, want2 := referenceHash64(key); h1[i] != want1 || h2[i] != want2 {
				t.Fatalf("kernel %v, key %d of %d, %d bytes: hashes %x and %x, want %x and %x", kernel, i, n, len(key), h1[i], h2[i], want1, want2)
			}
		}
		if narrow[n] != canary&math.MaxUint32 || h1[n] != canary || h2[n] != canary {
			t.Fatalf("kernel %v wrote past the last of %d hashes", kernel, n)
		}
	}
}

// TestKeysOnStack tests columns whose keys and headers lie on the stack of a
// goroutine, at depths at which the stack grows, and moves, when a kernel is called.
func TestKeysOnStack(t *testing.T) {
	f := mustOpen(t, Policy{BitsPerKey: 20}.AppendFilter(nil, Bytes(golden.Mixed.Range(0, 100))))
	var test func(depth int) int
	test = func(depth int) int {
		var memory [40][11]byte
		var keys [40][]byte
		for i := range keys {
			binary.LittleEndian.PutUint64(memory[i][:], uint64(depth)<<32+uint64(i))
			keys[i] = memory[i][:3+i%9]
		}
		var hits [1]uint64
		wrong := 0
		f.MayContainBatch(Bytes(keys[:]), hits[:])
		for i, key := range keys {
			if referenceLevelDB(f.data, key) != (hits[0]>>i&1 != 0) {
				wrong++
			}
		}
		if depth > 0 {
			wrong += test(depth - 1)
		}
		return wrong
	}
	for _, kernel := range kernels {
		f = mustOpen(t, f.data)
		f.kernel = kernel
		if allocations := testing.AllocsPerRun(10, func() { test(0) }); allocations != 0 {
			t.Fatalf("kernel %v: the keys are not on the stack: %v allocations", kernel, allocations)
		}
		var wait sync.WaitGroup
		for depth := range 60 {
			wait.Go(func() {
				if wrong := test(depth); wrong != 0 {
					t.Errorf("kernel %v, depth %d: %d wrong answers", kernel, depth, wrong)
				}
			})
		}
		wait.Wait()
	}
}

func TestOnesCount(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for n := range 40 {
		data, want := make([]byte, n), uint64(0)
		for i := range data {
			data[i] = byte(random.Uint32())
			want += uint64(bits.OnesCount8(data[i]))
		}
		if got := onesCount(data); got != want {
			t.Errorf("onesCount(%x) = %d, want %d", data, got, want)
		}
	}
}
