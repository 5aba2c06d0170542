package window

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/lanebloom/bloom"
)

func mustNew(t testing.TB, o Options) *Window {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// eachFormat runs a subtest for every format.
func eachFormat(t *testing.T, run func(t *testing.T, f bloom.Format)) {
	for _, f := range bloom.Formats() {
		t.Run("format="+f.String(), func(t *testing.T) { run(t, f) })
	}
}

// words returns room for the hits of n keys.
func words(n int) []uint64 { return make([]uint64, (n+63)/64) }

// key returns a key of 8 bytes that no other number has.
func key(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }

// adders add a key in every way, and askers ask for it.
var (
	adders = map[string]func(w *Window, key []byte){
		"Add":              func(w *Window, key []byte) { w.Add(key) },
		"AddString":        func(w *Window, key []byte) { w.AddString(string(key)) },
		"AddHash":          func(w *Window, key []byte) { w.AddHash(w.Options().Format.Hash(key)) },
		"AddBatch":         func(w *Window, key []byte) { w.AddBatch(bloom.Bytes([][]byte{key})) },
		"TestAndAdd":       func(w *Window, key []byte) { w.TestAndAdd(key) },
		"TestAndAddString": func(w *Window, key []byte) { w.TestAndAddString(string(key)) },
		"TestAndAddHash":   func(w *Window, key []byte) { w.TestAndAddHash(w.Options().Format.Hash(key)) },
		"TestAndAddBatch":  func(w *Window, key []byte) { w.TestAndAddBatch(bloom.Bytes([][]byte{key}), words(1)) },
	}
	askers = map[string]func(w *Window, key []byte) bool{
		"MayContain":       func(w *Window, key []byte) bool { return w.MayContain(key) },
		"MayContainString": func(w *Window, key []byte) bool { return w.MayContainString(string(key)) },
		"MayContainHash":   func(w *Window, key []byte) bool { return w.MayContainHash(w.Options().Format.Hash(key)) },
		"MayContainBatch":  func(w *Window, key []byte) bool { return w.MayContainBatch(bloom.Bytes([][]byte{key}), words(1)) == 1 },
	}
)

// TestForgets wants a key to be found until Generations rotations have passed, however it was added, and to be forgotten then.
func TestForgets(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		for _, generations := range []int{2, 3, 25} {
			w := mustNew(t, Options{Format: f, Generations: generations, Keys: 200, Rate: 0.001})
			for name, add := range adders {
				one := []byte("key by " + name)
				add(w, one)
				for rotations := range generations + 1 {
					for asker, ask := range askers {
						if got, want := ask(w, one), rotations < generations; got != want {
							t.Fatalf("%s, %d generations, %d rotations: %s = %v", name, generations, rotations, asker, got)
						}
					}
					w.Rotate()
				}
			}
		}
	})
}

// TestTestAndAdd wants TestAndAdd to tell what any generation has, and to write it into the newest, and MayContain not to.
func TestTestAndAdd(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		w := mustNew(t, Options{Format: f, Generations: 3, Keys: 200, Rate: 0.001})
		if w.TestAndAddString("again") || w.TestAndAddUint64(7) || w.TestAndAdd([]byte("batch")) || w.TestAndAddString("asked") {
			t.Error("a new key was there")
		}
		for range 10 {
			w.Rotate()
			hits := words(3)
			n := w.TestAndAddBatch(bloom.Strings([]string{"batch", "new", "new"}), hits)
			if !w.TestAndAddString("again") || !w.TestAndAddUint64(7) || hits[0]&1 == 0 || hits[0]&4 == 0 || n < 2 {
				t.Error("a key is forgotten though it came again")
			}
			w.MayContainString("asked")
		}
		if w.MayContainString("asked") || !w.MayContainUint64(7) || w.TestAndAddString("asked") {
			t.Error("a query has written its key into the newest generation")
		}
	})
}

