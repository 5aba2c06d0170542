package bloom

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/internal/probes"
)

// groupOf returns a group of filters of random sizes and addresses, which have hits among the
// hashes. Some neighbours differ in their number of probes. data has bits of several fills.
func groupOf(t *testing.T, random *rand.Rand, s scheme, test schemeTest, data [][]byte, count int) *Group {
	t.Helper()
	filters := make([]*Filter, count)
	k, least := 6, uint64(random.IntN(2))<<14 // the remainders of double64 differ by the size
	whole := count == 64 || count == 73       // all are alike, so parts have 64 and 9 filters
	if whole {
		least = 1 << 14
	}
	for i := range filters {
		if !whole && random.IntN(8) == 0 {
			k = 1 + random.IntN(12)
		}
		n := least + 1 + random.Uint64N(uint64(1)<<(1+random.IntN(16)))
		n = (n + test.unit - 1) / test.unit * test.unit
		d := data[random.IntN(len(data))]
		for _, k := range test.probes(k) {
			filters[i] = test.filter(s, Generic, d[random.IntN(len(d)-s.bytesOf(n)):], n, k)
		}
	}
	g, err := NewGroup(filters)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// groupOn returns a group of the filters on a kernel.
func groupOn(t testing.TB, filters []*Filter, kernel Kernel) *Group {
	t.Helper()
	filters = slices.Clone(filters)
	for i, f := range filters {
		filters[i] = onKernel(t, f, kernel)
	}
	g, err := NewGroup(filters)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// eachGroupKernel runs a subtest for every kernel.
func eachGroupKernel(t *testing.T, g *Group, run func(t *testing.T, g *Group)) {
	t.Helper()
	for _, kernel := range proven() {
		t.Run("kernel="+kernel.String(), func(t *testing.T) {
			h := groupOn(t, g.filters, kernel)
			if h.kernel != kernel && h.Len() > 0 && arrays[h.scheme].onKernels(h.filters[0].Array) || h.Len() != g.Len() {
				t.Fatalf("kernel %v of %d filters, want %v of %d", h.kernel, h.Len(), kernel, g.Len())
			}
			run(t, h)
		})
	}
}

// TestKernelGroup compares groups with the letter of the scheme, filter by filter.
func TestKernelGroup(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(63, 64))
	var data [][]byte
	for _, fill := range []float64{0.5, 0.8, 0.95, 1} {
		data = append(data, randomBits(random, 1<<17, fill))
	}
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		counts, hashes := []int{0, 1, 2, 3, 20, 63, 64, 65, 73, 200}, 20
		if !whole() {
			counts, hashes = []int{0, 1, 20, 64, 73}, 4
		}
		for _, count := range counts {
			data := data
			if count == 64 {
				data = data[3:] // every filter passes
			}
			g := groupOf(t, random, s, test, data, count)
			eachGroupKernel(t, g, func(t *testing.T, g *Group) {
				for range hashes {
					n := test.unit
					if count > 0 {
						n = bitsOf(g.filters[random.IntN(count)])
					}
					for _, h := range test.hashesOf(random, 4, n) {
						checkGroup(t, g, h, func(f *Filter) bool { return test.has(f.data, h, bitsOf(f), f.K) })
					}
				}
			})
		}
	})
}

// bitsOf returns how many bits a filter has.
func bitsOf(f *Filter) uint64 {
	switch f.scheme {
	case schemeNori, schemeBitsAndBlooms, schemeGuava:
		return f.N
	}
	return 8 * f.bytes()
}

// checkGroup compares the answers for a hash, and looks for words written that should not be.
func checkGroup(t *testing.T, g *Group, h Hash, want func(f *Filter) bool) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	words := (g.Len() + 63) / 64
	got, wanted, total := slices.Repeat([]uint64{canary}, words+2), make([]uint64, words), 0
	for i, f := range g.filters {
		if want(f) {
			wanted[i/64] |= 1 << (i % 64)
			total++
		}
	}
	if hits := g.MayContainHash(h, got[1:]); hits != total {
		t.Fatalf("%d filters: MayContainHash(%v) = %d, want %d", g.Len(), h, hits, total)
	}
	if !slices.Equal(got[1:words+1], wanted) {
		t.Fatalf("%d filters: hits %x of %v, want %x", g.Len(), got[1:words+1], h, wanted)
	}
	if got[0] != canary || got[words+1] != canary {
		t.Fatalf("%d filters: MayContainHash wrote outside of hits: %x", g.Len(), got)
	}
}

// TestGroupKeys compares a group with its filters, for keys and columns of all lengths.
func TestGroupKeys(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(65, 66))
	eachFormat(t, func(t *testing.T, format Format) {
		keys := make([]uint64, 2*windowKeys+70)
		for i := range keys {
			keys[i] = random.Uint64N(1500)
		}
		validity := make([]byte, (len(keys)+7)/8+1)
		for i := range validity {
			validity[i] = byte(random.Uint32())
		}
		var filters []*Filter
		for i := range 70 {
			filters = append(filters, Policy{format, 4 + i/20}.NewFilter(Integers(keys[:random.IntN(900)])))
		}
		group, err := NewGroup(filters)
		if err != nil {
			t.Fatal(err)
		}
		eachGroupKernel(t, group, func(t *testing.T, g *Group) {
			for _, key := range keys[:100] {
				b := fmt.Appendf(nil, "%d", key)
				hits := make([]uint64, 2)
				if got := g.MayContain(b, hits); got != bits.OnesCount64(hits[0])+bits.OnesCount64(hits[1]) {
					t.Fatalf("MayContain = %d with the hits %x", got, hits)
				}
				for i, f := range g.filters {
					if hits[i/64]>>(i%64)&1 == 1 != f.MayContain(b) {
						t.Fatalf("filter %d: not %v for %s", i, f.MayContain(b), b)
					}
				}
			}
			for i, n := range []int{0, 1, 2, keysAcross, keysAcross + 1, 63, 64, 65, 1000, windowKeys, windowKeys + 1, len(keys)} {
				if (i+int(format))%oneOf(1, 3) != 0 {
					continue
				}
				column := Integers(keys[:n])
				checkGroupBatch(t, g, column)
				checkGroupBatch(t, g, column.Hashed(format))
				checkGroupBatch(t, g, must(t)(column.WithValidity(validity, 3)))
			}
		})
	})
}

