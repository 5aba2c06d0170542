package bloomparquet

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestChance counts absent keys that pass, and others, in row groups of one column: with the filters
// read or loaded, in each pass.
func TestChance(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 5))
	const n, groups = 10_000, 60
	keys := make([]int64, n)
	for i := range keys {
		keys[i] = random.Int64() - 1<<62
	}
	f := new(file)
	for g := range groups {
		values := make([]int64, 5000)
		for i := range values {
			values[i] = random.Int64() - 1<<62
		}
		if g%3 == 2 { // some of the keys, beside a hundred or so by chance
			copy(values, keys[:300])
		}
		chunk := f.add(t, bloom.Integers(values), 10)
		if g%2 == 1 { // half of the keys are above
			chunk.Min = binary.LittleEndian.AppendUint64(nil, 0)
		}
	}
	c := f.open(t, Type{Physical: Int64})
	k, err := KeysOf(c.Type(), keys)
	if err != nil {
		t.Fatal(err)
	}
	unlikely := 0
	for range 2 {
		passes, err := k.Prune(c)
		if err != nil {
			t.Fatal(err)
		}
		for group := range passes {
			chance, ok := group.chance()
			if !ok {
				t.Fatalf("row group %d: %+v", group.Index, chance)
			}
			tested := 0
			for _, key := range keys {
				if group.Index%2 == 0 || key >= 0 {
					tested++
				}
			}
			if chance.tested != tested || math.Abs(chance.expected-float64(tested)*chance.rate) > 1e-6 {
				t.Errorf("row group %d: %+v, want %d keys tested", group.Index, chance, tested)
			}
			switch held := group.Index%3 == 2; {
			case held && chance.likely:
				t.Errorf("row group %d has keys: %d, %+v", group.Index, group.Count, chance)
			case !held && math.Abs(float64(group.Count)-chance.expected) > 5*math.Sqrt(chance.expected):
				t.Errorf("row group %d has no key: %d, %+v", group.Index, group.Count, chance)
			case !held && !chance.likely:
				unlikely++
			}
		}
		c.Load()
	}
	if unlikely > 2 {
		t.Errorf("%d row groups of chance are not taken for that", unlikely)
	}
}

// TestChanceOfFew wants one hit among a few keys not to count as chance, and no chance where no filter was
// asked. Keys that pass every filter are expected.
func TestChanceOfFew(t *testing.T) {
	ints, doubles := Type{Physical: Int64}, Type{Physical: Double}
	for name, test := range map[string]struct {
		typ    Type
		keys   []float64
		change func(*Chunk)
		count  int
		ok     bool
		likely bool
		tested int
		least  float64 // of Expected
	}{
		"a key":             {ints, []float64{1, -7, -8, -9}, nil, 1, true, false, 4, 0},
		"no key":            {ints, []float64{-7, -8, -9}, nil, 0, true, true, 3, 0},
		"no filter":         {ints, []float64{1, -7}, func(c *Chunk) { c.FilterOffset = 0 }, 2, false, false, 0, 0},
		"outside of bounds": {ints, []float64{-7, -8}, func(c *Chunk) { c.Min = make([]byte, 8) }, 0, false, false, 0, 0},
		"NaN and zero":      {doubles, []float64{math.NaN(), 0, -7, -8}, nil, 2, true, true, 4, 2},
		"and a key":         {doubles, []float64{math.NaN(), 0, 1, -8}, nil, 3, true, false, 4, 2},
	} {
		f := new(file)
		values := make([]uint64, 1000)
		for i := range values {
			values[i] = uint64(i + 1)
			if test.typ == doubles {
				values[i] = math.Float64bits(float64(i + 1))
			}
		}
		if chunk := f.add(t, bloom.Integers(values), 24); test.change != nil {
			test.change(chunk)
		}
		k, err := KeysOf(doubles, test.keys)
		if test.typ == ints {
			numbers := make([]int64, len(test.keys))
			for i, key := range test.keys {
				numbers[i] = int64(key)
			}
			k, err = KeysOf(ints, numbers)
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := rowGroups(k, f.open(t, test.typ))
		if err != nil {
			t.Fatal(err)
		}
		group := m[0]
		chance, ok := group.chance()
		if group.Count != test.count || ok != test.ok || chance.likely != test.likely || chance.tested != test.tested || chance.expected < test.least || chance.expected > test.least+0.01 {
			t.Errorf("%s: %d keys, %+v, %v", name, group.Count, chance, ok)
		}
	}
}
