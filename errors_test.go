package bloom

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
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
