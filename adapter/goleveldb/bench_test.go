package bloomgoleveldb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom/internal/inturn"
)

// The benchmarks compare goleveldb with its own filter, with this package's filter and
// without a filter, in turn inside one process. A round runs goleveldb with its own
// filter, then with the filter that the sub-benchmark names, and gives one ratio. The
// metrics are medians over the rounds:
//
//	ns/…          the time with the filter that the sub-benchmark names
//	x-own         how many times faster that is than with goleveldb's own filter
//	x-p10, x-p90  the spread of that ratio: its first and last decile

const (
	benchmarkKeys = 1_000_000
	valueBytes    = 100
	absentGets    = 10_000 // a round
)

var (
	own  = filter.NewBloomFilter(10)
	ours = NewBloomFilter(10)
)

// ways are the filters that the benchmarks compare with goleveldb's own. The first is
// the same filter, to show the noise.
var ways = []struct {
	name   string
	filter filter.Filter
}{{"own", own}, {"lanebloom", ours}, {"none", nil}}

// benchmarkKey returns key i, of 16 bytes. The database has the keys with even numbers.
func benchmarkKey(i int) []byte { return fmt.Appendf(nil, "key%013d", i) }

// level0 returns a folder with a database that is not compacted: its tables overlap.
// It writes the keys with even numbers in random order, with random values.
func level0(b *testing.B) string {
	b.Helper()
	folder := b.TempDir()
	db := openBenchmark(b, folder, opt.Options{})
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	value := make([]byte, valueBytes)
	for _, i := range random.Perm(benchmarkKeys) {
		for j := range value {
			value[j] = byte(random.Uint32())
		}
		if err := db.Put(benchmarkKey(2*i), value, nil); err != nil {
			b.Fatal(err)
		}
	}
	return folder
}

// openBenchmark opens a database that compacts only when told to.
func openBenchmark(b *testing.B, folder string, o opt.Options) *leveldb.DB {
	b.Helper()
	o.NoSync = true
	o.DisableSeeksCompaction = true
	o.CompactionL0Trigger = 1 << 20
	o.WriteL0SlowdownTrigger, o.WriteL0PauseTrigger = 1<<20, 1<<20
	db, err := leveldb.OpenFile(folder, &o)
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// compacted returns a folder with a compacted copy of a database, whose tables
// have the filters f.
func compacted(b *testing.B, from string, f filter.Filter) string {
	b.Helper()
	folder := b.TempDir()
	compact(b, from, folder, f)
	return folder
}

// compact copies a database to an empty folder and compacts it. It returns how
// long that took, without the copy.
func compact(b *testing.B, from, folder string, f filter.Filter) time.Duration {
	b.Helper()
	if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
		b.Fatal(err)
	}
	db := openBenchmark(b, folder, opt.Options{Filter: f})
	defer db.Close()
	var err error
	took := inturn.Timed(func() { err = db.CompactRange(util.Range{}) })()
	if err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkGetAbsent looks up absent keys in a compacted database of a million keys. A
// block cache of 1 MiB does not even hold the filters. A cache of 8 MiB, goleveldb's
// default, holds the filters and the indexes of the tables. The reference has a database of its
// own: a second look for the same keys finds the blocks of false positives in the cache.
func BenchmarkGetAbsent(b *testing.B) {
	from := level0(b)
	reference := compacted(b, from, own)
	folders := map[string]string{}
	for _, way := range ways {
		folders[way.name] = compacted(b, from, way.filter)
	}
	for _, cache := range []int{1, 8} {
		b.Run(fmt.Sprintf("cache=%dMiB", cache), func(b *testing.B) {
			random := rand.New(rand.NewPCG(3, 4))
			keys := make([][]byte, absentGets)
			getsOf := func(folder string, f filter.Filter) func() time.Duration {
				db := openBenchmark(b, folder, opt.Options{Filter: f, BlockCacheCapacity: cache << 20})
				b.Cleanup(func() { db.Close() })
				return inturn.Timed(func() {
					for _, key := range keys {
						if _, err := db.Get(key, nil); err != leveldb.ErrNotFound { //nolint:errorlint // goleveldb returns it as it is
							b.Fatalf("%s: found, or %v", key, err)
						}
					}
				})
			}
			gets := getsOf(reference, own)
			for _, way := range ways {
				path := getsOf(folders[way.name], way.filter)
				b.Run("filter="+way.name, func(b *testing.B) {
					inturn.Run(b, "get", absentGets, "own", func() time.Duration {
						for i := range keys { // new keys each round
							keys[i] = benchmarkKey(2*random.IntN(benchmarkKeys) + 1)
						}
						return gets()
					}, path)
				})
			}
		})
	}
}

// BenchmarkCompaction compacts a database of a million keys.
func BenchmarkCompaction(b *testing.B) {
	from := level0(b)
	run := func(f filter.Filter) time.Duration {
		folder := filepath.Join(b.TempDir(), "db")
		defer os.RemoveAll(folder)
		return compact(b, from, folder, f)
	}
	for _, way := range ways {
		b.Run("filter="+way.name, func(b *testing.B) {
			inturn.Run(b, "key", benchmarkKeys, "own",
				func() time.Duration { return run(own) },
				func() time.Duration { return run(way.filter) })
		})
	}
}

// recording is a filter that records the keys that a compaction adds to filters.
type recording struct {
	filter.Filter
	keys []byte
	ends []int   // of the keys
	sets [][]int // the ends of the keys of each filter
}

func (r *recording) NewGenerator() filter.FilterGenerator {
	return &recordingGenerator{r.Filter.NewGenerator(), r}
}

type recordingGenerator struct {
	filter.FilterGenerator
	*recording
}

func (g *recordingGenerator) Add(key []byte) {
	g.keys = append(g.keys, key...)
	g.ends = append(g.ends, len(g.keys))
	g.FilterGenerator.Add(key)
}

func (g *recordingGenerator) Generate(b filter.Buffer) {
	g.sets = append(g.sets, g.ends)
	g.ends = nil
	g.FilterGenerator.Generate(b)
}

// BenchmarkCompactionFilters makes only the filters of the same compaction: the same
// calls for the same keys, with a new generator for every 500 filters, about as many as
// a table has.
func BenchmarkCompactionFilters(b *testing.B) {
	r := &recording{Filter: own}
	compacted(b, level0(b), r)
	replay := func(f filter.Filter) func() time.Duration {
		return inturn.Timed(func() {
			start := 0
			for table := range slices.Chunk(r.sets, 500) {
				g := f.NewGenerator()
				var buffer util.Buffer
				for _, ends := range table {
					for _, end := range ends {
						g.Add(r.keys[start:end])
						start = end
					}
					g.Generate(&buffer)
				}
			}
		})
	}
	for _, way := range ways[:2] {
		b.Run("filter="+way.name, func(b *testing.B) {
			inturn.Run(b, "key", benchmarkKeys, "own", replay(own), replay(way.filter))
			b.ReportMetric(float64(benchmarkKeys)/float64(len(r.sets)), "keys/filter")
		})
	}
}
