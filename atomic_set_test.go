package bloom

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanebloom/bloom/internal/golden"
)

// TestAtomicSet adds keys from many goroutines, in every way, while others query. A key whose
// addition has returned must be found, in every way too, and at the end the bytes must be
// those of a Set. It is for the race detector as well.
func TestAtomicSet(t *testing.T) {
	is(t, behaviour)
	const goroutines, each = 8, 100
	keys := golden.Mixed.Range(0, goroutines*each)
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		want := mustSet(t, p, len(keys))
		want.AddBatch(Bytes(keys))
		for _, kernel := range kernels {
			t.Run("kernel="+kernel.String(), func(t *testing.T) {
				s, err := mustAtomicSet(t, p, len(keys)).WithKernel(kernel)
				if err != nil || s.view.kernel != kernel || s.Format() != format {
					t.Fatal(err)
				}
				var group sync.WaitGroup
				for g := range goroutines {
					own := keys[g*each:][:each]
					group.Go(func() { addAndFind(t, s, own, g) })
				}
				for range 2 {
					group.Go(func() {
						for range 5 {
							s.MayContainBatch(Bytes(keys), make([]uint64, len(keys)/64+1))
							if !isSubset(s.Snapshot(), want) {
								t.Error("a snapshot has a bit of no key")
							}
						}
					})
				}
				group.Wait()
				if got := s.Snapshot(); !got.Equal(want) {
					t.Error("the bytes differ from those of a Set")
				}
			})
		}
	})
}

// addAndFind adds keys in the way of number g, and looks for each in all ways.
func addAndFind(t *testing.T, s *AtomicSet, keys [][]byte, g int) {
	hits := make([]uint64, (len(keys)+63)/64)
	for i := 0; i < len(keys); i += 25 {
		part := keys[i : i+25]
		switch g % 4 {
		case 0:
			s.AddBatch(Bytes(part))
		case 1:
			s.AddBatchNew(Bytes(part).Hashed(s.Format()), hits)
		case 2:
			for _, key := range part {
				s.AddHash(s.Format().Hash(key))
			}
		default:
			for _, key := range part {
				s.TestAndAdd(key)
			}
		}
		for _, key := range part {
			if !s.MayContain(key) || !s.MayContainString(string(key)) || !s.MayContainHash(s.Format().Hash(key)) {
				t.Errorf("key %x is missing", key)
			}
		}
		column := Bytes(keys[:i+25])
		if n := s.MayContainBatch(column, hits); n != i+25 {
			t.Errorf("%d keys of %d are found", n, i+25)
		}
	}
}

// isSubset reports whether every bit of s is one of t.
func isSubset(s, t *Set) bool {
	for i, b := range s.data {
		if b&^t.data[i] != 0 {
			return false
		}
	}
	return true
}

// TestAtomicNew adds the same keys from many goroutines at once. At least one of them must
// learn that a key is new, but for keys that are false positives: a Set's.
func TestAtomicNew(t *testing.T) {
	is(t, behaviour)
	const goroutines, n = 4, 500
	keys := golden.Mixed.Range(0, n)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 100}, n) // hardly a false positive
		var news [n]atomic.Int32
		var group sync.WaitGroup
		for g := range goroutines {
			group.Go(func() {
				added := make([]uint64, 1)
				for i := 0; i < n; i += 25 {
					if g%2 == 0 {
						s.AddBatchNew(Bytes(keys[i:i+25]), added)
						for rest := added[0]; rest != 0; rest &= rest - 1 {
							news[i+bits.TrailingZeros64(rest)].Add(1)
						}
						continue
					}
					for j := range 25 {
						if !s.TestAndAdd(keys[i+j]) {
							news[i+j].Add(1)
						}
					}
				}
			})
		}
		group.Wait()
		model := mustSet(t, Policy{format, 100}, n)
		for i, key := range keys {
			if old := model.TestAndAdd(key); news[i].Load() == 0 && !old && !otherHas(format, keys, i) {
				t.Errorf("key %d is new to no goroutine", i)
			}
		}
	})
}

// otherHas reports whether the other keys have all bits of key i.
func otherHas(format Format, keys [][]byte, i int) bool {
	f := Policy{format, 100}.NewFilter(Bytes(slices.Delete(slices.Clone(keys), i, i+1)))
	return f.MayContain(keys[i])
}

// TestAtomicQueries compares the queries that the race detector sees, key by key with atomic
// loads, with the reference. Builds without the detector have them only here.
func TestAtomicQueries(t *testing.T) {
	is(t, behaviour)
	keys := golden.Mixed.Range(0, 700)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 3}, 350)
		s.AddBatch(Bytes(keys[:350]))
		encoded := s.Snapshot().data
		hits := make([]uint64, len(keys)/64+1)
		column := must(t)(Bytes(keys).WithValidity(slices.Repeat([]byte{0xf7}, 90), 0))
		total := s.view.testEachRow(&column, hits, false)
		for i, key := range keys {
			want := Reference(format, encoded, key)
			if got := s.view.testHashAtomic(format.Hash(key)); got != want {
				t.Fatalf("key %d: testHashAtomic = %v", i, got)
			}
			if got := hits[i/64]>>(i%64)&1 != 0; got != (want && i%8 != 3) {
				t.Fatalf("key %d: testEachRow = %v", i, got)
			}
			if want && i%8 != 3 {
				total--
			}
		}
		if total != 0 {
			t.Errorf("testEachRow returns %d hits too many", total)
		}
	})
}

