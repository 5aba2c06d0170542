package bloom

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/internal/detect"
	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/golden"
)

// TestConcurrentQueries is for the race detector.
func TestConcurrentQueries(t *testing.T) {
	keys := golden.Mixed.Range(0, 3000)
	f := mustOpen(t, LevelDB, Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Bytes(keys)))
	var group waitGroup
	for range 4 {
		group.Go(func() {
			hits := make([]uint64, len(keys)/64+1)
			if got := f.MayContainBatch(Bytes(keys), hits); got != len(keys) {
				t.Errorf("%d hits of %d keys", got, len(keys))
			}
			for _, key := range keys {
				if !f.MayContain(key) {
					t.Errorf("key %x is missing", key)
				}
			}
		})
	}
	group.Wait()
}

func TestAllocations(t *testing.T) {
	eachFormat(t, testAllocations)
}

func testAllocations(t *testing.T, format Format) {
	keys := golden.Mixed.Range(0, 1000)
	policy := Policy{format, 10}
	encoded := policy.AppendFilter(nil, Bytes(keys))
	f := mustOpen(t, format, encoded)
	s, other := mustSet(t, policy, 1000), mustSet(t, policy, 1000)
	builder := policy.NewBuilder()
	builder.AddBatch(Bytes(keys))
	column, err := Bytes(keys).WithValidity(bytes.Repeat([]byte{0xb7}, 125), 0)
	if err != nil {
		t.Fatal(err)
	}
	key, text := keys[99], string(keys[99])
	hash := format.Hash(key)
	shared := mustAtomicSet(t, policy, 1000)
	group, err := NewGroup(slices.Repeat([]*Filter{f}, 20))
	if err != nil {
		t.Fatal(err)
	}
	hits := make([]uint64, 20*16)
	positions := make([]uint32, 0, 1000)
	for name, run := range map[string]func(){
		"MayContain":          func() { f.MayContain(key) },
		"MayContainString":    func() { f.MayContainString(text) },
		"MayContainUint64":    func() { f.MayContainUint64(7) },
		"MayContainHash":      func() { f.MayContainHash(hash) },
		"Format.Hash":         func() { format.Hash(key) },
		"Policy.MayContain":   func() { policy.MayContain(encoded, key) },
		"MayContainBatch":     func() { f.MayContainBatch(column, hits) },
		"AppendHits":          func() { positions = f.AppendHits(positions[:0], column) },
		"Set.Add":             func() { s.Add(key) },
		"Set.AddBatch":        func() { s.AddBatch(column) },
		"Set.MayContain":      func() { s.MayContainString(text) },
		"Set.AddUint64":       func() { s.AddUint64(7) },
		"Set.AddHash":         func() { s.AddHash(hash) },
		"Set.TestAndAdd":      func() { s.TestAndAdd(key); s.TestAndAddString(text); s.TestAndAddUint64(7) },
		"Set.TestAndAddBatch": func() { s.Clear(); s.TestAndAddBatch(column, hits) },
		"Set.Merge":           func() { _ = s.Merge(other); s.Equal(other) },
		"atomic Add":          func() { shared.Add(key); shared.AddString(text); shared.AddUint64(7); shared.AddHash(hash) },
		"atomic TestAndAdd":   func() { shared.TestAndAdd(key); shared.TestAndAddString(text); shared.TestAndAddUint64(7) },
		"atomic AddBatch":     func() { shared.AddBatch(column); shared.TestAndAddBatch(column, hits) },
		"atomic MayContain":   func() { shared.MayContain(key); shared.MayContainHash(hash) },
		"atomic batch":        func() { shared.MayContainBatch(column, hits) },
		"Group":               func() { group.MayContain(key, hits); group.MayContainBatch(column, hits) },
		"Group, few keys":     func() { group.MayContainBatch(column.Slice(0, keysAcross), hits) },
		"Hits": func() {
			for i := range f.Hits(column) {
				positions = append(positions[:0], uint32(i))
			}
		},
		"Builder": func() {
			builder.Reset()
			builder.Add(key)
			builder.AddString(text)
			builder.AddUint64(7)
			builder.AddHash(hash)
			builder.AddBatch(column)
		},
		"AppendFilter": func() { encoded = policy.AppendFilter(encoded[:0], column) },
	} {
		n := testing.AllocsPerRun(10, run)
		if forgotten := 10.0; n != 0 && !(detect.Races && n < forgotten) { // a sync.Pool forgets at random there
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// TestStatsOfOtherBits wants no count of set bits that no probe reaches, which filters of another writer can have.
func TestStatsOfOtherBits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		filter        []byte // in each word of bits, all but the bits 23 and 40 are set
		bits, setBits uint64
	}{
		{bitsAndBlooms(64, 3, 64, 1), 64, 62},
		{bitsAndBlooms(60, 3, 64, 1), 60, 58},
		{bitsAndBlooms(24, 3, 1024, 16), 24, 23},
		{bitsAndBlooms(1, 3, 64, 1), 1, 1},
		{bitsAndBlooms(100, 3, 41, 1), 100, 39},
		{bitsAndBlooms(math.MaxUint64, 3, 41, 1), math.MaxUint64, 39},
	} {
		f := mustOpen(t, BitsAndBlooms, c.filter)
		s := f.Stats()
		if s.Bits != c.bits || s.SetBits != c.setBits || c.bits == math.MaxUint64 && math.Round(s.Keys) != 39./3 {
			t.Errorf("%d of %d bits are set, want %d of %d; %+v", s.SetBits, s.Bits, c.setBits, c.bits, s)
		}
		x, err := NewInterleaved(f, 1)
		if (err == nil) != (c.bits < 100) || err != nil && !errors.Is(err, ErrShape) {
			t.Errorf("NewInterleaved of %d bits: %v", c.bits, err)
		}
		if err != nil {
			continue
		}
		if err := x.Put(0, f); err != nil || x.Filter(0).setBits() != c.setBits {
			t.Errorf("%d of %d interleaved bits are set, want %d; %v", x.Filter(0).setBits(), c.bits, c.setBits, err)
		}
	}
}

// TestStats estimates the number of keys of filters of random keys.
func TestStats(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	all := make([]uint64, 30000)
	for i := range all {
		all[i] = random.Uint64()
	}
	eachFormat(t, func(t *testing.T, f Format) {
		for i, bitsPerKey := range []int{1, 3, 10, 20} {
			for j, n := range []int{0, 10, 1000, 30000} {
				if (i+j+int(f))%(2*oneOf(2)) != 0 {
					continue // each number of keys with every second one of bits, and the other way round
				}
				keys := all[:n]
				p := Policy{f, bitsPerKey}
				filter := mustOpen(t, f, p.AppendFilter(nil, Integers(keys)))
				s := filter.Stats()
				if bits, probes, err := p.Size(n); err != nil || bits != s.Bits || bits > 0 && probes != s.Probes {
					t.Errorf("%v of %d keys: Size says %d bits and %d probes, %v, want %+v", p, n, bits, probes, err, s)
				}
				if from, to := filter.BitRange(); onesCount(filter.data[from:to]) != s.SetBits || to-from != formats[f].scheme.bytesOf(s.Bits) {
					t.Errorf("%v of %d keys: the bits are bytes %d to %d, want %+v", p, n, from, to, s)
				}
				if _, shape := filter.encoded(); s.Bits != shape.Bits || s.Bits > 0 && s.Probes != shape.Probes {
					t.Errorf("%v of %d keys: %+v", p, n, s)
				}
				if float64(s.SetBits) > 0.99*float64(s.Bits) {
					continue // too full to tell
				}
				if n >= 30000 && math.Abs(s.Keys/float64(n)-1) > 0.05 || n >= 1000 && math.Abs(s.Keys/float64(n)-1) > 0.1 || n == 0 && s.Keys > 1e-6 {
					t.Errorf("%v: estimate of %.0f keys for %d", p, s.Keys, n)
				}
			}
		}
	})
}

// TestStatsOfManyProbes bounds the work of Stats for a filter of 13 bytes that claims
// 4,096 probes.
func TestStatsOfManyProbes(t *testing.T) {
	t.Parallel()
	for k := 1; k <= encoding.MaxProbesCrate; k++ {
		if n := samples(k); n < windowKeys || n%windowKeys != 0 || n*k > 1<<25 {
			t.Fatalf("%d samples of %d probes", n, k)
		}
	}
	f := mustOpen(t, NoriCrate, append(header(NoriCrate, 8, encoding.MaxProbesCrate), 0xff))
	if s := f.Stats(); s.FalsePositiveRate != 1 || s.Probes != encoding.MaxProbesCrate || s.SetBits != s.Bits {
		t.Errorf("Stats() = %+v", s)
	}
}

// TestExplain compares explanations with the answers of the reference, and with the bits
// that building sets.
func TestExplain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 26))
	eachFormat(t, func(t *testing.T, f Format) {
		for range 200 {
			key := make([]byte, random.IntN(20))
			for i := range key {
				key[i] = byte(random.Uint32())
			}
			set := mustSet(t, Policy{f, random.IntN(50)}, 1+random.IntN(100))
			set.Add(key)
			w := set.Filter().Explain(key)
			if w.Rule == "" || len(w.Numbers) == 0 || w.Numbers[0].Name != "hash" || w.Numbers[0].Value != f.Hash(key).h1 {
				t.Fatalf("the steps %+v do not begin with the hash", w)
			}
			positions := slices.Clone(w.Positions)
			slices.Sort(positions)
			array, _ := set.encoded()
			if n, got := len(slices.Compact(positions)), onesCount(array); uint64(n) != got {
				t.Fatalf("key %x: steps over %d bits, %d are set", key, n, got)
			}
			for range 20 {
				set.Add(append(bytes.Clone(key), byte(random.Uint32())))
			}
			absent := append(bytes.Clone(key), 0, 0)
			if got, want := set.passes(set.Filter().Explain(absent)), Reference(f, set.data, absent); got != want {
				t.Fatalf("the steps of %x answer %v, the reference %v", absent, got, want)
			}
		}
	})
}

