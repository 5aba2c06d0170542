package bloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/rates"
)

func TestErrors(t *testing.T) {
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
		{"Size negative", ErrCapacity, func() error { _, _, err := Policy{Format: LevelDB, BitsPerKey: 10}.Size(-1); return err }},
		{"Size too large", ErrCapacity, func() error { _, _, err := Policy{Format: LevelDB, BitsPerKey: 8}.Size(math.MaxInt); return err }},
		{"NewSet format", ErrFormat, func() error { _, err := Policy{Format: unknown}.NewSet(1); return err }},
		{"NewSet negative", ErrCapacity, func() error { _, err := Policy{Format: LevelDB, BitsPerKey: 10}.NewSet(-1); return err }},
		{"NewSet too large", ErrCapacity, func() error {
			_, err := Policy{Format: LevelDB, BitsPerKey: math.MaxInt}.NewSet(math.MaxInt)
			return err
		}},
		{"NewSet just too large", ErrCapacity, func() error { _, err := Policy{Format: LevelDB, BitsPerKey: 8}.NewSet(math.MaxInt); return err }},
		{"NewAtomicSet format", ErrFormat, func() error { _, err := Policy{Format: unknown}.NewAtomicSet(1); return err }},
		{"NewAtomicSet negative", ErrCapacity, func() error { _, err := Policy{Format: LevelDB, BitsPerKey: 10}.NewAtomicSet(-1); return err }},
		{"NewAtomicSet too large", ErrCapacity, func() error { _, err := Policy{Format: LevelDB, BitsPerKey: 8}.NewAtomicSet(math.MaxInt); return err }},
		{"AtomicSet.Merge", ErrShape, func() error {
			return mustAtomicSet(t, Policy{}, 1).Merge(set(Policy{Format: LevelDB, BitsPerKey: 10}, 200))
		}},
		{"AtomicSet.Merge zero", ErrShape, func() error { return mustAtomicSet(t, Policy{}, 1).Merge(new(Set)) }},
		{"Intersect size", ErrShape, func() error { return set(Policy{BitsPerKey: 10}, 100).Intersect(set(Policy{BitsPerKey: 10}, 200)) }},
		{"Intersect zero", ErrShape, func() error { return set(Policy{BitsPerKey: 10}, 100).Intersect(new(Set)) }},
		{"Merge size", ErrShape, func() error {
			return set(Policy{Format: LevelDB, BitsPerKey: 10}, 100).Merge(set(Policy{Format: LevelDB, BitsPerKey: 10}, 200))
		}},
		{"Merge probes", ErrShape, func() error {
			return set(Policy{Format: LevelDB, BitsPerKey: 10}, 1).Merge(set(Policy{Format: LevelDB, BitsPerKey: 20}, 1))
		}},
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
	} {
		if err := c.try(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// TestFloorError wants the error of a rate that a 32-bit hash does not reach to say what does.
func TestFloorError(t *testing.T) {
	_, err := PolicyFor(LevelDB, 44_000_000, 0.01)
	if want := ", or choose the format rocksdb"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v: it does not end in %q", err, want)
	}
}

// TestNoFormat hands a value that is not a format to every function that returns no error.
func TestNoFormat(t *testing.T) {
	const none = Format(99)
	p, keys := Policy{none, 10}, Strings([]string{"key"})
	for name, call := range map[string]func(){
		"Format.Name":                        func() { _ = none.Name() },
		"Format.HashBits":                    func() { none.HashBits() },
		"Format.Hash":                        func() { none.Hash(nil) },
		"Format.HashString":                  func() { none.HashString("") },
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
		if got := panicOf(call); got != "bloom: Format(99) is not a format" {
			t.Errorf("%s of no format: panic %q", name, got)
		}
	}
	if none.String() != "Format(99)" {
		t.Errorf("no format is printed as %v", none)
	}
}

// TestProgrammingErrors checks every call that must panic.
func TestProgrammingErrors(t *testing.T) {
	f := mustOpen(t, LevelDB, nil)
	for name, try := range map[string]func(){
		"words too short":                       func() { mustSet(t, Policy{}, 1).TestAndAddBatch(Integers(make([]uint32, 65)), make([]uint64, 1)) },
		"hits too short":                        func() { f.MayContainBatch(Integers(make([]uint32, 65)), make([]uint64, 1)) },
		"hits too short, with room behind them": func() { f.MayContainBatch(Integers(make([]uint32, 65)), make([]uint64, 1, 2)) },
		"Slice past rows":                       func() { Integers(make([]uint32, 3)).Slice(0, 4) },
		"Slice backwards":                       func() { Integers(make([]uint32, 3)).Slice(2, 1) },
		"Slice negative":                        func() { Integers(make([]uint32, 3)).Slice(-1, 1) },
		"unknown format":                        func() { Policy{Format: 200}.NewBuilder() },
		"filter too large": func() {
			Policy{Format: LevelDB, BitsPerKey: math.MaxInt}.AppendFilter(nil, Integers(make([]uint32, 1000)))
		},
	} {
		if panicOf(try) == "" {
			t.Errorf("%s: no panic", name)
		}
	}
}

// TestZeroValues has one behaviour for each zero value: the zero Filter and the zero Set
// hold no key, the zero Set and the zero Builder take none, the zero Keys is an empty column, and the zero
// Policy builds LevelDB's smallest filter.
func TestZeroValues(t *testing.T) {
	keys := golden.Mixed.Range(0, 100)
	zero := new(Set)
	for name, v := range map[string]*Filter{"Filter": new(Filter), "Set": {zero.view}, "Set.Filter": zero.Filter()} {
		hits := []uint64{1, 2}
		if v.MayContain(keys[9]) || v.MayContainString("") || v.MayContainUint64(7) || v.MayContainHash(Nori.Hash(nil)) || v.MayContainHash(Hash{}) {
			t.Errorf("the zero %s holds a key", name)
		}
		if v.MayContainBatch(Bytes(keys), hits) != 0 || hits[0] != 0 || hits[1] != 0 || len(v.AppendHits(nil, Bytes(keys))) != 0 {
			t.Errorf("the zero %s holds keys: %x", name, hits)
		}
		for _, n := range []int{1, 5, 8, 31} {
			if one := []uint64{1}; v.MayContainBatch(Bytes(keys[:n]), one) != 0 || one[0] != 0 {
				t.Errorf("the zero %s holds one of %d keys: %x", name, n, one)
			}
			if one := []uint64{1}; v.MayContainBatch(Integers(make([]uint64, n)), one) != 0 || one[0] != 0 {
				t.Errorf("the zero %s holds one of %d integers: %x", name, n, one)
			}
		}
		if v.Stats() != (Stats{}) || len(v.Explain(nil).Positions) != 0 || v.Kernel() != Generic {
			t.Errorf("Stats of the zero %s: %+v", name, v.Stats())
		}
	}
	for _, kernel := range kernels {
		f := onKernel(t, new(Filter), kernel)
		if f.MayContain(nil) || f.MayContainBatch(Bytes(keys), make([]uint64, 2)) != 0 || f.MayContainBatch(Integers([]uint64{1, 2}), make([]uint64, 1)) != 0 {
			t.Errorf("the zero filter on kernel %v holds a key", kernel)
		}
	}
	none := new(AtomicSet)
	for name, call := range map[string]func(){
		"Add": func() { zero.Add(nil) }, "AddString": func() { zero.AddString("key") }, "AddBatch": func() { zero.AddBatch(Bytes(keys)) },
		"AddUint64": func() { zero.AddUint64(7) }, "AddHash": func() { zero.AddHash(LevelDB.Hash(nil)) }, "AddHash of none": func() { zero.AddHash(Hash{}) },
		"TestAndAdd": func() { zero.TestAndAdd(nil) }, "TestAndAddString": func() { zero.TestAndAddString("") },
		"TestAndAddUint64": func() { zero.TestAndAddUint64(7) }, "TestAndAddBatch": func() { zero.TestAndAddBatch(Bytes(keys), make([]uint64, 2)) },
		"atomic Add": func() { none.Add(nil) }, "atomic AddString": func() { none.AddString("key") }, "atomic AddBatch": func() { none.AddBatch(Bytes(keys)) },
		"atomic AddUint64": func() { none.AddUint64(7) }, "atomic AddHash": func() { none.AddHash(LevelDB.Hash(nil)) },
		"TestAndAddHash": func() { zero.TestAndAddHash(Hash{}) }, "atomic TestAndAddHash": func() { none.TestAndAddHash(Hash{}) },
		"atomic TestAndAdd": func() { none.TestAndAdd(nil) }, "atomic TestAndAddString": func() { none.TestAndAddString("") },
		"atomic TestAndAddUint64": func() { none.TestAndAddUint64(7) }, "atomic TestAndAddBatch": func() { none.TestAndAddBatch(Bytes(keys), make([]uint64, 2)) },
	} {
		if got := panicOf(call); !strings.Contains(got, "no bits") {
			t.Errorf("%s to the zero Set: panic %q", name, got)
		}
	}
	builder := new(Builder)
	for name, call := range map[string]func(){
		"Add": func() { builder.Add(nil) }, "AddString": func() { builder.AddString("key") }, "AddBatch": func() { builder.AddBatch(Bytes(keys)) },
		"AddUint64": func() { builder.AddUint64(7) }, "AddHash": func() { builder.AddHash(Hash{}) },
	} {
		if got := panicOf(call); !strings.Contains(got, "no policy") || builder.Len() != 0 {
			t.Errorf("%s to the zero Builder: panic %q", name, got)
		}
	}
	if none.MayContain(keys[9]) || none.MayContainString("") || none.MayContainUint64(7) || none.MayContainHash(Nori.Hash(nil)) ||
		none.MayContainBatch(Bytes(keys), make([]uint64, 2)) != 0 {
		t.Error("the zero AtomicSet holds a key")
	}
	if err := none.Merge(zero); err != nil || !none.Snapshot().Equal(zero) || !zero.Equal(zero.Clone()) || none.view.format != Default || none.view.kernel != Generic {
		t.Errorf("the zero AtomicSet is not like the zero Set: %v", err)
	}
	zero.Clear()
	if none.Clear(); none.Stats() != (Stats{}) {
		t.Errorf("Stats of the zero AtomicSet: %+v", none.Stats())
	}
	if zero.Equal(mustSet(t, Policy{}, 1)) {
		t.Error("the zero Set is equal to another")
	}
	if encoded := zero.AppendFilter(nil); len(encoded) != 0 {
		t.Errorf("the zero Set is encoded as %x", encoded)
	}
	if err := errors.Join(zero.Merge(new(Set)), zero.Intersect(new(Set))); err != nil {
		t.Errorf("Merge and Intersect of zero Sets: %v", err)
	}
	if err := mustSet(t, Policy{}, 1).Merge(zero); err == nil {
		t.Error("Merge with the zero Set: no error")
	}
	if f := mustOpen(t, Default, Policy{}.AppendFilter(nil, Keys{})); f.MayContain(nil) || (Keys{}).Len() != 0 {
		t.Error("the zero Policy's filter of the zero Keys holds a key")
	}
}

// TestFewWords wants a panic that says how many words the bits take.
func TestFewWords(t *testing.T) {
	set := mustSet(t, Policy{Format: Default, BitsPerKey: 10}, 100)
	for _, c := range []struct {
		keys, words int
		want        string
	}{
		{1, 0, "bloom: 0 words for the bits of 1 keys, which need 1: (keys.Len()+63)/64"},
		{100, 1, "bloom: 1 words for the bits of 100 keys, which need 2: (keys.Len()+63)/64"},
	} {
		column, words := Integers(make([]uint64, c.keys)), make([]uint64, c.words, 10)
		for name, call := range map[string]func(){
			"MayContainBatch": func() { set.Filter().MayContainBatch(column, words) },
			"TestAndAddBatch": func() { set.TestAndAddBatch(column, words) },
		} {
			if got := panicOf(call); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
	group, err := NewGroup(slices.Repeat([]*Filter{set.Filter()}, 65))
	if err != nil {
		t.Fatal(err)
	}
	for want, call := range map[string]func(){
		"bloom: 1 words for the bits of 65 filters, which need 2: (group.Len()+63)/64": func() { group.MayContain(nil, make([]uint64, 1, 2)) },
		"bloom: 129 words for the bits of 65 keys in 65 filters, which need 130: group.Len()*((keys.Len()+63)/64)": func() {
			group.MayContainBatch(Integers(make([]uint64, 65)), make([]uint64, 129, 130))
		},
	} {
		if got := panicOf(call); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The tests of this file give every exported function that takes a number the extreme
// ones, on machines of 64 and 32 bits.

// extremes are the numbers at which a product or a sum may overflow.
var extremes = []int{
	math.MinInt, math.MinInt + 1, -1, 0, 1, 2, 7, 8, 9, 30, 31, 1 << 16, 1<<16 + 1, math.MaxInt32 - 1, math.MaxInt32,
	math.MaxInt/8 - 1, math.MaxInt / 8, math.MaxInt/8 + 1, math.MaxInt/2 + 1, math.MaxInt - 64, math.MaxInt - 1, math.MaxInt,
}

// outcome is what a policy does with n keys: it builds a filter, it refuses, or it
// asks the system for more memory than a test should.
type outcome int

const (
	builds outcome = iota
	refuses
	takesMemory
)

// outcomeOf multiplies without a limit.
func outcomeOf(p Policy, n int) outcome {
	test := formatTests[p.Format]
	if empty, _ := p.Format.encoding().Shape(0, 1); empty.Bits == 0 {
		n = max(n, 1)
	}
	perKey := max(p.BitsPerKey, test.least)
	if test.mostPerKey != 0 {
		perKey = min(perKey, test.mostPerKey)
	}
	size := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(perKey)))
	most := new(big.Int).Mul(big.NewInt(mostBytes), big.NewInt(8))
	if test.mostBits != 0 && most.Cmp(new(big.Int).SetUint64(test.mostBits)) > 0 {
		most.SetUint64(test.mostBits)
	}
	if size.Cmp(most) > 0 {
		return refuses
	}
	if size.Cmp(big.NewInt(8<<20)) > 0 {
		return takesMemory
	}
	return builds
}

func TestExtremePolicies(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for _, bitsPerKey := range extremes {
			p := Policy{f, bitsPerKey}
			if rate := p.FalsePositiveRate(1); !(rate >= 0 && rate <= 1) {
				t.Errorf("%v: FalsePositiveRate(1) = %v", p, rate)
			}
			if outcomeOf(p, 1) != takesMemory {
				wantPanic := outcomeOf(p, 1) == refuses
				for name, call := range map[string]func(){
					"AppendFilter": func() { p.AppendFilter(nil, Strings([]string{"key"})) },
					"Builder":      func() { b := p.NewBuilder(); b.AddString("key"); b.AppendFilter(nil) },
				} {
					if got := panicOf(call); (got != "") != wantPanic || !strings.HasPrefix(got, "bloom: "[:min(len(got), 7)]) {
						t.Errorf("%v: %s panics with %q", p, name, got)
					}
				}
			}
			for _, n := range extremes {
				checkExtremePolicy(t, p, n)
			}
		}
	})
}

func checkExtremePolicy(t *testing.T, p Policy, n int) {
	t.Helper()
	if n%oneOf(3, 7) == 0 { // LevelDB's takes milliseconds
		if rate := p.FalsePositiveRate(n); !(rate >= 0 && rate <= 1) {
			t.Errorf("%v: FalsePositiveRate(%d) = %v", p, n, rate)
		}
	}
	want := outcomeOf(p, n)
	if n < 0 {
		want = refuses
	}
	if want == takesMemory {
		return
	}
	s, err := p.NewSet(n)
	if (err == nil) != (want == builds) || err != nil && !errors.Is(err, ErrCapacity) {
		t.Fatalf("%v: NewSet(%d): %v", p, n, err)
	}
	if err == nil {
		s.AddString("key")
		s.AddUint64(uint64(n))
		if !s.MayContainString("key") || !s.MayContainUint64(uint64(n)) {
			t.Errorf("%v: NewSet(%d) loses a key", p, n)
		}
	}
	atomic, err := p.NewAtomicSet(n)
	if (err == nil) != (want == builds) || err != nil && !errors.Is(err, ErrCapacity) {
		t.Fatalf("%v: NewAtomicSet(%d): %v", p, n, err)
	}
	if err == nil {
		atomic.AddString("key")
		atomic.AddUint64(uint64(n))
		if !atomic.Snapshot().Equal(s) {
			t.Errorf("%v: NewAtomicSet(%d) differs from NewSet", p, n)
		}
	}
}

// TestExtremeRates gives the rate of filters of any size extreme numbers of probes. No filter has that
// number: LevelDB and RocksDB answer yes to every key if there are more than 30.
func TestExtremeRates(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for _, n := range []int{1, 500, rates.ThirdProbeKeys, math.MaxInt} {
			for _, bits := range []uint64{1, 8, 24, 512, 3 << 20, 1 << 40, math.MaxUint64} {
				for i, probes := range extremes {
					if (i+int(f)+n%10)%oneOf(1, 3) != 0 {
						continue
					}
					rate := f.FalsePositiveRate(n, bits, probes)
					all := probes <= 0 || probes > encoding.MaxProbes && (f == LevelDB || f == RocksDB)
					if !(rate >= 0 && rate <= 1) || all && rate != 1 {
						t.Fatalf("FalsePositiveRate(%d, %d, %d) = %v", n, bits, probes, rate)
					}
				}
			}
		}
	})
}

