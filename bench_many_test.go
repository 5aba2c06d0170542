package bloom

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// interleavedCase is filters of one shape: their format, their number and their keys.
type interleavedCase struct {
	format        Format
	filters, keys int
}

// make returns the filters, a group of them and the same interleaved, on a kernel.
func (c interleavedCase) make(b *testing.B, kernel Kernel) (filters []*Filter, group *Group, x *Interleaved) {
	b.Helper()
	p, random, keys := Policy{c.format, 10}, rand.New(rand.NewPCG(1, uint64(c.filters))), make([]uint64, c.keys)
	for range c.filters {
		for i := range keys {
			keys[i] = random.Uint64()
		}
		filters = append(filters, onKernel(b, p.NewFilter(Integers(keys)), kernel))
	}
	group, err := NewGroup(filters)
	if err != nil {
		b.Fatal(err)
	}
	if x, err = NewInterleaved(filters[0], len(filters)); err == nil {
		err = x.Put(0, filters...)
	}
	if err != nil {
		b.Fatal(err)
	}
	return filters, group, x
}

// roundsOf runs ways in turn, each after prepare, and returns the median nanoseconds of each.
func roundsOf(b *testing.B, prepare func(), ways ...func()) (medians []float64) {
	times := make([][]float64, len(ways))
	for _, way := range ways {
		prepare()
		way()
	}
	for b.Loop() {
		for i, way := range ways {
			prepare()
			start := time.Now()
			way()
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds()))
		}
	}
	for _, of := range times {
		slices.Sort(of)
		medians = append(medians, of[len(of)/2])
	}
	return medians
}