// checkGroupBatch compares the hits of a column with those of each filter.
func checkGroupBatch(t *testing.T, g *Group, keys Keys) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	words := (keys.Len() + 63) / 64
	got, want, total := slices.Repeat([]uint64{canary}, words*g.Len()+1), make([]uint64, words), 0
	hits := g.MayContainBatch(keys, got)
	for i, f := range g.filters {
		total += f.MayContainBatch(keys, want)
		if !slices.Equal(got[i*words:][:words], want) {
			t.Fatalf("%d keys: hits %x of filter %d, want %x", keys.Len(), got[i*words:][:words], i, want)
		}
	}
	if hits != total || got[words*g.Len()] != canary {
		t.Fatalf("%d keys: %d hits, want %d, and %x after them", keys.Len(), hits, total, got[words*g.Len()])
	}
}

// TestGroupOfOdd makes groups of filters of unlike shapes, and of those that make no group.
func TestGroupOfOdd(t *testing.T) {
	filter := func(f Format, data string) *Filter { return mustOpen(t, f, fromHex(data)) }
	for name, test := range map[string]struct {
		filters []*Filter
		fails   bool
	}{
		"nothing":         {nil, false},
		"nil":             {[]*Filter{nil}, true},
		"the zero Filter": {[]*Filter{{}}, true},
		"two formats":     {[]*Filter{filter(LevelDB, "0001"), Policy{Parquet, 10}.NewFilter(Integers([]uint64{1}))}, true},
		"one hash, two schemes": {[]*Filter{
			Policy{Pebble, 10}.NewFilter(Integers([]uint64{1})), Policy{LevelDB, 10}.NewFilter(Integers([]uint64{1})),
		}, true},
		"both of nori's": {[]*Filter{
			Policy{Nori, 10}.NewFilter(Integers([]uint64{1})), Policy{NoriCrate, 10}.NewFilter(Integers([]uint64{1})),
		}, false},
		"answers without probes": {[]*Filter{filter(LevelDB, ""), filter(LevelDB, "06"), filter(LevelDB, "00ff1f"), filter(LevelDB, "0000"), filter(LevelDB, "ff06")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := NewGroup(test.filters)
			if test.fails {
				if !errors.Is(err, ErrShape) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			eachGroupKernel(t, g, func(t *testing.T, g *Group) {
				for key := range uint64(1000) {
					h := Hash{}
					if g.Len() > 0 {
						h = g.filters[0].format.scheme().hashUint64(key)
					}
					checkGroup(t, g, h, func(f *Filter) bool { return f.MayContainUint64(key) })
				}
			})
		})
	}
	// Pebble reads lines of 128 and 256 bytes, which RocksDB wrote.
	var filters []*Filter
	random := rand.New(rand.NewPCG(67, 68))
	for i := range 30 {
		data := randomBits(random, 512*12, 0.7)
		f := &Filter{view{
			prober: prober{Array: probes.Array(probes.NewPebble(data, uint32(12>>(i/10)), i/10, 5)), scheme: schemePebble},
			format: Pebble, data: data,
		}}
		f.setKernel(Generic)
		filters = append(filters, f)
	}
	g, err := NewGroup(filters)
	if err != nil {
		t.Fatal(err)
	}
	eachGroupKernel(t, g, func(t *testing.T, g *Group) {
		for key := range uint64(1000) {
			checkGroup(t, g, schemePebble.hashUint64(key), func(f *Filter) bool { return f.MayContainUint64(key) })
		}
	})
}

// TestGroupPanics makes the mistakes for which a group panics.
func TestGroupPanics(t *testing.T) {
	filters := slices.Repeat([]*Filter{Policy{LevelDB, 10}.NewFilter(Integers([]uint64{1}))}, 65)
	g, err := NewGroup(filters)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(){
		"another hash":             func() { g.MayContainHash(Parquet.Hash(nil), make([]uint64, 2)) },
		"the zero Hash":            func() { g.MayContainHash(Hash{}, make([]uint64, 2)) },
		"hits too short":           func() { g.MayContain(nil, make([]uint64, 1, 2)) },
		"hits of a batch":          func() { g.MayContainBatch(Integers(make([]uint64, 65)), make([]uint64, 129, 130)) },
		"no keys of other hashes":  func() { g.MayContainBatch(Parquet.Hashes64(nil), nil) },
		"a column of other hashes": func() { g.MayContainBatch(Parquet.Hashes64(make([]uint64, 1)), make([]uint64, 65)) },
	} {
		if panicOf(call) == "" {
			t.Errorf("%s: no panic", name)
		}
	}
}