// TestColumns compares columns of many keys, some of them null, with single keys.
func TestColumns(t *testing.T) {
	for _, f := range []bloom.Format{bloom.RocksDB, bloom.LevelDB, bloom.Guava} {
		w := mustNew(t, Options{Format: f, Generations: 4, Keys: 3000, Rate: 0.01})
		column := make([]uint64, 5000)
		for i := range column {
			column[i] = key(i)
		}
		validity := bytes.Repeat([]byte{0xf7}, len(column)/8)
		for g := range 3 { // each generation has other keys
			w.AddBatch(bloom.Integers(column[1000*g : 1000*(g+1)]))
			w.Rotate()
		}
		keys, err := bloom.Integers(column).WithValidity(validity, 0)
		if err != nil {
			t.Fatal(err)
		}
		check := func(name string, n int, hits []uint64, most int) {
			t.Helper()
			total := 0
			for i := range column {
				hit, null := hits[i/64]>>(i%64)&1 != 0, i%8 == 3
				if null && hit || !null && i < 3000 && !hit || !null && hit != w.MayContainUint64(column[i]) && i < most {
					t.Fatalf("%v, %s: key %d: %v", f, name, i, hit)
				}
				if hit {
					total++
				}
			}
			if n != total || n > 3000 {
				t.Errorf("%v, %s: %d hits, want %d", f, name, n, total)
			}
		}
		hits := words(len(column))
		check("MayContainBatch", w.MayContainBatch(keys, hits), hits, len(column))
		check("TestAndAddBatch", w.TestAndAddBatch(keys, hits), hits, 3000)
		if n := w.MayContainBatch(keys, hits); n != len(column)*7/8 {
			t.Errorf("%v: %d keys after TestAndAddBatch", f, n)
		}
		for name, call := range map[string]func(){
			"MayContainBatch": func() { w.MayContainBatch(keys, hits[:2]) },
			"TestAndAddBatch": func() { w.TestAndAddBatch(keys, hits[:2]) },
			"zero Window":     func() { new(Window).TestAndAddBatch(keys, hits) },
			"other hash":      func() { w.AddHash(bloom.Nori.Hash(nil)) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: %s does not panic", f, name)
					}
				}()
				call()
			}()
		}
	}
}

// TestRate wants that a query over all generations has the rate that New was asked for, and that Stats tells it.
func TestRate(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		const generations, keys, asked = 5, 12_000, 400_000
		rate := 0.02
		w := mustNew(t, Options{Format: f, Generations: generations, Keys: keys, Rate: rate})
		random := rand.New(rand.NewPCG(1, 2))
		column := make([]uint64, asked)
		fill := func() bloom.Keys {
			for i := range column {
				column[i] = random.Uint64()
			}
			return bloom.Integers(column)
		}
		for g := range generations {
			if g > 0 {
				w.Rotate()
			}
			w.AddBatch(fill().Slice(0, keys))
		}
		passed := float64(w.MayContainBatch(fill(), words(asked))) / asked
		if passed > 1.15*rate {
			t.Errorf("%.4f of absent keys pass, and New was asked for %v", passed, rate)
		}
		for range 2 { // the second time, the numbers of generations at rest are known
			s := w.Stats()
			tolerance := 0.1 + 4/math.Sqrt(passed*asked)
			if f == bloom.Pebble {
				tolerance += 0.2 // Format.FalsePositiveRate says so
			}
			if ratio := s.FalsePositiveRate / passed; math.Abs(ratio-1) > tolerance {
				t.Errorf("Stats expects %.4f, and %.4f pass", s.FalsePositiveRate, passed)
			}
			if math.Abs(s.Keys-generations*keys) > 0.05*generations*keys || len(s.Generations) != generations {
				t.Errorf("Stats: %.0f keys", s.Keys)
			}
			for i, g := range s.Generations {
				if g.KeysUnknown || g.Fill < 0.05 || g.Fill > 0.7 || g.Fill != float64(g.SetBits)/float64(g.Bits) || math.Abs(g.Keys-keys) > 0.07*keys {
					t.Errorf("generation %d: %+v", i, g)
				}
			}
		}
		w.Rotate()
		if s := w.Stats(); s.Generations[0].Keys != 0 || s.Generations[0].Fill != 0 {
			t.Errorf("a new generation: %+v", s.Generations[0])
		}
		if w.AddUint64(1); w.Stats().Generations[0].SetBits == 0 {
			t.Error("Stats keeps the numbers of the newest generation")
		}
	})
}

