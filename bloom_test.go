package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// LevelDB's util/bloom_test.cc, re-expressed.

func TestLevelDBEmptyFilter(t *testing.T) {
	is(t, behaviour)
	f := mustOpen(t, LevelDB, Policy{BitsPerKey: 10}.AppendFilter(nil, Keys{}))
	if f.MayContainString("hello") || f.MayContainString("world") {
		t.Error("the empty filter holds a key")
	}
}

func TestLevelDBSmall(t *testing.T) {
	is(t, behaviour)
	f := mustOpen(t, LevelDB, Policy{BitsPerKey: 10}.AppendFilter(nil, Strings([]string{"hello", "world"})))
	for key, want := range map[string]bool{"hello": true, "world": true, "x": false, "foo": false} {
		if f.MayContainString(key) != want {
			t.Errorf("MayContain(%q) = %v", key, !want)
		}
	}
}

func TestLevelDBVaryingLengths(t *testing.T) {
	is(t, behaviour)
	t.Parallel()
	nextLength := func(n int) int {
		switch {
		case n < 10:
			return n + 1
		case n < 100:
			return n + 10
		case n < 1000:
			return n + 100
		}
		return n + 1000
	}
	mediocre, good := 0, 0
	for n := 1; n <= 10000; n = nextLength(n) {
		encoded := Policy{BitsPerKey: 10}.AppendFilter(nil, Bytes(golden.Integers.Range(0, n)))
		if len(encoded) > n*10/8+40 {
			t.Errorf("%d keys: filter of %d bytes", n, len(encoded))
		}
		f := mustOpen(t, LevelDB, encoded)
		for i := range n {
			if !f.MayContain(golden.Integers.Key(i)) {
				t.Fatalf("%d keys: key %d is missing", n, i)
			}
		}
		yes := 0
		for i := range 10000 {
			if f.MayContain(golden.Integers.Key(i + 1000000000)) {
				yes++
			}
		}
		rate := float64(yes) / 10000
		if rate > 0.02 {
			t.Errorf("%d keys: false-positive rate %.4f", n, rate)
		}
		if rate > 0.0125 {
			mediocre++
		} else {
			good++
		}
	}
	if mediocre > good/5 {
		t.Errorf("%d filters above 1.25 %%, %d below", mediocre, good)
	}
}

