package bloom

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/lanebloom/bloom/internal/inturn"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/probes"
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

// workload is a filter and a column of keys, a given share of them in it.
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

// BenchmarkSingles tests single keys of 8 bytes in every form, and BenchmarkSmallBatches in
// batches of 1 to 8. None should take longer than the plain loop of the format: the reference.
func BenchmarkSingles(b *testing.B) {
	eachSmall(b, func(b *testing.B, w *small) {
		hashes := make([]Hash, len(w.bytes))
		for i, key := range w.bytes {
			hashes[i] = w.format.Hash(key)
		}
		for _, form := range []struct {
			name string
			run  func(f *Filter, from, to int) (hits uint64)
		}{
			{"MayContain", w.mayContain},
			{"MayContainString", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.strings[from:to] {
					hits += probes.OneIf(f.MayContainString(key))
				}
				return hits
			}},
			{"MayContainUint64", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.keys[from:to] {
					hits += probes.OneIf(f.MayContainUint64(key))
				}
				return hits
			}},
			{"MayContainHash", func(f *Filter, from, to int) (hits uint64) {
				for _, h := range hashes[from:to] {
					hits += probes.OneIf(f.MayContainHash(h))
				}
				return hits
			}},
			{"Policy.MayContain", w.policyMayContain},
		} {
			for _, kernel := range kernels {
				if form.name == "Policy.MayContain" && kernel != kernels[0] {
					continue // it has no choice
				}
				b.Run(fmt.Sprintf("form=%s/kernel=%v", form.name, kernel), func(b *testing.B) {
					w.inTurn(b, kernel, form.run)
				})
			}
		}
	})
}

func BenchmarkSmallBatches(b *testing.B) {
	eachSmall(b, func(b *testing.B, w *small) {
		hits := make([]uint64, 1)
		for _, batch := range []int{1, 2, 4, 8, 15, 16, 32} {
			for _, column := range []struct {
				keys string
				run  func(f *Filter, from, to int) (n uint64)
			}{
				{"uint64", func(f *Filter, from, to int) (n uint64) {
					for ; from < to; from += batch {
						n += uint64(f.MayContainBatch(Integers(w.keys[from:min(from+batch, to)]), hits))
					}
					return n
				}},
				{"bytes", func(f *Filter, from, to int) (n uint64) {
					for ; from < to; from += batch {
						n += uint64(f.MayContainBatch(Bytes(w.bytes[from:min(from+batch, to)]), hits))
					}
					return n
				}},
				{"string", func(f *Filter, from, to int) (n uint64) {
					for ; from < to; from += batch {
						n += uint64(f.MayContainBatch(Strings(w.strings[from:min(from+batch, to)]), hits))
					}
					return n
				}},
			} {
				for _, kernel := range kernels {
					b.Run(fmt.Sprintf("kernel=%v/keys=%s/batch=%d", kernel, column.keys, batch), func(b *testing.B) {
						w.inTurn(b, kernel, column.run)
					})
				}
			}
		}
	})
}

