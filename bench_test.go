package bloom

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/inturn"
	"github.com/lanebloom/bloom/internal/reference"
)

// The benchmarks compare a path with the reference, the loop that ports of LevelDB run. They
// time both in turn, as package inturn says. Each iteration is one round of both over the same
// keys. The metrics are medians over the rounds:
//
//	ns/key, keys/s  the speed of the path that the sub-benchmark names
//	x-ref           how many times faster that is than the reference
//	x-p10, x-p90    the spread of that ratio: its first and last decile

// inTurn runs reference and path in turn, each over the given number of keys.
func inTurn(b *testing.B, keys int, reference, path func()) {
	inturn.Run(b, "key", keys, "ref", inturn.Timed(reference), inturn.Timed(path))
}

// workload is a filter and a column of keys of which a given share is in it.
type workload struct {
	encoded []byte
	filter  *Filter
	keys    []uint64
	bytes   [][]byte // the same keys as their 8 little-endian bytes
}

var benchmarkSizes = []struct {
	name  string
	bytes int
}{{"16KiB", 16 << 10}, {"256KiB", 256 << 10}, {"1MiB", 1 << 20}, {"8MiB", 8 << 20}, {"64MiB", 64 << 20}, {"256MiB", 256 << 20}}

// queries is how many keys a round tests:
// too many for a branch predictor to learn from round to round.
const queries = 1 << 16

// eachWorkload runs a sub-benchmark for every filter size and share of hits.
// Filters have 10 bits per key.
func eachWorkload(b *testing.B, run func(b *testing.B, w *workload)) {
	eachMixture(b, []int{0, 50, 100}, run)
}

// eachMixture is eachWorkload for other shares of hits, in percent.
func eachMixture(b *testing.B, percents []int, run func(b *testing.B, w *workload)) {
	for _, size := range benchmarkSizes {
		b.Run("filter="+size.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, uint64(size.bytes)))
			known := make([]uint64, size.bytes*8/10)
			for i := range known {
				known[i] = random.Uint64()
			}
			encoded := Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Integers(known))
			for _, percent := range percents {
				b.Run(fmt.Sprintf("hits=%d%%", percent), func(b *testing.B) {
					run(b, newWorkload(b, encoded, known, percent, random))
				})
			}
		})
	}
}

func newWorkload(b *testing.B, encoded []byte, known []uint64, percent int, random *rand.Rand) *workload {
	filter, err := Open(LevelDB, encoded)
	if err != nil {
		b.Fatal(err)
	}
	w := &workload{encoded: encoded, filter: filter, keys: make([]uint64, queries), bytes: make([][]byte, queries)}
	data := make([]byte, 8*queries)
	for i := range w.keys {
		w.keys[i] = random.Uint64()
		if random.IntN(100) < percent {
			w.keys[i] = known[random.IntN(len(known))]
		}
		w.bytes[i] = data[8*i : 8*i+8 : 8*i+8]
		binary.LittleEndian.PutUint64(w.bytes[i], w.keys[i])
	}
	return w
}

// sink keeps the answers alive.
var sink int

// reference tests the keys with the loop of LevelDB's ports.
func (w *workload) reference() {
	hits := 0
	for _, key := range w.bytes {
		if reference.LevelDB(w.encoded, key) {
			hits++
		}
	}
	sink += hits
}

func BenchmarkMayContain(b *testing.B) {
	paths := []struct {
		name string
		run  func(w *workload) (hits int)
	}{
		{"Filter.MayContain", func(w *workload) (hits int) {
			for _, key := range w.bytes {
				if w.filter.MayContain(key) {
					hits++
				}
			}
			return hits
		}},
		{"Filter.MayContainUint64", func(w *workload) (hits int) {
			for _, key := range w.keys {
				if w.filter.MayContainUint64(key) {
					hits++
				}
			}
			return hits
		}},
		{"Policy.MayContain", func(w *workload) (hits int) {
			policy := Policy{Format: LevelDB, BitsPerKey: 10}
			for _, key := range w.bytes {
				if policy.MayContain(w.encoded, key) {
					hits++
				}
			}
			return hits
		}},
	}
	eachWorkload(b, func(b *testing.B, w *workload) {
		for _, path := range paths {
			b.Run("path="+path.name, func(b *testing.B) {
				inTurn(b, queries, w.reference, func() { sink += path.run(w) })
			})
		}
	})
}

