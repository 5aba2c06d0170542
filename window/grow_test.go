package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom"
)

// ways are what adds a column of keys: one by one, or at once.
var ways = map[string]func(w *Window, keys []uint64){
	"AddUint64": func(w *Window, keys []uint64) {
		for _, k := range keys {
			w.AddUint64(k)
		}
	},
	"TestAndAddUint64": func(w *Window, keys []uint64) {
		for _, k := range keys {
			w.TestAndAddUint64(k)
		}
	},
	"AddBatch":        func(w *Window, keys []uint64) { w.AddBatch(bloom.Integers(keys)) },
	"TestAndAddBatch": func(w *Window, keys []uint64) { w.TestAndAddBatch(bloom.Integers(keys), words(len(keys))) },
}

var wayNames = []string{"AddBatch", "AddUint64", "TestAndAddBatch", "TestAndAddUint64"}

// keysFrom returns n keys of successive numbers.
func keysFrom(from, n int) []uint64 { return addition{from: from, n: n}.keys() }

// passing returns the share of absent keys to which the window answers yes.
func passing(w *Window, asked int) float64 {
	random := rand.New(rand.NewPCG(3, 4))
	column := make([]uint64, asked)
	for i := range column {
		column[i] = random.Uint64()
	}
	return float64(w.MayContainBatch(bloom.Integers(column), words(asked))) / float64(asked)
}

// TestRateInBursts wants the rate for as many keys as twice those that were planned for the whole window, in any order: spread
// over the generations, at random, or all in one. All of them are found.
func TestRateInBursts(t *testing.T) {
	total := *burstKeys
	if testing.Short() {
		total /= 10
	}
	random := rand.New(rand.NewPCG(5, 6))
	formats := []bloom.Format{bloom.RocksDB, bloom.RocksDB, bloom.BitsAndBlooms, bloom.Parquet, bloom.Guava}
	for round := 0; total > 0; round++ {
		o := Options{Format: formats[round%len(formats)], Generations: 2 + random.IntN(7), Keys: 1000 + random.IntN(1+min(total/8, 500_000)), Rate: 0.003 * float64(1+round%7)}
		w := mustNew(t, o)
		all, from, shape := 2*o.Generations*o.Keys, 0, round%3
		total -= all
		for g := range o.Generations {
			if g > 0 {
				w.Rotate()
			}
			part := all / o.Generations
			switch {
			case shape == 1: // at random
				part = random.IntN(all - from + 1)
			case shape == 2: // all at once
				part = 0
			}
			if g == o.Generations-1 || shape == 2 && random.IntN(3) == 0 {
				part = all - from
			}
			for end := from + part; from < end; {
				n := min(1+random.IntN(2*o.Keys), end-from)
				ways[wayNames[random.IntN(len(ways))]](w, keysFrom(from, n))
				from += n
			}
		}
		if n := w.MayContainBatch(bloom.Integers(keysFrom(0, all)), words(all)); n != all {
			t.Fatalf("%+v: %d of %d keys", o, n, all)
		}
		const asked = 400_000
		sets := 0
		s := w.Stats()
		for _, g := range s.Generations {
			sets += g.Sets
		}
		rate := passing(w, asked)
		if rate > 1.2*o.Rate+4*math.Sqrt(o.Rate/asked) || sets > 2*o.Generations+o.Generations || s.Over {
			t.Errorf("%+v, order %d: a rate of %.4f, %d sets, over %v", o, shape, rate, sets, s.Over)
		}
		if testing.Verbose() {
			t.Logf("%+v, order %d: %.3f of the rate, %d sets", o, shape, rate/o.Rate, sets)
		}
	}
}

