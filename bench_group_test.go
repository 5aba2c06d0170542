package bloom

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

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