// BenchmarkMayContainBatch tests the keys in batches.
func BenchmarkMayContainBatch(b *testing.B) {
	eachWorkload(b, func(b *testing.B, w *workload) {
		hits := make([]uint64, queries/64)
		for _, kernel := range Kernels() {
			filter, err := w.filter.WithKernel(kernel)
			if err != nil {
				b.Fatal(err)
			}
			for _, batch := range []int{1, 8, 16, 64, 256, 1 << 10, 64 << 10} {
				b.Run(fmt.Sprintf("kernel=%v/batch=%d", kernel, batch), func(b *testing.B) {
					inTurn(b, queries, w.reference, func() {
						for i := 0; i < queries; i += batch {
							sink += filter.MayContainBatch(Integers(w.keys[i:i+batch]), hits)
						}
					})
				})
			}
		}
	})
}

// BenchmarkLoads times independent loads of random bytes of an array: the cost of memory for
// a probe, whatever the code.
func BenchmarkLoads(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run("filter="+size.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(23, 24))
			data, indices := make([]byte, size.bytes), make([]uint32, queries)
			for i := range data {
				data[i] = byte(i)
			}
			for i := range indices {
				indices[i] = random.Uint32N(uint32(size.bytes))
			}
			load := func() {
				sum := 0
				for _, i := range indices {
					sum += int(data[i])
				}
				sink += sum
			}
			inTurn(b, queries, load, load)
		})
	}
}

// BenchmarkColumns tests columns of keys of several lengths in every layout,
// with a filter of 16 KiB.
func BenchmarkColumns(b *testing.B) {
	for _, lengths := range []struct{ from, to int }{{8, 32}, {16, 16}, {32, 32}, {1, 100}} {
		for _, percent := range []int{0, 100} {
			b.Run(fmt.Sprintf("keys=%d-%d/hits=%d%%", lengths.from, lengths.to, percent), func(b *testing.B) {
				random := rand.New(rand.NewPCG(15, 16))
				key := func() []byte {
					key := make([]byte, lengths.from+random.IntN(lengths.to-lengths.from+1))
					for i := range key {
						key[i] = byte(random.Uint32())
					}
					return key
				}
				known := make([][]byte, 16<<10*8/10)
				for i := range known {
					known[i] = key()
				}
				w := &workload{encoded: Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Bytes(known)), bytes: make([][]byte, queries)}
				for i := range w.bytes {
					w.bytes[i] = key()
					if random.IntN(100) < percent {
						w.bytes[i] = known[random.IntN(len(known))]
					}
				}
				w.columns(b)
			})
		}
	}
}

// columns runs a sub-benchmark for every kernel and layout of the keys.
func (w *workload) columns(b *testing.B) {
	hits := make([]uint64, queries/64)
	f, err := Open(LevelDB, w.encoded)
	if err != nil {
		b.Fatal(err)
	}
	for _, kernel := range Kernels() {
		filter, err := f.WithKernel(kernel)
		if err != nil {
			b.Fatal(err)
		}
		for _, layout := range layouts {
			if layout.width > 1 {
				continue // the integers have benchmarks of their own
			}
			if layout.width == 1 && slices.ContainsFunc(w.bytes, func(key []byte) bool { return len(key) != len(w.bytes[0]) }) {
				continue
			}
			column := layout.column(b, w.bytes)
			if column.hashed != noScheme && column.hashed != schemeLevelDB {
				continue
			}
			b.Run(fmt.Sprintf("kernel=%v/layout=%s", kernel, layout.name), func(b *testing.B) {
				inTurn(b, queries, w.reference, func() { sink += filter.MayContainBatch(column, hits) })
			})
		}
	}
}