// TestRepeats wants two sets at most for 1.1 times the planned keys, however often each of them comes.
func TestRepeats(t *testing.T) {
	for _, keys := range []int{300, 20_000} {
		for name, add := range ways {
			w := mustNew(t, Options{Generations: 3, Keys: keys, Rate: 0.01})
			random := rand.New(rand.NewPCG(1, uint64(keys)))
			column := make([]uint64, keys*11/10)
			for range 45 {
				for i := range column {
					column[i] = key(random.IntN(len(column)))
				}
				add(w, column)
			}
			s := w.Stats()
			if g := s.Generations[0]; g.Sets > 2 || math.Abs(g.Keys/float64(len(column))-1) > 0.1 || s.FalsePositiveRate > 0.01 {
				t.Errorf("%s, %d keys: %+v", name, keys, g)
			}
		}
	}
}

// TestOver wants no more bytes than MaxBytes and all keys found if there are too many. All sets are about as full then, so that the
// rate is as low as it can be, and Stats reports it until the generation is forgotten.
func TestOver(t *testing.T) {
	for name, add := range ways {
		o := Options{Generations: 3, Keys: 5000, Rate: 0.01}
		planned, err := o.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		o.MaxBytes = planned * 5 / 3 // five sets, and two of them are for the other generations
		w := mustNew(t, o)
		n := 3 * o.Keys
		add(w, keysFrom(0, n*95/100))
		if s := w.Stats(); s.Over || s.Generations[0].Sets != 3 || s.Bytes != planned {
			t.Errorf("%s: %+v", name, s)
		}
		add(w, keysFrom(n*95/100, 4*n))
		s := w.Stats()
		if !s.Over || s.Bytes > o.MaxBytes || s.Generations[0].Sets != 3 {
			t.Errorf("%s, with too many keys: %+v", name, s)
		}
		if w.spare.Load() != nil {
			t.Errorf("%s: a spare set, and MaxBytes has no room for it", name)
		}
		least, most := math.Inf(1), 0.0
		for _, set := range w.state.Load().generations[0].sets {
			least, most = min(least, set.load()), max(most, set.load())
		}
		if most > 1.2*least {
			t.Errorf("%s: one set has %.2f times its keys, and another %.2f", name, most, least)
		}
		for range 2 {
			w.Rotate()
			if s := w.Stats(); !s.Over || s.Bytes > o.MaxBytes {
				t.Errorf("%s, after a rotation: %+v", name, s)
			}
			if n := w.MayContainBatch(bloom.Integers(keysFrom(0, 4*n)), words(4*n)); n != 4*3*o.Keys {
				t.Errorf("%s: %d keys", name, n)
			}
		}
		if w.Rotate(); w.Stats().Over {
			t.Errorf("%s: what was too much is forgotten, and Stats does not know", name)
		}
	}
	if _, err := New(Options{Generations: 3, Keys: 5000, Rate: 0.01, MaxBytes: 1000}); err == nil {
		t.Error("no error for too few bytes")
	}
}

// TestResize wants the new size for the sets that begin, and only for them.
func TestResize(t *testing.T) {
	o := Options{Generations: 3, Keys: 1000, Rate: 0.01}
	w := mustNew(t, o)
	size := func() int64 { return w.state.Load().newest.plan.bytes() }
	before := size()
	w.AddBatch(bloom.Integers(keysFrom(0, 900)))
	if err := w.Resize(10_000); err != nil || size() != before || w.Options().Keys != 10_000 {
		t.Fatalf("%v, %d bytes, %+v", err, size(), w.Options())
	}
	w.AddBatch(bloom.Integers(keysFrom(900, 5000)))
	if g := w.Stats().Generations[0]; g.Sets != 2 || size() < 9*before {
		t.Errorf("a full generation gets a set of %d bytes: %+v", size(), g)
	}
	w.Rotate()
	late := mustMake(w.state.Load().plan)
	if err := w.Resize(100); err != nil {
		t.Fatal(err)
	}
	w.spare.Store(late) // as one that another goroutine was making
	w.Rotate()
	if size() > before/5 {
		t.Errorf("a new generation gets a set of %d bytes", size())
	}
	if n := w.MayContainBatch(bloom.Integers(keysFrom(0, 5900)), words(5900)); n != 5900 {
		t.Errorf("%d of 5900 keys", n)
	}
	for _, keys := range []int{0, -1, math.MaxInt} {
		if err := w.Resize(keys); err == nil || w.Options().Keys != 100 {
			t.Errorf("%d keys: no error", keys)
		}
	}
	w = mustNew(t, o)
	w.AddBatch(bloom.Integers(keysFrom(0, 20_000)))
	if s := w.Stats(); !s.Over || w.Resize(100_000) != nil {
		t.Fatalf("%+v", s)
	}
	w.AddBatch(bloom.Integers(keysFrom(20_000, 100_000)))
	if s := w.Stats(); !s.Over || s.Generations[0].Bytes < 50*before || s.Generations[0].Keys < 80_000 {
		t.Errorf("a generation that was over gets no larger set: %+v", s)
	}
	if new(Window).Resize(1) == nil {
		t.Error("the zero Window has a size")
	}
}