func TestExtremeCapacities(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for j, n := range extremes {
			for i, rate := range []float64{
				math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 1e-300, 1e-20, 0.01, 0.5, 1 - 1e-16, 1, 2, math.Inf(1), math.NaN(),
			} {
				switch {
				case i%2 == 1 && (!whole() || n > 2 || n == 0):
					continue
				case (i/2+j+int(f))%(2*oneOf(2, 4)) != 0:
					continue // each capacity with every second of these rates, and the other way round
				}
				p, err := PolicyFor(f, n, rate)
				switch {
				case err != nil:
					// No filter for this number of keys can be built at 64 bits per key, which hold the rates.
					_, ok := f.encoding().Shape(max(n, 0), 64)
					if !errors.Is(err, ErrRate) && (n >= 0 && ok || !errors.Is(err, ErrCapacity)) {
						t.Errorf("PolicyFor(%v, %d, %v): %v", f, n, rate, err)
					}
				case n < 0 || !(rate > 0 && rate < 1) || p.FalsePositiveRate(n) > rate:
					t.Errorf("PolicyFor(%v, %d, %v) = %v", f, n, rate, p)
				default:
					if _, ok := f.encoding().Shape(n, p.BitsPerKey); !ok {
						t.Errorf("PolicyFor(%v, %d, %v) = %v, which no filter can be built by", f, n, rate, p)
					}
				}
			}
		}
	})
}