// BenchmarkNori compares with the check that nori-sstable documents, for filters at 10 bits
// per key. The first has 100,000 keys, like the one in its documentation.
func BenchmarkNori(b *testing.B) {
	for _, n := range []int{100_000, 13_107, 838_861, 6_710_886} {
		for _, width := range []int{8, 16} {
			random := rand.New(rand.NewPCG(37, uint64(n)))
			data := make([]byte, width*(n+queries))
			for i := 0; i < len(data); i += 8 {
				binary.LittleEndian.PutUint64(data[i:], random.Uint64())
			}
			all := slices.Collect(slices.Chunk(data, width))
			encoded := Policy{Nori, 10}.AppendFilter(nil, Bytes(all[:n]))
			filter, err := Open(Nori, encoded)
			if err != nil {
				b.Fatal(err)
			}
			for _, hits := range []int{0, 50, 100} {
				asked := make([]byte, 0, width*queries)
				for i := range queries {
					key := all[n+i]
					if random.IntN(100) < hits {
						key = all[random.IntN(n)]
					}
					asked = append(asked, key...)
				}
				b.Run(fmt.Sprintf("keys=%d/bytes=%d/hits=%d%%", n, width, hits), func(b *testing.B) {
					benchmarkNori(b, filter, slices.Collect(slices.Chunk(asked, width)))
				})
			}
		}
	}
}

func benchmarkNori(b *testing.B, filter *Filter, keys [][]byte) {
	one := func(test func(key []byte) bool) func() {
		return func() {
			for _, key := range keys {
				if test(key) {
					sink++
				}
			}
		}
	}
	plain := one(func(key []byte) bool { return reference.Nori(filter.data, key) })
	b.Run("path=MayContain", func(b *testing.B) { inTurn(b, queries, plain, one(filter.MayContain)) })
	hits := make([]uint64, queries/64)
	numbers, names := make([]uint64, queries), make([]string, queries)
	for i, key := range keys {
		numbers[i] = binary.LittleEndian.Uint64(key)
		names[i] = unsafe.String(&key[0], len(key)) // side by side, as in a column
	}
	column := Strings(names)
	if len(keys[0]) == 8 {
		column = Integers(numbers)
	}
	for _, kernel := range kernels {
		f, err := filter.WithKernel(kernel)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("path=batch/kernel="+kernel.String(), func(b *testing.B) {
			inTurn(b, queries, plain, func() { sink += f.MayContainBatch(column, hits) })
		})
	}
}

// BenchmarkLines tests columns of 8-byte keys, and of their hashes, with filters of one line
// for each key, and builds such filters on one core. The reference is the plain reading of
// the format. compare/sidebyside has another library for Parquet.
func BenchmarkLines(b *testing.B) {
	for _, format := range []Format{Parquet, RocksDB, Pebble} {
		for _, size := range benchmarkSizes {
			if size.bytes == 256<<10 || size.bytes > 64<<20 {
				continue
			}
			random := rand.New(rand.NewPCG(39, uint64(size.bytes)))
			known := make([]uint64, size.bytes*8/10)
			for i := range known {
				known[i] = random.Uint64()
			}
			encoded := Policy{format, 10}.AppendFilter(nil, Integers(known))
			b.Run(fmt.Sprintf("format=%v/filter=%s", format, size.name), func(b *testing.B) {
				for _, percent := range []int{0, 100} {
					keys := make([]uint64, queries)
					for i := range keys {
						keys[i] = random.Uint64()
						if percent == 100 {
							keys[i] = known[random.IntN(len(known))]
						}
					}
					b.Run(fmt.Sprintf("hits=%d%%", percent), func(b *testing.B) { benchmarkLines(b, format, encoded, keys) })
				}
				benchmarkBuildingLines(b, format, known)
			})
		}
	}
}