func TestErrors(t *testing.T) {
	is(t, behaviour)
	const unknown = Format(200)
	set := func(p Policy, capacity int) *Set { return mustSet(t, p, capacity) }
	views := func(headers, bitmap []byte, offset int) error {
		_, err := Views(headers, [][]byte{nil, make([]byte, 20)}, bitmap, offset)
		return err
	}
	for _, c := range []struct {
		name string
		want error
		try  func() error
	}{
		{"Open", ErrFormat, func() error { _, err := Open(unknown, nil); return err }},
		{"OpenSet", ErrFormat, func() error { _, err := OpenSet(unknown, nil); return err }},
		{"OpenSet nothing", ErrEncoding, func() error { _, err := OpenSet(LevelDB, nil); return err }},
		{"OpenSet one byte", ErrEncoding, func() error { _, err := OpenSet(LevelDB, []byte{6}); return err }},
		{"OpenSet no probes", ErrEncoding, func() error { _, err := OpenSet(LevelDB, []byte{1, 2, 0}); return err }},
		{"OpenSet reserved", ErrEncoding, func() error { _, err := OpenSet(LevelDB, []byte{1, 2, 31}); return err }},
		{"MarshalText", ErrFormat, func() error { _, err := unknown.MarshalText(); return err }},
		{"ParseFormat", ErrFormat, func() error { _, err := ParseFormat("bloom"); return err }},
		{"PolicyFor format", ErrFormat, func() error { _, err := PolicyFor(unknown, 1, 0.01); return err }},
		{"PolicyFor capacity", ErrCapacity, func() error { _, err := PolicyFor(LevelDB, -1, 0.01); return err }},
		{"PolicyFor rate 0", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1, 0); return err }},
		{"PolicyFor rate 1", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1, 1); return err }},
		{"PolicyFor rate NaN", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1, math.NaN()); return err }},
		{"PolicyFor floor", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1<<20, 0.0001); return err }},
		{"Size format", ErrFormat, func() error { _, _, err := Policy{Format: unknown}.Size(1); return err }},
		{"Size negative", ErrCapacity, func() error { _, _, err := Policy{BitsPerKey: 10}.Size(-1); return err }},
		{"Size too large", ErrCapacity, func() error { _, _, err := Policy{BitsPerKey: 8}.Size(math.MaxInt); return err }},
		{"NewSet format", ErrFormat, func() error { _, err := Policy{Format: unknown}.NewSet(1); return err }},
		{"NewSet negative", ErrCapacity, func() error { _, err := Policy{BitsPerKey: 10}.NewSet(-1); return err }},
		{"NewSet too large", ErrCapacity, func() error { _, err := Policy{BitsPerKey: math.MaxInt}.NewSet(math.MaxInt); return err }},
		{"NewSet just too large", ErrCapacity, func() error { _, err := Policy{BitsPerKey: 8}.NewSet(math.MaxInt); return err }},
		{"NewAtomicSet format", ErrFormat, func() error { _, err := Policy{Format: unknown}.NewAtomicSet(1); return err }},
		{"NewAtomicSet negative", ErrCapacity, func() error { _, err := Policy{BitsPerKey: 10}.NewAtomicSet(-1); return err }},
		{"NewAtomicSet too large", ErrCapacity, func() error { _, err := Policy{BitsPerKey: 8}.NewAtomicSet(math.MaxInt); return err }},
		{"AtomicSet.WithKernel", ErrKernel, func() error { _, err := mustAtomicSet(t, Policy{}, 1).WithKernel(Kernel(200)); return err }},
		{"AtomicSet.Merge", ErrShape, func() error { return mustAtomicSet(t, Policy{}, 1).Merge(set(Policy{BitsPerKey: 10}, 200)) }},
		{"AtomicSet.Merge zero", ErrShape, func() error { return mustAtomicSet(t, Policy{}, 1).Merge(new(Set)) }},
		{"Merge size", ErrShape, func() error { return set(Policy{BitsPerKey: 10}, 100).Merge(set(Policy{BitsPerKey: 10}, 200)) }},
		{"Merge probes", ErrShape, func() error { return set(Policy{BitsPerKey: 10}, 1).Merge(set(Policy{BitsPerKey: 20}, 1)) }},
		{"FixedWidth 0", ErrKeys, func() error { _, err := FixedWidth(nil, 0); return err }},
		{"FixedWidth uneven", ErrKeys, func() error { _, err := FixedWidth(make([]byte, 7), 2); return err }},
		{"Offsets negative", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int32{-1, 2}); return err }},
		{"Offsets decreasing", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int32{0, 3, 2}); return err }},
		{"Offsets outside", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int32{0, 10}); return err }},
		{"Offsets of 64 bits outside", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int64{0, math.MaxInt64}); return err }},
		{"WithValidity short", ErrKeys, func() error { _, err := Integers(make([]uint32, 9)).WithValidity(make([]byte, 1), 0); return err }},
		{"WithValidity offset", ErrKeys, func() error { _, err := Integers(make([]uint32, 9)).WithValidity(make([]byte, 2), 8); return err }},
		{"WithValidity negative", ErrKeys, func() error { _, err := Integers[uint32](nil).WithValidity(nil, -1); return err }},
		{"WithValidity overflow", ErrKeys, func() error { _, err := Integers(make([]uint32, 9)).WithValidity(nil, math.MaxInt); return err }},
		{"Views uneven", ErrKeys, func() error { return views(make([]byte, 17), nil, 0) }},
		{"Views of negative length", ErrKeys, func() error { return views(viewAt(-1, 0, 0), nil, 0) }},
		{"Views in no buffer", ErrKeys, func() error { return views(viewAt(13, 2, 0), nil, 0) }},
		{"Views in buffer -1", ErrKeys, func() error { return views(viewAt(13, -1, 0), nil, 0) }},
		{"Views before the buffer", ErrKeys, func() error { return views(viewAt(13, 1, -1), nil, 0) }},
		{"Views past the buffer", ErrKeys, func() error { return views(viewAt(13, 1, 8), nil, 0) }},
		{"Views past any buffer", ErrKeys, func() error { return views(viewAt(math.MaxInt32, 1, math.MaxInt32), nil, 0) }},
		{"Views of a key after a null row", ErrKeys, func() error { return views(slices.Concat(viewAt(-1, 0, 0), viewAt(-1, 0, 0)), []byte{0b10}, 0) }},
		{"Views with a short bitmap", ErrKeys, func() error { return views(make([]byte, 16*9), []byte{0}, 0) }},
		{"WithValidity of a null view", ErrKeys, func() error {
			column, err := Views(slices.Concat(viewAt(-1, 0, 0), viewAt(1, 0, 0)), nil, []byte{0b10}, 0)
			if err != nil {
				return err
			}
			_, err = column.WithValidity([]byte{0b11}, 0)
			return err
		}},
		{"Merge format", ErrShape, func() error { return set(Policy{Nori, 10}, 100).Merge(set(Policy{NoriCrate, 10}, 100)) }},
		{"PolicyFor bits", ErrRate, func() error { _, err := PolicyFor(Nori, 1, 1e-300); return err }},
		{"Filter.WithKernel", ErrKernel, func() error { _, err := mustOpen(t, LevelDB, nil).WithKernel(Kernel(200)); return err }},
		{"Set.WithKernel", ErrKernel, func() error { _, err := set(Policy{}, 1).WithKernel(Kernel(200)); return err }},
		{"Builder.SetKernel", ErrKernel, func() error { return Policy{}.NewBuilder().SetKernel(Kernel(200)) }},
	} {
		if err := c.try(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// TestNoFormat hands a value that is no format to every function that returns no error.
func TestNoFormat(t *testing.T) {
	is(t, behaviour)
	const none = Format(99)
	p, keys := Policy{none, 10}, Strings([]string{"key"})
	for name, call := range map[string]func(){
		"Format.Name":                        func() { _ = none.Name() },
		"Format.Hash":                        func() { none.Hash(nil) },
		"Format.HashFrom":                    func() { none.HashFrom(1) },
		"Format.Hashes32":                    func() { none.Hashes32(nil) },
		"Format.Hashes64":                    func() { none.Hashes64(nil) },
		"Format.FalsePositiveRate":           func() { none.FalsePositiveRate(1, 10, 6) },
		"Format.FalsePositiveRate of no key": func() { none.FalsePositiveRate(0, 0, 0) },
		"Policy.FalsePositiveRate":           func() { p.FalsePositiveRate(1) },
		"Policy.FalsePositiveRate of no key": func() { p.FalsePositiveRate(0) },
		"Policy.Name":                        func() { _ = p.Name() },
		"Policy.AppendFilter":                func() { p.AppendFilter(nil, keys) },
		"Policy.AppendFilter of no key":      func() { p.AppendFilter(nil, Keys{}) },
		"Policy.AppendFilter of hashes":      func() { p.AppendFilter(nil, keys.Hashed(LevelDB)) },
		"Policy.NewFilter":                   func() { p.NewFilter(keys) },
		"Policy.NewBuilder":                  func() { p.NewBuilder() },
		"Policy.MayContain":                  func() { p.MayContain(nil, nil) },
		"Keys.Hashed":                        func() { keys.Hashed(none) },
		"Reference":                          func() { Reference(none, nil, nil) },
	} {
		if got := panicOf(call); got != "bloom: Format(99) is no format" {
			t.Errorf("%s of no format: panic %q", name, got)
		}
	}
	if none.String() != "Format(99)" || p.String() != "Format(99) with 10 bits per key" {
		t.Errorf("no format is printed as %v, its policy as %v", none, p)
	}
}

// TestProgrammingErrors checks every call that must panic.
func TestProgrammingErrors(t *testing.T) {
	is(t, behaviour)
	f := mustOpen(t, LevelDB, nil)
	for name, try := range map[string]func(){
		"added too short":                       func() { mustSet(t, Policy{}, 1).AddBatchNew(Integers(make([]uint32, 65)), make([]uint64, 1)) },
		"hits too short":                        func() { f.MayContainBatch(Integers(make([]uint32, 65)), make([]uint64, 1)) },
		"hits too short, with room behind them": func() { f.MayContainBatch(Integers(make([]uint32, 65)), make([]uint64, 1, 2)) },
		"Slice past rows":                       func() { Integers(make([]uint32, 3)).Slice(0, 4) },
		"Slice backwards":                       func() { Integers(make([]uint32, 3)).Slice(2, 1) },
		"Slice negative":                        func() { Integers(make([]uint32, 3)).Slice(-1, 1) },
		"unknown format":                        func() { Policy{Format: 200}.NewBuilder() },
		"filter too large": func() {
			Policy{BitsPerKey: math.MaxInt}.AppendFilter(nil, Integers(make([]uint32, 1000)))
		},
	} {
		if panicOf(try) == "" {
			t.Errorf("%s: no panic", name)
		}
	}
}

func TestNames(t *testing.T) {
	is(t, behaviour)
	if got := (Policy{}).Name(); got != "leveldb.BuiltinBloomFilter2" {
		t.Errorf("Name() = %q", got)
	}
	for i := range formats {
		f := Format(i)
		if got, err := ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("ParseFormat(%q) = %v, %v", f, got, err)
		}
	}
	for _, k := range Kernels() {
		if k.String() == Kernel(200).String() {
			t.Errorf("kernel %d has no name", k)
		}
	}
	if got := Kernels(); got[len(got)-1] != Generic {
		t.Errorf("Kernels() = %v: Generic is not the last", got)
	}
}

func probesOf(p Policy) int {
	s, _ := formats[p.Format].shape(1, p.BitsPerKey)
	return s.probes
}

func TestPolicyFor(t *testing.T) {
	is(t, portable)
	// The textbook's sizes, -ln p / (ln 2)^2 bits per key, or a bit more for LevelDB's third
	// probe.
	for _, c := range []struct {
		capacity int
		rate     float64
		bits, k  int
	}{
		{500000, 0.001, 16, 11}, // 14.4, with 15 the rate is 0.13 %
		{1000, 0.01, 10, 6},     // 9.6
		{1 << 20, 0.01, 11, 7},  // with 10 the rate is 1.25 %
	} {
		p, err := PolicyFor(LevelDB, c.capacity, c.rate)
		if err != nil {
			t.Fatal(err)
		}
		if p.BitsPerKey != c.bits || probesOf(p) != c.k {
			t.Errorf("PolicyFor(%d, %v) = %d bits, %d probes, want %d, %d", c.capacity, c.rate, p.BitsPerKey, probesOf(p), c.bits, c.k)
		}
	}
	eachFormat(t, func(t *testing.T, f Format) {
		for _, capacity := range []int{0, 1, 2, 10, 1000, 123456, 1 << 24} {
			for _, rate := range []float64{0.9, 0.5, 0.1, 0.01, 0.005} {
				p, err := PolicyFor(f, capacity, rate)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.FalsePositiveRate(capacity); got > rate {
					t.Errorf("PolicyFor(%d, %v) has rate %v", capacity, rate, got)
				}
				for fewer := max(p.BitsPerKey-2, 0); fewer < p.BitsPerKey; fewer++ {
					if got := (Policy{f, fewer}).FalsePositiveRate(capacity); got <= rate {
						t.Errorf("PolicyFor(%d, %v) = %d bits per key, but %d hold the rate", capacity, rate, p.BitsPerKey, fewer)
					}
				}
			}
		}
	})
	// Many bits per key: all fewer are tried.
	for _, f := range []Format{Nori, Parquet, RocksDB} {
		for _, capacity := range []int{1, 1000, 50_000} {
			p, err := PolicyFor(f, capacity, 1e-7)
			if err != nil {
				t.Fatal(err)
			}
			for fewer := range p.BitsPerKey {
				if got := (Policy{f, fewer}).FalsePositiveRate(capacity); got <= 1e-7 {
					t.Errorf("PolicyFor(%v, %d, 1e-7) = %d bits per key, but %d hold the rate", f, capacity, p.BitsPerKey, fewer)
				}
			}
		}
	}
	// 1 % of 2^32 hashes are some 43 million.
	if _, err := PolicyFor(LevelDB, 43_000_000, 0.01); err != nil {
		t.Errorf("43 M keys at 1 %%: %v", err)
	}
	if _, err := PolicyFor(LevelDB, 44_000_000, 0.01); !errors.Is(err, ErrRate) {
		t.Errorf("44 M keys at 1 %%: error %v", err)
	}
}

func TestSet(t *testing.T) {
	is(t, behaviour)
	eachFormat(t, testSet)
}

func testSet(t *testing.T, f Format) {
	s := mustSet(t, Policy{f, 10}, 1000)
	live := s.Filter()
	if s.MayContainString("a") || live.MayContainString("a") {
		t.Error("the empty set holds a key")
	}
	s.AddString("a")
	if !s.MayContain([]byte("a")) || !live.MayContainHash(f.Hash([]byte("a"))) {
		t.Error("an added key is missing")
	}
	encoded := s.AppendFilter([]byte("prefix"))
	if string(encoded[:6]) != "prefix" || !bytes.Equal(live.AppendFilter(nil), encoded[6:]) {
		t.Fatalf("AppendFilter: %q", encoded)
	}
	reopened, err := OpenSet(f, encoded[6:])
	if err != nil {
		t.Fatal(err)
	}
	reopened.AddString("b")
	if s.MayContainString("b") || !reopened.MayContainString("a") || !reopened.MayContainString("b") {
		t.Error("an opened set is not a copy")
	}
	if err := s.Merge(reopened); err != nil || !s.MayContainString("b") {
		t.Errorf("Merge: %v", err)
	}
	if err := s.Merge(s); err != nil {
		t.Errorf("Merge with itself: %v", err)
	}
	generic, err := s.WithKernel(Generic)
	if err != nil || generic.Kernel() != Generic {
		t.Fatalf("WithKernel: %v", err)
	}
	generic.AddBatch(Strings([]string{"c", "d"}))
	if !s.MayContainString("c") || !s.MayContainString("d") {
		t.Error("a set with another kernel does not share the bits")
	}
}

// TestKeyCount counts keys that are added in every way, to all views of a set.
func TestKeyCount(t *testing.T) {
	is(t, behaviour)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustSet(t, Policy{format, 10}, 10)
		f := s.Filter()
		other, err := s.WithKernel(Generic)
		if err != nil {
			t.Fatal(err)
		}
		s.AddString("a")
		other.Add([]byte("a"))
		s.AddBatch(must(t)(Strings([]string{"b", "c", "d"}).WithValidity([]byte{0b101}, 0)))
		check := func(s interface{ KeyCount() (uint64, bool) }, want uint64, known bool) {
			t.Helper()
			if n, ok := s.KeyCount(); n != want || ok != known {
				t.Errorf("KeyCount() = %d, %v; want %d, %v", n, ok, want, known)
			}
		}
		check(s, 4, true)
		check(f, 4, true)
		check(other, 4, true)
		if err := s.Merge(other); err != nil { // with itself
			t.Fatal(err)
		}
		check(f, 8, true)
		clone := s.Clone()
		clone.AddUint64(7)
		clone.AddHash(format.Hash(nil))
		clone.TestAndAdd([]byte("a")) // a duplicate
		clone.AddBatchNew(must(t)(Strings([]string{"b", "x", "x"}).WithValidity([]byte{0b101}, 0)), make([]uint64, 1))
		check(clone, 13, true)
		check(f, 8, true)
		clone.Clear()
		clone.AddString("y")
		check(clone, 1, true)
		check(Policy{format, 10}.NewFilter(must(t)(Strings([]string{"b", "x", "x"}).WithValidity([]byte{0b101}, 0))), 2, true)
		check(mustAtomicSet(t, Policy{format, 10}, 10).Snapshot(), 0, false)
		opened, err := OpenSet(format, s.data)
		if err != nil {
			t.Fatal(err)
		}
		opened.AddString("e")
		check(opened, 0, false)
		check(mustOpen(t, format, s.data), 0, false)
		if err := s.Merge(opened); err != nil {
			t.Fatal(err)
		}
		check(f, 0, false)
		b := Policy{format, 10}.NewBuilder()
		check(b.Filter(), 0, true)
		b.AddBatch(Strings([]string{"a", "b"}))
		check(b.Filter(), 2, true)
	})
}