// BenchmarkSingleStrings hashes and tests single keys that lie side by side, or anywhere in memory: one of
// millions, as in the map of a program.
func BenchmarkSingleStrings(b *testing.B) {
	const all, near = 8 << 20, 8 << 10
	for _, lengths := range []struct{ from, to int }{{8, 8}, {8, 32}, {36, 36}, {0, 12}} {
		b.Run(fmt.Sprintf("keys=%d-%d", lengths.from, lengths.to), func(b *testing.B) {
			random := rand.New(rand.NewPCG(81, 82))
			data, keys := make([]byte, 8+all*(lengths.from+lengths.to+1)/2), make([][]byte, all)
			for i := 0; i < len(data)-8; i += 8 {
				binary.LittleEndian.PutUint64(data[i:], random.Uint64())
			}
			for i := range keys {
				n := min(lengths.from+random.IntN(lengths.to-lengths.from+1), len(data))
				keys[i], data = data[:n:n], data[n:]
			}
			b.Run("place=near", func(b *testing.B) { singleStrings(b, keys, near) })
			b.Run("place=far", func(b *testing.B) {
				random.Shuffle(all, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				singleStrings(b, keys, all)
			})
		})
	}
}

// singleStrings runs a sub-benchmark for every format, filter size, share of hits and form. It looks up at
// most most keys.
func singleStrings(b *testing.B, keys [][]byte, most int) {
	for f := range formats {
		b.Run(fmt.Sprintf("format=%v", Format(f)), func(b *testing.B) {
			w := &small{format: Format(f), bytes: keys[:most]}
			b.Run("form=Hash", w.hash)
			for _, size := range benchmarkSizes[:4] {
				known := size.bytes * 8 / 10 &^ (1<<11 - 1)
				w.encoded = Policy{w.format, 10}.AppendFilter(nil, Bytes(keys[:known]))
				for percent, asked := range map[int][][]byte{0: keys[known:], 100: keys[:known]} {
					w.bytes = asked[:min(most, len(asked))]
					name := fmt.Sprintf("filter=%s/hits=%d%%", size.name, percent)
					for _, kernel := range kernels {
						b.Run(fmt.Sprintf("%s/form=MayContain/kernel=%v", name, kernel), func(b *testing.B) { w.inTurn(b, kernel, w.mayContain) })
					}
					b.Run(name+"/form=Policy.MayContain", func(b *testing.B) { w.inTurn(b, Generic, w.policyMayContain) })
				}
			}
		})
	}
}

// hash compares Format.Hash with the plain reading of the hash.
func (w *small) hash(b *testing.B) {
	s := w.format.scheme()
	w.parts(b, func(keys [][]byte) {
		for _, key := range keys {
			h := referenceWords(s, key)
			sink += int(h[0] + h[1])
		}
	}, func(from, to int) {
		for _, key := range w.bytes[from:to] {
			h := w.format.Hash(key)
			sink += int(h.h1 + h.h2)
		}
	})
}

func (w *small) mayContain(f *Filter, from, to int) (hits uint64) {
	for _, key := range w.bytes[from:to] {
		hits += probes.OneIf(f.MayContain(key))
	}
	return hits
}

func (w *small) policyMayContain(f *Filter, from, to int) (hits uint64) {
	policy := Policy{w.format, 10}
	for _, key := range w.bytes[from:to] {
		hits += probes.OneIf(policy.MayContain(f.data, key))
	}
	return hits
}

// small is an encoded filter and keys that are asked for few at a time.
type small struct {
	format  Format
	encoded []byte
	keys    []uint64
	bytes   [][]byte // the same keys
	strings []string
}

// eachSmall runs a sub-benchmark for every format, filter size and share of hits.
func eachSmall(b *testing.B, run func(b *testing.B, w *small)) {
	for f := range formats {
		for _, size := range benchmarkSizes {
			b.Run(fmt.Sprintf("format=%v/filter=%s", Format(f), size.name), func(b *testing.B) {
				known := uint64(size.bytes * 8 / 10)
				w := &small{format: Format(f), encoded: encodedSmall(b, Policy{Format(f), 10}, known)}
				random := rand.New(rand.NewPCG(71, known))
				for _, percent := range []int{0, 50, 100} {
					// As many keys as the filter has lines, so that large filters do not stay in a cache.
					n := min(max(queries/4, size.bytes/memory.CacheLine), 1<<20)
					w.keys, w.bytes, w.strings = make([]uint64, n), make([][]byte, n), make([]string, n)
					data := make([]byte, 8*n)
					for i := range w.keys {
						w.keys[i] = smallKey(known + random.Uint64N(known))
						if random.IntN(100) < percent {
							w.keys[i] = smallKey(random.Uint64N(known))
						}
						w.bytes[i] = data[8*i:][:8:8]
						binary.LittleEndian.PutUint64(w.bytes[i], w.keys[i])
						w.strings[i] = string(w.bytes[i])
					}
					b.Run(fmt.Sprintf("hits=%d%%", percent), func(b *testing.B) { run(b, w) })
				}
			})
		}
	}
}

// encodedSmall returns the encoded filter of the first n keys.
func encodedSmall(b *testing.B, policy Policy, n uint64) []byte {
	set, err := policy.NewSet(int(n))
	if err != nil {
		b.Fatal(err)
	}
	part := make([]uint64, 0, 1<<20)
	for i := range n {
		part = append(part, smallKey(i))
		if len(part) == cap(part) || i == n-1 {
			set.AddBatch(Integers(part))
			part = part[:0]
		}
	}
	return set.data
}

// smallKey returns key i. All differ, and those of a large filter need no memory.
func smallKey(i uint64) uint64 { return keyhash.XXH64Uint64(i) }

// inTurn compares a test of the keys [from, to) with the plain loop.
func (w *small) inTurn(b *testing.B, kernel Kernel, test func(f *Filter, from, to int) uint64) {
	f, err := Open(w.format, w.encoded)
	if err == nil {
		f, err = f.WithKernel(kernel)
	}
	if err != nil {
		b.Fatal(err)
	}
	w.parts(b, func(keys [][]byte) {
		for _, key := range keys {
			if Reference(w.format, w.encoded, key) {
				sink++
			}
		}
	}, func(from, to int) { sink += int(test(f, from, to)) })
}

// parts compares the path over the keys [from, to) with the reference. A round is short, so that what slows the machine down meets
// both. It takes other keys than the round before, and those of the reference are half of all keys away.
func (w *small) parts(b *testing.B, reference func(keys [][]byte), path func(from, to int)) {
	const step = 1 << 10
	at := 0
	inTurn(b, step, func() {
		at = (at + step) % len(w.bytes)
		reference(w.bytes[at:][:step])
	}, func() {
		from := (at + len(w.bytes)/2) % len(w.bytes)
		path(from, from+step)
	})
}

// BenchmarkHash hashes columns of keys: every hash by every kernel. The reference is portable Go.
func BenchmarkHash(b *testing.B) {
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		const near, far = 1 << 14, 1 << 17 // keys
		for _, lengths := range []struct{ from, to, keys int }{
			{2, 2, near}, {4, 4, near}, {6, 6, near}, {8, 8, near}, {12, 12, near}, {16, 16, near}, {20, 20, near}, {24, 24, near},
			{36, 36, near}, {36, 36, far}, {64, 64, near}, {0, 12, near}, {8, 32, near}, {8, 32, far}, {4, 100, near}, {17, 128, near}, {1000, 1000, near},
		} {
			random := rand.New(rand.NewPCG(15, 16))
			keys := make([][]byte, lengths.keys)
			for i := range keys {
				keys[i] = make([]byte, lengths.from+random.IntN(lengths.to-lengths.from+1))
			}
			for name, column := range hashedColumns(b, keys, lengths.from == lengths.to) {
				hash := func(kernel Kernel) func() {
					room := new(window).hashes(schemes[s].words, windowKeys)
					return func() {
						for i := 0; i < len(keys); i += room.len() {
							part := column.slice(i, i+room.len())
							part.hash(s, kernel, &room)
						}
					}
				}
				for _, kernel := range kernels {
					b.Run(fmt.Sprintf("hash=%d/keys=%d-%d,%d/layout=%s/kernel=%v", s, lengths.from, lengths.to, lengths.keys, name, kernel), func(b *testing.B) {
						inTurn(b, len(keys), hash(Generic), hash(kernel))
					})
				}
			}
		}
	}
}