// BenchmarkInterleaved asks a group and interleaved filters for one key after the other. It reports how many times as fast the
// interleaved filters are, and their nanoseconds a filter. x-open compares them with a loop that opens each filter and asks it, and
// /loads with a loop of vector loads of as many bytes.
func BenchmarkInterleaved(b *testing.B) {
	for _, c := range []interleavedCase{
		{Parquet, 10, 1000}, {RocksDB, 10, 1000}, {Parquet, 100, 1000}, {RocksDB, 100, 1000}, {Parquet, 10_000, 26},
		{Parquet, 1000, 50_000}, {Parquet, 10_000, 5000}, {Parquet, 100_000, 1000}, {RocksDB, 10_000, 5000}, {BitsAndBlooms, 10_000, 5000},
	} {
		for _, kernel := range []Kernel{kernels[0], Generic} {
			b.Run(fmt.Sprintf("format=%v/filters=%d/keys=%d/kernel=%v", c.format, c.filters, c.keys, kernel), func(b *testing.B) {
				filters, group, x := c.make(b, kernel)
				random, hits := rand.New(rand.NewPCG(2, 3)), make([]uint64, (c.filters+63)/64)
				n := max(20, min(2000, 400_000/c.filters))
				if len(x.slices) < 1<<20 {
					n = 2000 // most find the slices in the cache
				}
				hashes := make([]Hash, n)
				ask := func(ask func(h Hash, hits []uint64) int) func() {
					return func() {
						for _, h := range hashes {
							ask(h, hits)
						}
					}
				}
				fresh := func() { // which no way has asked for
					for i := range hashes {
						hashes[i] = c.format.scheme().hashUint64(random.Uint64())
					}
				}
				size := uint64(x.empty.K*(x.filters+7)/8) &^ 7
				loads := func() {
					for range n { // in one piece, somewhere, by vectors of 32 bytes
						at := random.Uint64N(uint64(len(x.slices))-size+1) &^ 63
						bytes.Count(x.slices[at:at+size], []byte{0x5a})
					}
				}
				open := ask(func(h Hash, hits []uint64) (total int) {
					for _, f := range filters {
						f, err := Open(c.format, f.Bytes())
						if err != nil {
							b.Fatal(err)
						}
						if f.MayContainHash(h) {
							total++
						}
					}
					return total
				})
				of := roundsOf(b, fresh, ask(group.MayContainHash), ask(x.MayContainHash), loads)
				const rounds = 5 // after the others: their garbage would be collected beside them
				start := time.Now()
				for range rounds {
					open()
				}
				b.ReportMetric(of[0]/of[1], "x")
				b.ReportMetric(float64(time.Since(start).Nanoseconds())/rounds/of[1], "x-open")
				b.ReportMetric(of[1]/float64(n*c.filters), "ns/filter")
				b.ReportMetric(of[1]/of[2], "/loads")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkInterleavedBatch asks for columns: in the order of a Group, and key by key.
func BenchmarkInterleavedBatch(b *testing.B) {
	c := interleavedCase{Parquet, 10_000, 5000}
	_, group, x := c.make(b, kernels[0])
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("columns=%d", n), func(b *testing.B) {
			random, hits, column := rand.New(rand.NewPCG(4, 5)), make([]uint64, (n+63)/64*c.filters), make([]uint64, n)
			keys := c.format.Hashes64(column)
			fresh := func() {
				for i := range column {
					column[i] = random.Uint64()
				}
			}
			of := roundsOf(b, fresh, func() { group.MayContainBatch(keys, hits) }, func() { x.MayContainBatch(keys, hits) }, func() {
				for range x.Hits(keys) {
				}
			})
			b.ReportMetric(of[0]/of[1], "x")
			b.ReportMetric(of[0]/of[2], "x-by-key")
			b.ReportMetric(of[1]/1e6, "ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkInterleavedPut puts 512 filters in at a time: the time beside that of a copy of their bytes.
func BenchmarkInterleavedPut(b *testing.B) {
	filters, _, x := interleavedCase{Parquet, 10_000, 5000}.make(b, kernels[0])
	memory := make([]byte, len(filters)*len(filters[0].Bytes()))
	of := roundsOf(b, func() {}, func() {
		for i, f := range filters {
			copy(memory[i*len(f.Bytes()):], f.Bytes())
		}
	}, func() {
		if err := x.Put(0, filters...); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(of[1]/of[0], "/copy")
	b.ReportMetric(of[1]/float64(len(memory)), "ns/B")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkInterleavedBuilder writes the file of 100,000 filters of 10,000 keys.
func BenchmarkInterleavedBuilder(b *testing.B) {
	const filters = 100_000
	some, _, _ := interleavedCase{Parquet, 512, 10_000}.make(b, kernels[0])
	path := filepath.Join(b.TempDir(), "filters")
	for b.Loop() {
		builder, err := NewInterleavedBuilder(some[0])
		if err != nil {
			b.Fatal(err)
		}
		for i := range filters {
			if err := builder.Add(some[i%len(some)], fmt.Sprint("block ", i)); err != nil {
				b.Fatal(err)
			}
		}
		if err := errors.Join(builder.WriteFile(path), builder.Close()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(filters*len(some[0].Bytes()))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// BenchmarkRows asks a file in the page cache, 100,000 filters of 10,000 keys, for one key.
func BenchmarkRows(b *testing.B) {
	c := interleavedCase{Parquet, 100_000, 10_000}
	p, hashes := Policy{c.format, 10}, make([]uint64, c.keys)
	random := rand.New(rand.NewPCG(6, 7))
	path := filepath.Join(b.TempDir(), "filters")
	x, err := NewInterleaved(p.NewFilter(c.format.Hashes64(hashes)), c.filters)
	if err != nil {
		b.Fatal(err)
	}
	some := make([]*Filter, 512)
	for i := range some {
		for j := range hashes {
			hashes[j] = random.Uint64()
		}
		some[i] = p.NewFilter(c.format.Hashes64(hashes))
	}
	for first := 0; first < c.filters; first += len(some) {
		if err := x.Put(first, some[:min(len(some), c.filters-first)]...); err != nil {
			b.Fatal(err)
		}
	}
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	size, err := x.WriteTo(file)
	if err != nil {
		b.Fatal(err)
	}
	rows, err := OpenInterleavedFile(file, size)
	if err != nil {
		b.Fatal(err)
	}
	hits, want := make([]uint64, (c.filters+63)/64), make([]uint64, (c.filters+63)/64)
	for range 100 {
		h := c.format.HashFrom(random.Uint64())
		x.MayContainHash(h, want)
		if _, err := rows.MayContainHash(h, hits); err != nil || !slices.Equal(hits, want) {
			b.Fatalf("other hits: %v", err)
		}
	}
	for b.Loop() {
		if _, err := rows.MayContainHash(c.format.HashFrom(random.Uint64()), hits); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGroup asks all filters of a group for one key. The reference is a loop of
// MayContainHash. In the rows of 1 hit, each key is in one of the filters. The filters differ in
// size, as those of tables do: in filters of one size, the lines of a key share few sets of a cache.
func BenchmarkGroup(b *testing.B) {
	const keys = 1 << 12
	for _, size := range []struct{ filters, bytes int }{{20, 16 << 10}, {1000, 1 << 20}} {
		for f := range formats {
			format := Format(f)
			b.Run(fmt.Sprintf("format=%v/filters=%d/each=%dKiB", format, size.filters, size.bytes>>10), func(b *testing.B) {
				random := rand.New(rand.NewPCG(61, uint64(f)))
				group := make([]*Filter, size.filters)
				known := make([]uint64, len(group))
				for i := range group {
					in := make([]uint64, (size.bytes-97*i)*8/10)
					for j := range in {
						in[j] = random.Uint64()
					}
					known[i] = in[0]
					group[i] = Policy{format, 10}.NewFilter(Integers(in))
				}
				for _, hits := range []int{0, 1} {
					hashes := make([]Hash, keys)
					for i := range hashes {
						hashes[i] = format.scheme().hashUint64(random.Uint64())
						if hits == 1 {
							hashes[i] = format.scheme().hashUint64(known[random.IntN(len(known))])
						}
					}
					b.Run(fmt.Sprintf("hits=%d", hits), func(b *testing.B) { benchmarkGroup(b, group, hashes) })
				}
			})
		}
	}
}

func benchmarkGroup(b *testing.B, filters []*Filter, hashes []Hash) {
	hits := make([]uint64, (len(filters)+63)/64)
	next := 0
	asked := max(1, 20000/len(filters))
	some := func() []Hash {
		next = (next + asked) % (len(hashes) - asked)
		return hashes[next:][:asked]
	}
	reference := func() {
		for _, h := range some() {
			clear(hits)
			for i, f := range filters {
				if f.MayContainHash(h) {
					hits[i/64] |= 1 << (i % 64)
				}
			}
		}
	}
	for _, kernel := range kernels {
		g := groupOn(b, filters, kernel)
		b.Run("kernel="+kernel.String(), func(b *testing.B) {
			inTurn(b, asked*len(filters), reference, func() {
				for _, h := range some() {
					sink += g.MayContainHash(h, hits)
				}
			})
		})
	}
}

// BenchmarkGroupBatch tests columns with all filters of a group. The reference is a
// MayContainBatch of the hashed column for each filter.
func BenchmarkGroupBatch(b *testing.B) {
	for _, size := range []struct{ filters, bytes int }{{20, 16 << 10}, {100, 64 << 10}} {
		for _, format := range []Format{LevelDB, Nori, Parquet, RocksDB, Pebble} {
			random := rand.New(rand.NewPCG(69, uint64(format)))
			filters := make([]*Filter, size.filters)
			for i := range filters {
				in := make([]uint64, (size.bytes-97*i)*8/10)
				for j := range in {
					in[j] = random.Uint64()
				}
				filters[i] = Policy{format, 10}.NewFilter(Integers(in))
			}
			g, err := NewGroup(filters)
			if err != nil {
				b.Fatal(err)
			}
			for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 1024, 1 << 14} {
				keys := make([]uint64, n)
				for i := range keys {
					keys[i] = random.Uint64()
				}
				words := (n + 63) / 64
				hits := make([]uint64, words*len(filters))
				calls := max(1, 1<<14/n/len(filters))
				reference := func() {
					for range calls {
						column := Integers(keys).Hashed(format)
						for i, f := range filters {
							sink += f.MayContainBatch(column, hits[i*words:][:words])
						}
					}
				}
				b.Run(fmt.Sprintf("format=%v/filters=%d/each=%dKiB/keys=%d", format, size.filters, size.bytes>>10, n), func(b *testing.B) {
					inTurn(b, calls*n*len(filters), reference, func() {
						for range calls {
							sink += g.MayContainBatch(Integers(keys), hits)
						}
					})
				})
			}
		}
	}
}
