package bloom

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lanebloom/bloom/internal/reference"
)

// BenchmarkBuild builds filters of 8-byte keys: on one core and on all.
func BenchmarkBuild(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run("filter="+size.name, func(b *testing.B) {
			if size.bytes > 64<<20 {
				b.Skip("the reference alone would take half a minute a round")
			}
			w := &workload{}
			random := rand.New(rand.NewPCG(27, 28))
			n := size.bytes * 8 / 10
			data := make([]byte, 8*n)
			w.keys, w.bytes = make([]uint64, n), make([][]byte, n)
			for i := range w.keys {
				w.keys[i] = random.Uint64()
				w.bytes[i] = data[8*i : 8*i+8 : 8*i+8]
				binary.LittleEndian.PutUint64(w.bytes[i], w.keys[i])
			}
			var dst []byte
			for _, cores := range []int{1, runtime.NumCPU()} {
				b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
					inTurn(b, n, func() { sink += len(createLevelDB(w.bytes, 10)) }, func() {
						dst = Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(dst[:0], Integers(w.keys))
					})
				})
			}
		})
	}
}

// BenchmarkSingleAdds adds keys one by one to sets of 10 KiB: integers, and strings of 24 bytes and of 8 to
// 32. The reference adds them in portable Go. BenchmarkAdds of compare has other libraries beside it.
func BenchmarkSingleAdds(b *testing.B) {
	const keys = 1 << 13
	random := rand.New(rand.NewPCG(85, 86))
	integers, equal, mixed := make([]uint64, keys), make([]string, keys), make([]string, keys)
	for i := range integers {
		integers[i] = random.Uint64()
		equal[i] = fmt.Sprintf("%024x", integers[i])
		mixed[i] = equal[i][:8+random.IntN(17)] + equal[i][:random.IntN(9)]
	}
	ofTexts := func(texts []string, add func(s *Set, text string)) func(s *Set) {
		return func(s *Set) {
			for _, text := range texts {
				add(s, text)
			}
		}
	}
	ways := map[string]func(s *Set){
		"AddUint64": func(s *Set) {
			for _, key := range integers {
				s.AddUint64(key)
			}
		},
		"TestAndAddUint64": func(s *Set) {
			for _, key := range integers {
				s.TestAndAddUint64(key)
			}
		},
		"AddString-24":          ofTexts(equal, (*Set).AddString),
		"AddString-8-32":        ofTexts(mixed, (*Set).AddString),
		"TestAndAddString-8-32": ofTexts(mixed, func(s *Set, text string) { s.TestAndAddString(text) }),
	}
	for f := range formats {
		for _, name := range slices.Sorted(maps.Keys(ways)) {
			for _, kernel := range kernels {
				b.Run(fmt.Sprintf("format=%v/way=%s/kernel=%v", Format(f), name, kernel), func(b *testing.B) {
					run := func(kernel Kernel) func() {
						s := mustSet(b, Policy{Format(f), 10}, keys)
						s.setKernel(kernel)
						return func() {
							s.Clear()
							ways[name](s)
						}
					}
					inTurn(b, keys, run(Generic), run(kernel))
				})
			}
		}
	}
}

// BenchmarkTables tests a column of strings with the filters of 20 tables of 1,000 keys. It
// hashes the column for each filter, and once for all.
func BenchmarkTables(b *testing.B) {
	const tables, keysPerTable = 20, 1000
	random := rand.New(rand.NewPCG(33, 34))
	key := func() []byte { return fmt.Appendf(nil, "user%016x/profile", random.Uint64()) }
	var filters []*Filter
	for range tables {
		known := make([][]byte, keysPerTable)
		for i := range known {
			known[i] = key()
		}
		f, err := Open(LevelDB, Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Bytes(known)))
		if err != nil {
			b.Fatal(err)
		}
		filters = append(filters, f)
	}
	keys := make([][]byte, queries/16)
	for i := range keys {
		keys[i] = key()
	}
	hits := make([]uint64, len(keys)/64)
	reference := func() {
		for _, f := range filters {
			for _, key := range keys {
				if reference.LevelDB(f.data, key) {
					sink++
				}
			}
		}
	}
	for _, way := range []struct {
		name string
		run  func()
	}{
		{"column", func() {
			for _, f := range filters {
				sink += f.MayContainBatch(Bytes(keys), hits)
			}
		}},
		{"column-hashed-once", func() {
			hashed := Bytes(keys).Hashed(LevelDB)
			for _, f := range filters {
				sink += f.MayContainBatch(hashed, hits)
			}
		}},
		{"key", func() {
			for _, key := range keys {
				for _, f := range filters {
					if f.MayContain(key) {
						sink++
					}
				}
			}
		}},
		{"key-hashed-once", func() {
			for _, key := range keys {
				h := LevelDB.Hash(key)
				for _, f := range filters {
					if f.MayContainHash(h) {
						sink++
					}
				}
			}
		}},
	} {
		b.Run("way="+way.name, func(b *testing.B) { inTurn(b, tables*len(keys), reference, way.run) })
	}
}