// passes reports whether every bit of the steps is set.
func (v *view) passes(w Explanation) bool {
	array, _ := v.encoded()
	return !slices.ContainsFunc(w.Positions, func(bit uint64) bool { return array[bit/8]>>(bit%8)&1 == 0 })
}

func TestExplainVectors(t *testing.T) {
	for _, c := range []struct {
		format    Format
		filter    string
		numbers   []uint64
		positions []uint64
	}{
		{LevelDB, "014000010410400006", []uint64{0xf795964e, 0xcb277bca}, []uint64{14, 24, 34, 44, 54, 0}},
		{LevelDB, "", []uint64{0xf795964e, 0xcb277bca}, nil},
		{LevelDB, "00", []uint64{0xf795964e, 0xcb277bca}, nil},
		{LevelDB, "ff00", []uint64{0xf795964e, 0xcb277bca}, nil},
		{LevelDB, "ffff1f", []uint64{0xf795964e, 0xcb277bca}, nil},
		{LevelDB, "ffffff", []uint64{0xf795964e, 0xcb277bca}, nil},
		{NoriCrate, "0700000020000000000000008888a8a2", []uint64{0x26c7827d889f6da3, 0x23dd71cb04d0a1b2}, []uint64{3, 21, 7, 25, 11, 29, 15}},
		{Nori, "2000000000000000070000000a0000008888a8a2", []uint64{0x26c7827d889f6da3, 0x23dd71cb04d0a1b2}, []uint64{3, 21, 7, 25, 11, 29, 15}},
		{Nori, "0000000000000000070000000a000000", []uint64{0x26c7827d889f6da3, 0x23dd71cb04d0a1b2}, nil},
	} {
		w := mustOpen(t, c.format, fromHex(c.filter)).Explain([]byte("hello"))
		var numbers []uint64
		for _, n := range w.Numbers {
			numbers = append(numbers, n.Value)
		}
		if !slices.Equal(numbers, c.numbers) || !slices.Equal(w.Positions, c.positions) {
			t.Errorf("%v, filter %s: the steps of hello are %+v", c.format, c.filter, w)
		}
	}
}