// TestAtomicRegions adds a column by workers that set bits region by region, from two
// goroutines at once.
func TestAtomicRegions(t *testing.T) {
	is(t, behaviour)
	keys := golden.Mixed.Range(0, 3000)
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		s, want := mustAtomicSet(t, p, 1<<18), mustSet(t, p, 1<<18) // several regions
		want.AddBatch(Bytes(keys))
		var group sync.WaitGroup
		group.Go(func() { s.view.addByRegion(Bytes(keys), 2) })
		group.Go(func() { s.view.addByRegion(Bytes(keys[:2000]), 2) })
		group.Wait()
		if !s.Snapshot().Equal(want) {
			t.Error("the bytes differ from those of a Set")
		}
	})
}

// TestAtomicText wants a line from String, and JSON that a Set reads.
func TestAtomicText(t *testing.T) {
	is(t, behaviour)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 10}, 100)
		s.AddString("hello")
		if got, want := fmt.Sprint(s), fmt.Sprint(s.Snapshot()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var read Set
		if err := json.Unmarshal(text, &read); err != nil || !read.Equal(s.Snapshot()) {
			t.Errorf("JSON gives another set: %v", err)
		}
	})
}

// TestAtomicAssembly wants no assembly to add keys, because it is not atomic: it would lose
// bits of other goroutines, but too seldom for a test to see.
func TestAtomicAssembly(t *testing.T) {
	is(t, behaviour)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 10}, windowKeys)
		h := newHashes(hashKinds[format.hash()].words)
		if s.view.addAssembly(&h) {
			t.Error("assembly has added keys")
		}
	})
}

// BenchmarkAtomicSet adds keys to an AtomicSet, and beside it to a Set under a mutex; one
// goroutine also adds them to a Set. All keys are new, and those of the queries absent. It
// reports the median of each over the rounds.
func BenchmarkAtomicSet(b *testing.B) {
	for _, size := range []int{10_000, 1_000_000} {
		for goroutines := 1; goroutines <= 2; goroutines++ {
			b.Run(fmt.Sprintf("keys=%d/goroutines=%d", size, goroutines), func(b *testing.B) {
				benchmarkAtomicSet(b, size, goroutines)
			})
		}
	}
}

func benchmarkAtomicSet(b *testing.B, size, goroutines int) {
	random := rand.New(rand.NewPCG(71, 72))
	keys := make([]uint64, size)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	p := Policy{BitsPerKey: 10}
	hits := make([][]uint64, goroutines)
	for g := range hits {
		hits[g] = make([]uint64, size/64+1)
	}
	s, a := mustSet(b, p, size), mustAtomicSet(b, p, size)
	var mutex sync.RWMutex
	each := func(add func(key uint64)) func(int, []uint64) {
		return func(_ int, keys []uint64) {
			for _, key := range keys {
				add(key)
			}
		}
	}
	clearAtomic := func() {
		for i := range a.bits {
			a.bits[i] = 0
		}
	}
	ways := []struct {
		name  string
		alone bool // not for several goroutines
		run   func(g int, keys []uint64)
	}{
		{"add-set", true, each(s.AddUint64)},
		{"add-mutex", false, each(func(key uint64) { mutex.Lock(); s.AddUint64(key); mutex.Unlock() })},
		{"add-atomic", false, each(a.AddUint64)},
		{"query-set", true, each(func(key uint64) { s.MayContainUint64(key) })},
		{"query-mutex", false, each(func(key uint64) { mutex.RLock(); s.MayContainUint64(key); mutex.RUnlock() })},
		{"query-atomic", false, each(func(key uint64) { a.MayContainUint64(key) })},
		{"batch-set", true, func(_ int, keys []uint64) { s.AddBatch(Integers(keys)) }},
		{"batch-mutex", false, func(_ int, keys []uint64) { mutex.Lock(); s.AddBatch(Integers(keys)); mutex.Unlock() }},
		{"batch-atomic", false, func(_ int, keys []uint64) { a.AddBatch(Integers(keys)) }},
		{"new-set", true, func(g int, keys []uint64) { s.AddBatchNew(Integers(keys), hits[g]) }},
		{"new-mutex", false, func(g int, keys []uint64) { mutex.Lock(); s.AddBatchNew(Integers(keys), hits[g]); mutex.Unlock() }},
		{"new-atomic", false, func(g int, keys []uint64) { a.AddBatchNew(Integers(keys), hits[g]) }},
	}
	times := make([][]float64, len(ways))
	for b.Loop() {
		for w, way := range ways {
			if way.alone && goroutines > 1 {
				continue
			}
			s.Clear()
			clearAtomic()
			times[w] = append(times[w], timeGoroutines(goroutines, keys, way.run))
		}
	}
	b.ReportMetric(0, "ns/op")
	for w, way := range ways {
		if len(times[w]) > 0 {
			slices.Sort(times[w])
			b.ReportMetric(times[w][len(times[w])/2], way.name+"-ns/key")
		}
	}
}

// timeGoroutines returns the nanoseconds a key takes if goroutines share the keys.
func timeGoroutines(goroutines int, keys []uint64, run func(g int, keys []uint64)) float64 {
	start := time.Now()
	var group sync.WaitGroup
	share := len(keys) / goroutines
	for g := range goroutines {
		group.Go(func() {
			for rest := keys[g*share:][:share]; len(rest) > 0; {
				n := min(len(rest), windowKeys)
				run(g, rest[:n])
				rest = rest[n:]
			}
		})
	}
	group.Wait()
	return float64(time.Since(start).Nanoseconds()) / float64(len(keys))
}