// hashedColumns returns columns of the same keys, whose hashes take different paths.
func hashedColumns(b *testing.B, keys [][]byte, oneWidth bool) map[string]Keys {
	text := make([]string, len(keys))
	for i, key := range keys {
		text[i] = string(key)
	}
	offsets := []int32{0}
	for _, key := range keys {
		offsets = append(offsets, offsets[len(offsets)-1]+int32(len(key)))
	}
	data := slices.Concat(keys...)
	between, err := Offsets(data, offsets)
	if err != nil {
		b.Fatal(err)
	}
	columns := map[string]Keys{"Bytes": Bytes(keys), "Strings": Strings(text), "Offsets": between}
	if oneWidth {
		if columns["FixedWidth"], err = FixedWidth(data, len(keys[0])); err != nil {
			b.Fatal(err)
		}
	}
	return columns
}

// BenchmarkStripes hashes long keys for RocksDB. The reference adds their stripes in portable Go.
func BenchmarkStripes(b *testing.B) {
	key := make([]byte, 1<<14)
	for _, n := range []int{250, 300, 1000, len(key)} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			const times = 100
			add := func(add func(sums *keyhash.XXPH3Sums, p unsafe.Pointer, n int)) func() {
				return func() {
					for range times {
						var sums keyhash.XXPH3Sums
						add(&sums, unsafe.Pointer(&key[0]), n)
						sink += int(sums[0])
					}
				}
			}
			inTurn(b, times, add((*keyhash.XXPH3Sums).Add), add(func(sums *keyhash.XXPH3Sums, p unsafe.Pointer, n int) {
				if !addXXPH3(sums, p, n) {
					sums.Add(p, n)
				}
			}))
		})
	}
}