func TestExtremeColumns(t *testing.T) {
	for _, n := range extremes {
		if k, err := FixedWidth(nil, n); (err == nil) != (n >= 1) || k.Len() != 0 {
			t.Errorf("FixedWidth(nil, %d): %d keys, %v", n, k.Len(), err)
		}
		if k, err := FixedWidth(make([]byte, 1), n); (err == nil) != (n == 1) {
			t.Errorf("FixedWidth of a byte, %d: %d keys, %v", n, k.Len(), err)
		}
		if k, err := Offsets([]byte("key"), []int64{0, int64(n)}); (err == nil) != (n >= 0 && n <= 3) {
			t.Errorf("Offsets of 64 bits to %d: %d keys, %v", n, k.Len(), err)
		}
		if k, err := Offsets([]byte("key"), []int32{0, int32(n)}); (err == nil) != (int32(n) >= 0 && int32(n) <= 3) {
			t.Errorf("Offsets to %d: %d keys, %v", int32(n), k.Len(), err)
		}
		little := binary.LittleEndian.AppendUint64(nil, uint64(n))
		for i, column := range []Keys{
			Integers([]int8{int8(n)}), Integers([]uint8{uint8(n)}), Integers([]int16{int16(n)}), Integers([]uint16{uint16(n)}),
			Integers([]int32{int32(n)}), Integers([]uint32{uint32(n)}), Integers([]int64{int64(n)}), Integers([]uint64{uint64(n)}),
		} {
			if got := column.hashRow(schemeParquet, 0); got != Parquet.Hash(little[:1<<(i/2)]) {
				t.Errorf("column %d of Integers for %d is not its little-endian bytes", i, n)
			}
		}
		column := Integers([]uint32{1, 2, 3})
		if _, err := column.WithValidity(make([]byte, 4), n); (err == nil) != (n >= 0 && n <= 29) {
			t.Errorf("WithValidity at %d: %v", n, err)
		}
		for _, m := range extremes {
			if got := panicOf(func() { column.Slice(n, m) }); (got == "") != (0 <= n && n <= m && m <= 3) {
				t.Errorf("Slice(%d, %d) panics with %q", n, m, got)
			}
		}
	}
}