// TestOptions wants the errors of New, and that one for a rate that the format cannot hold says what each generation needs.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Generations: 1, Keys: 10, Rate: 0.01}, bloom.ErrCapacity},
		{Options{Generations: 1025, Keys: 10, Rate: 0.01}, bloom.ErrCapacity},
		{Options{Generations: 2, Rate: 0.01}, bloom.ErrCapacity},
		{Options{Generations: 2, Keys: -1, Rate: 0.01}, bloom.ErrCapacity},
		{Options{Format: bloom.LevelDB, Generations: 2, Keys: math.MaxInt, Rate: 0.01}, bloom.ErrRate},
		{Options{Generations: 2, Keys: 10}, bloom.ErrRate},
		{Options{Generations: 2, Keys: 10, Rate: 1}, bloom.ErrRate},
		{Options{Generations: 2, Keys: 10, Rate: math.NaN()}, bloom.ErrRate},
		{Options{Format: 99, Generations: 2, Keys: 10, Rate: 0.01}, bloom.ErrFormat},
		{Options{Format: bloom.LevelDB, Generations: 100, Keys: 2_000_000, Rate: 0.001}, bloom.ErrRate},
		{Options{Generations: 1024, Keys: 1, Rate: 0.5}, nil},
	} {
		w, err := New(c.o)
		if !errors.Is(err, c.want) || (w == nil) != (err != nil) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	_, err := New(Options{Format: bloom.LevelDB, Generations: 100, Keys: 2_000_000, Rate: 0.001})
	if want := "a rate of 0.001 for 100 generations needs a rate of 5e-06 in each filter"; err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
		t.Errorf("the error is %v, and does not say %q", err, want)
	}
}

// TestZero wants a zero Window that holds nothing.
func TestZero(t *testing.T) {
	var w Window
	w.Rotate()
	if w.MayContain(nil) || w.MayContainString("") || w.MayContainUint64(0) || w.MayContainHash(bloom.Hash{}) || w.MayContainBatch(bloom.Integers([]int{1}), words(1)) != 0 {
		t.Error("it holds a key")
	}
	if s := w.Stats(); s.Generations != nil || w.Options() != (Options{}) {
		t.Errorf("Stats() = %+v", s)
	}
	if _, err := w.WriteTo(new(bytes.Buffer)); err == nil {
		t.Error("it has a file")
	}
}

// TestAllocates wants no memory for single keys.
func TestAllocates(t *testing.T) {
	w := mustNew(t, Options{Generations: 25, Keys: 1000, Rate: 0.01})
	one, text := []byte("a key of more than thirty-two bytes, as URLs are"), "a key of more than thirty-two bytes, as URLs are"+t.Name()
	for name, call := range map[string]func(){
		"TestAndAdd":       func() { w.TestAndAdd(one) },
		"TestAndAddString": func() { w.TestAndAddString(text) },
		"MayContainUint64": func() { w.MayContainUint64(1) },
		"MayContain":       func() { w.MayContain(one) },
		"Add":              func() { w.Add(one) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestFreesForgotten wants the memory of the oldest generation back after each rotation.
func TestFreesForgotten(t *testing.T) {
	w := mustNew(t, Options{Generations: 3, Keys: 1000, Rate: 0.01})
	last := func() weak.Pointer[generation] {
		generations := w.state.Load().generations
		return weak.Make(generations[len(generations)-1])
	}
	for range 5 {
		oldest := last()
		w.Rotate()
		runtime.GC()
		if oldest.Value() != nil {
			t.Fatal("a rotation keeps what it forgets")
		}
	}
	runtime.KeepAlive(w)
}