// BenchmarkTestAndAddBatch adds columns with a share of new keys to a set that is half full. The ways, in turn:
// TestAndAddBatch; what it did before there were kernels for it, to test all keys and add what is
// missing one by one; and AddBatch. It reports the median of each over the rounds.
func BenchmarkTestAndAddBatch(b *testing.B) {
	for _, format := range []Format{Parquet, RocksDB, LevelDB, Pebble, Nori} {
		for _, size := range benchmarkSizes[:4] {
			for _, percent := range []int{0, 1, 5, 25, 50, 100} {
				for _, kernel := range Kernels() {
					b.Run(fmt.Sprintf("format=%v/filter=%s/new=%d%%/kernel=%v", format, size.name, percent, kernel), func(b *testing.B) {
						benchmarkTestAndAddBatch(b, format, size.bytes, percent, kernel)
					})
				}
			}
		}
	}
}

func benchmarkTestAndAddBatch(b *testing.B, format Format, size, percent int, kernel Kernel) {
	s, err := mustSet(b, Policy{format, 10}, size*8/10).WithKernel(kernel)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(81, 82))
	old := make([]uint64, size*8/20/windowKeys*windowKeys)
	for i := range old {
		old[i] = random.Uint64()
	}
	s.AddBatch(Integers(old))
	keys, added := make([]uint64, min(len(old), queries)), make([]uint64, queries/64)
	for i := range keys {
		if keys[i] = old[random.IntN(len(old))]; random.IntN(100) < percent {
			keys[i] = random.Uint64()
		}
	}
	now, _ := s.encoded()
	before := slices.Clone(now)
	ways := []struct {
		name string
		run  func()
	}{
		{"new", func() { s.TestAndAddBatch(Integers(keys), added) }},
		{"one-by-one", func() {
			for _, key := range keys {
				sink += int(probes.OneIf(s.TestAndAddUint64(key)))
			}
		}},
		{"all", func() { s.AddBatch(Integers(keys)) }},
	}
	times := make([][]float64, len(ways))
	for b.Loop() {
		for w, way := range ways {
			copy(now, before)
			start := time.Now()
			way.run()
			times[w] = append(times[w], float64(time.Since(start).Nanoseconds())/float64(len(keys)))
		}
	}
	b.ReportMetric(0, "ns/op")
	for w, way := range ways {
		slices.Sort(times[w])
		b.ReportMetric(times[w][len(times[w])/2], way.name+"-ns/key")
	}
}

// BenchmarkStream finds the new rows of a stream of two million rows, as docs/recipes.md does: of up to a million
// keys of 22 to 36 bytes, one after the other in memory. A map with as much room does the same. It reports the
// medians over the rounds, and the memory of both, that of the map without its keys.
func BenchmarkStream(b *testing.B) {
	const distinct, rows, step = 1_000_000, 2_000_000, 1000
	random := rand.New(rand.NewPCG(83, 84))
	var data strings.Builder
	ends := make([]int, rows)
	for i := range ends {
		id := random.Uint64N(distinct) * 0x9e3779b97f4a7c15
		fmt.Fprintf(&data, "user-%016x%0*d", id, id%16, 0)
		ends[i] = data.Len()
	}
	stream, start := make([]string, rows), 0
	for i, end := range ends {
		stream[i] = data.String()[start:end]
		start = end
	}
	policy, err := PolicyFor(Default, distinct, 0.005)
	if err != nil {
		b.Fatal(err)
	}
	var added [step/64 + 1]uint64
	times, sizes := map[string][]float64{}, map[string]uint64{}
	measure := func(name string, run func()) {
		size := allocated(func() {
			start := time.Now()
			run()
			times[name] = append(times[name], float64(time.Since(start).Nanoseconds())/rows)
		})
		sizes[name] = size
	}
	for b.Loop() {
		measure("set", func() {
			seen := mustSet(b, policy, distinct)
			for i := 0; i < rows; i += step {
				sink += seen.TestAndAddBatch(Strings(stream[i:i+step]), added[:])
			}
		})
		measure("map", func() {
			seen := make(map[string]struct{}, distinct)
			for _, key := range stream {
				if _, ok := seen[key]; !ok {
					seen[key] = struct{}{}
					sink++
				}
			}
		})
	}
	b.ReportMetric(0, "ns/op")
	for name, list := range times {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], name+"-ns/row")
		b.ReportMetric(float64(sizes[name])/(1<<20), name+"-MiB")
	}
}