func benchmarkLines(b *testing.B, format Format, encoded []byte, keys []uint64) {
	filter, err := Open(format, encoded)
	if err != nil {
		b.Fatal(err)
	}
	reference := func() {
		var key [8]byte
		for _, k := range keys {
			binary.LittleEndian.PutUint64(key[:], k)
			if Reference(format, encoded, key[:]) {
				sink++
			}
		}
	}
	b.Run("path=MayContainUint64", func(b *testing.B) {
		inTurn(b, len(keys), reference, func() {
			for _, key := range keys {
				if filter.MayContainUint64(key) {
					sink++
				}
			}
		})
	})
	hits := make([]uint64, len(keys)/64)
	for _, kernel := range kernels {
		f, err := filter.WithKernel(kernel)
		if err != nil {
			b.Fatal(err)
		}
		for i, column := range []Keys{Integers(keys), Integers(keys).Hashed(format)} {
			b.Run(fmt.Sprintf("path=batch/kernel=%v/hashed=%v", kernel, i == 1), func(b *testing.B) {
				inTurn(b, len(keys), reference, func() { sink += f.MayContainBatch(column, hits) })
			})
		}
	}
}

// BenchmarkNulls tests columns with random null rows, and makes filters of their keys. The
// reference is the same column without a bitmap. The filter has 1 MiB and 10 % of the rows are
// hits.
func BenchmarkNulls(b *testing.B) {
	for _, format := range []Format{LevelDB, Parquet} {
		for _, layout := range layouts {
			if layout.width != 0 && layout.width != 8 || layout.column(b, nil).hashed != noScheme {
				continue
			}
			random := rand.New(rand.NewPCG(47, 48))
			keys := make([][]byte, queries)
			for i := range keys {
				keys[i] = make([]byte, cmp.Or(layout.width, 8+random.IntN(25)))
				for j := range keys[i] {
					keys[i][j] = byte(random.Uint32())
				}
			}
			known := make([]uint64, 800<<10)
			for i := range known {
				known[i] = random.Uint64()
			}
			builder := Policy{format, 10}.NewBuilder()
			builder.AddBatch(Integers(known))
			builder.AddBatch(Bytes(keys[:len(keys)/10]))
			filter := builder.Filter()
			random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			column := layout.column(b, keys)
			for _, percent := range []int{0, 10, 50, 99} {
				bitmap := make([]byte, queries/8)
				for i := range queries {
					if random.IntN(100) >= percent {
						bitmap[i/8] |= 1 << (i % 8)
					}
				}
				benchmarkNulls(b, fmt.Sprintf("format=%v/layout=%s/nulls=%d%%", format, layout.name, percent), filter, column, bitmap)
			}
		}
	}
}

func benchmarkNulls(b *testing.B, name string, filter *Filter, column Keys, bitmap []byte) {
	with, err := column.WithValidity(bitmap, 0)
	if err != nil {
		b.Fatal(err)
	}
	hits := make([]uint64, queries/64)
	for _, kernel := range kernels {
		f, err := filter.WithKernel(kernel)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s/path=test/kernel=%v", name, kernel), func(b *testing.B) {
			inTurn(b, queries, func() { sink += f.MayContainBatch(column, hits) }, func() { sink += f.MayContainBatch(with, hits) })
		})
	}
	b.Run(name+"/path=build", func(b *testing.B) {
		builder := Policy{filter.Format(), 10}.NewBuilder()
		add := func(keys Keys) func() { return func() { builder.Reset(); builder.AddBatch(keys) } }
		inTurn(b, queries, add(column), add(with))
	})
}

// benchmarkBuildingLines compares each kernel with portable Go.
func benchmarkBuildingLines(b *testing.B, format Format, known []uint64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var dst []byte
	for _, kernel := range kernels {
		b.Run(fmt.Sprintf("build/kernel=%v", kernel), func(b *testing.B) {
			build := func(k Kernel) func() {
				return func() { dst = Policy{format, 10}.appendFilter(k, dst[:0], Integers(known)) }
			}
			inTurn(b, len(known), build(Generic), build(kernel))
		})
	}
}