// TestValidityPastMaxInt32 has rows whose bits are numbered past 2^31.
func TestValidityPastMaxInt32(t *testing.T) {
	t.Parallel()
	const rows = 100
	memory := make([]byte, (math.MaxInt32+uint64(rows))/8+1) // one for all: Go clears memory that it uses again
	for _, offset := range []int{math.MaxInt32 - 10, math.MaxInt32 - 64, math.MaxInt32} {
		bitmap := memory[:(uint64(offset)+rows)/8+1]
		valid := make([]bool, rows)
		keys := make([][]byte, rows)
		for i := range rows {
			keys[i] = fmt.Appendf(nil, "key%d", i)
			if valid[i] = i%3 != 0; valid[i] {
				bit := uint64(offset) + uint64(i)
				bitmap[bit/8] |= 1 << (bit % 8)
			}
		}
		column, err := Bytes(keys).WithValidity(bitmap, offset)
		if err != nil {
			t.Fatal(err)
		}
		checkColumn(t, column, keys, valid)
		checkColumn(t, column.Slice(20, rows), keys[20:], valid[20:])
		clear(bitmap[uint64(offset)/8:])
	}
	if bits.UintSize == 32 && math.MaxInt != math.MaxInt32 {
		t.Fatal("an int is wider than a word")
	}
}