// BenchmarkCores probes one filter from one goroutine and from one on every core.
func BenchmarkCores(b *testing.B) {
	eachMixture(b, []int{50}, func(b *testing.B, w *workload) {
		for _, cores := range []int{1, runtime.NumCPU()} {
			b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
				part := queries / cores
				inTurn(b, queries, w.reference, func() {
					var group waitGroup
					for c := range cores {
						group.Go(func() {
							w.filter.MayContainBatch(Integers(w.keys[c*part:(c+1)*part]), make([]uint64, part/64))
						})
					}
					group.Wait()
				})
			})
		}
	})
}

// BenchmarkHugePages probes a filter in memory with and without huge pages. The
// reference runs in the same memory.
func BenchmarkHugePages(b *testing.B) {
	eachMixture(b, []int{0, 100}, func(b *testing.B, w *workload) {
		if len(w.encoded) < farBytes {
			b.Skip("no huge pages for a filter of this size")
		}
		hits := make([]uint64, queries/64)
		for _, huge := range []bool{false, true} {
			data := w.encoded // the library allocated it
			if !huge {
				data = slices.Clone(data)
			}
			v := &workload{encoded: data, keys: w.keys, bytes: w.bytes}
			for _, kernel := range Kernels() {
				b.Run(fmt.Sprintf("huge=%v/kernel=%v", huge, kernel), func(b *testing.B) {
					f, err := Open(LevelDB, data)
					if err != nil {
						b.Fatal(err)
					}
					if f, err = f.WithKernel(kernel); err != nil {
						b.Fatal(err)
					}
					inTurn(b, queries, v.reference, func() { sink += f.MayContainBatch(Integers(v.keys), hits) })
				})
			}
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
	p := Policy{Format: Default, BitsPerKey: 10}
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
	ways := []struct {
		name  string
		alone bool // one goroutine only
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
		{"new-set", true, func(g int, keys []uint64) { s.TestAndAddBatch(Integers(keys), hits[g]) }},
		{"new-mutex", false, func(g int, keys []uint64) { mutex.Lock(); s.TestAndAddBatch(Integers(keys), hits[g]); mutex.Unlock() }},
		{"new-atomic", false, func(g int, keys []uint64) { a.TestAndAddBatch(Integers(keys), hits[g]) }},
	}
	times := make([][]float64, len(ways))
	for b.Loop() {
		for w, way := range ways {
			if way.alone && goroutines > 1 {
				continue
			}
			s.Clear()
			a.Clear()
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
	var group waitGroup
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

// BenchmarkFold halves a set of 64 MiB three times, beside a copy of it.
func BenchmarkFold(b *testing.B) {
	for _, format := range foldable {
		full, err := Policy{format, 8}.NewFoldable(1 << 26)
		if err != nil {
			b.Fatal(err)
		}
		random, keys := rand.New(rand.NewPCG(1, 2)), make([]uint64, 1<<20)
		for range 6 {
			for i := range keys {
				keys[i] = random.Uint64()
			}
			full.AddBatch(Integers(keys))
		}
		b.Run(fmt.Sprintf("format=%v", format), func(b *testing.B) {
			b.SetBytes(int64(len(full.data)))
			for b.Loop() {
				s := Set{full.view}
				if n, err := s.Fold(0.03); err != nil || n != 3 {
					b.Fatal(n, err)
				}
			}
		})
		b.Run(fmt.Sprintf("format=%v/copy", format), func(b *testing.B) {
			b.SetBytes(int64(len(full.data)))
			for b.Loop() {
				full.Clone()
			}
		})
	}
}