// TestConcurrentQueries is for the race detector.
func TestConcurrentQueries(t *testing.T) {
	is(t, behaviour)
	keys := golden.Mixed.Range(0, 3000)
	f := mustOpen(t, LevelDB, Policy{BitsPerKey: 10}.AppendFilter(nil, Bytes(keys)))
	var group sync.WaitGroup
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

// TestFarFilters compares single keys in filters of LevelDB around pairBytes with the reference.
func TestFarFilters(t *testing.T) {
	is(t, alone)
	t.Parallel()
	random := rand.New(rand.NewPCG(75, 76))
	for k := range 33 {
		bytes := pairBytes - 2 + random.IntN(5)
		filter := append(randomBits(random, 8*uint64(bytes), math.Pow(0.5, 1/float64(max(k, 1)))), byte(k))
		keys := make([][]byte, 200)
		for i := range keys {
			keys[i] = binary.LittleEndian.AppendUint64(nil, random.Uint64())[:random.IntN(9)]
		}
		checkFilter(t, mustOpen(t, LevelDB, filter), keys)
	}
}

func TestAllocations(t *testing.T) {
	is(t, behaviour)
	eachFormat(t, testAllocations)
}

func testAllocations(t *testing.T, format Format) {
	keys := golden.Mixed.Range(0, 1000)
	policy := Policy{format, 10}
	encoded := policy.AppendFilter(nil, Bytes(keys))
	f := mustOpen(t, format, encoded)
	s := mustSet(t, policy, 1000)
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
		"MayContain":        func() { f.MayContain(key) },
		"MayContainString":  func() { f.MayContainString(text) },
		"MayContainUint64":  func() { f.MayContainUint64(7) },
		"MayContainHash":    func() { f.MayContainHash(hash) },
		"Format.Hash":       func() { format.Hash(key) },
		"Policy.MayContain": func() { policy.MayContain(encoded, key) },
		"MayContainBatch":   func() { f.MayContainBatch(column, hits) },
		"AppendHits":        func() { positions = f.AppendHits(positions[:0], column) },
		"Set.Add":           func() { s.Add(key) },
		"Set.AddBatch":      func() { s.AddBatch(column) },
		"Set.MayContain":    func() { s.MayContainString(text) },
		"Set.AddUint64":     func() { s.AddUint64(7) },
		"Set.AddHash":       func() { s.AddHash(hash) },
		"Set.TestAndAdd":    func() { s.TestAndAdd(key); s.TestAndAddString(text); s.TestAndAddUint64(7) },
		"Set.AddBatchNew":   func() { s.Clear(); s.AddBatchNew(column, hits) },
		"Set.Merge":         func() { s.Merge(s); s.Equal(s) },
		"atomic Add":        func() { shared.Add(key); shared.AddString(text); shared.AddUint64(7); shared.AddHash(hash) },
		"atomic TestAndAdd": func() { shared.TestAndAdd(key); shared.TestAndAddString(text); shared.TestAndAddUint64(7) },
		"atomic AddBatch":   func() { shared.AddBatch(column); shared.AddBatchNew(column, hits) },
		"atomic MayContain": func() { shared.MayContain(key); shared.MayContainHash(hash) },
		"atomic batch":      func() { shared.MayContainBatch(column, hits) },
		"Group":             func() { group.MayContain(key, hits); group.MayContainBatch(column, hits) },
		"Group, few keys":   func() { group.MayContainBatch(column.Slice(0, keysAcross), hits) },
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
		if n := testing.AllocsPerRun(10, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