// TestExtremeFormats gives every function that takes a format one that there is not.
func TestExtremeFormats(t *testing.T) {
	for _, f := range []Format{Format(len(formats)), 200, 255} {
		key := []byte("key")
		for name, call := range map[string]func(){
			"Name": func() { _ = f.Name() }, "Hash": func() { f.Hash(key) }, "Hashed": func() { Bytes[[]byte](nil).Hashed(f) },
			"Reference": func() { Reference(f, key, key) }, "NewBuilder": func() { Policy{Format: f}.NewBuilder() },
			"AppendFilter": func() { Policy{Format: f}.AppendFilter(nil, Keys{}) }, "MayContain": func() { Policy{Format: f}.MayContain(key, key) },
			"FalsePositiveRate": func() { Policy{Format: f}.FalsePositiveRate(1) }, "FalsePositiveRate of no keys": func() { Policy{Format: f}.FalsePositiveRate(0) },
			"the format's FalsePositiveRate": func() { f.FalsePositiveRate(1, 1, 1) }, "the format's of no keys": func() { f.FalsePositiveRate(0, 1, 1) },
			"the format's of no bits": func() { f.FalsePositiveRate(1, 0, 1) }, "the format's of no probes": func() { f.FalsePositiveRate(1, 1, 0) },
			"NewFilter": func() { Policy{Format: f}.NewFilter(Keys{}) }, "AppendHashes32": func() { f.AppendHashes32(nil, Keys{}) },
			"AppendHashes64": func() { f.AppendHashes64(nil, Keys{}) },
		} {
			if panicOf(call) == "" {
				t.Errorf("%s: no panic for %v", name, f)
			}
		}
		_, err1 := Open(f, key)
		_, err2 := OpenSet(f, key)
		_, err3 := Policy{Format: f}.NewSet(1)
		_, err4 := PolicyFor(f, 1, 0.01)
		_, err5 := ParseFormat(f.String())
		_, err6 := Policy{Format: f}.NewAtomicSet(1)
		for i, err := range []error{err1, err2, err3, err4, err5, err6} {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %d is %v for %v", i, err, f)
			}
		}
	}
	if got := Kernel(200).String(); got != "Kernel(200)" {
		t.Errorf("Kernel(200) is called %s", got)
	}
}