// TestReuse wants rotations to use the memory of what they forget, and no key of it.
func TestReuse(t *testing.T) {
	w := mustNew(t, Options{Generations: 3, Keys: 1000, Rate: 1e-4})
	seen := map[*bloom.AtomicSet]bool{}
	for i := range 40 {
		if n := w.MayContainBatch(bloom.Integers(keysFrom(1000*i, 1000)), words(1000)); n > 5 {
			t.Fatalf("rotation %d: %d keys are there that nobody has added", i, n)
		}
		w.AddBatch(bloom.Integers(keysFrom(1000*i, 800)))
		seen[w.state.Load().newest.AtomicSet] = true
		w.Rotate()
	}
	if len(seen) > 5 {
		t.Errorf("40 rotations use %d sets", len(seen))
	}
}

// TestExpected compares the bits that a set is expected to have with those that its keys set, in each format. The sample of a
// large set has their share.
func TestExpected(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		for _, keys := range []int{2000, 100_000} {
			if f == bloom.LevelDB && keys > 2000 {
				continue // no such rate
			}
			p, err := Options{Format: f, Generations: 4, Keys: keys, Rate: 0.05}.plan()
			if err != nil {
				t.Fatal(err)
			}
			s := mustMake(p)
			s.AddBatch(bloom.Integers(keysFrom(0, keys/2)))
			if half := s.fill(few); math.Abs(half/p.half-1) > 0.05 {
				t.Errorf("half of %d keys: %.4f of the bits, expected %.4f", keys, half, p.half)
			}
			s.AddBatch(bloom.Integers(keysFrom(keys/2, keys/2)))
			if full := s.fill(few); math.Abs(full*slack/p.full-1) > 0.03 || math.Abs(slack*s.load()-1) > 0.06 {
				t.Errorf("%d keys: %.4f of the bits, expected %.4f, %.3f full", keys, full, p.full, s.load())
			}
		}
	})
}

// TestRuns compares the runs of clear bits with the bits.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := random.IntN(300)
		has, got, at := words(n+64), words(n+64), 0
		for i := range n {
			if random.IntN(1+n/50)/(1+random.IntN(3)) > 0 {
				has[i/64] |= 1 << (i % 64)
			}
		}
		eachRun(has, n, func(i, j int) {
			if i < at || i >= j || j > n || i > 0 && i == at {
				t.Fatalf("the run [%d:%d] of %d, after %d", i, j, n, at)
			}
			for k := i; k < j; k++ {
				got[k/64] |= 1 << (k % 64)
			}
			at = j
		})
		for i := range n {
			if (has[i/64]^got[i/64])>>(i%64)&1 == 0 {
				t.Fatalf("row %d of %d: %s", i, n, fmt.Sprintf("%x %x", has, got))
			}
		}
	}
}
