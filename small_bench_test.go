package bloom

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSmallBatches tests keys in batches of 1 to 8, which should not take longer than the
// plain loop: the reference. The keys have 8 bytes.
func BenchmarkSmallBatches(b *testing.B) {
	for f := range formats {
		for _, size := range []int{16 << 10, 1 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("format=%v/filter=%dKiB", Format(f), size>>10), func(b *testing.B) {
				random := rand.New(rand.NewPCG(71, uint64(size)))
				known := make([]uint64, size*8/10)
				for i := range known {
					known[i] = random.Uint64()
				}
				encoded := Policy{Format(f), 10}.AppendFilter(nil, Uint64s(known))
				for _, percent := range []int{0, 50, 100} {
					keys := make([]uint64, queries/4)
					for i := range keys {
						keys[i] = random.Uint64()
						if random.IntN(100) < percent {
							keys[i] = known[random.IntN(len(known))]
						}
					}
					b.Run(fmt.Sprintf("hits=%d%%", percent), func(b *testing.B) { benchmarkSmallBatches(b, Format(f), encoded, keys) })
				}
			})
		}
	}
}

func benchmarkSmallBatches(b *testing.B, format Format, encoded []byte, keys []uint64) {
	slices, strings := make([][]byte, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		slices[i] = binary.LittleEndian.AppendUint64(nil, key)
		strings[i] = string(slices[i])
	}
	reference := func() {
		for _, key := range slices {
			if Reference(format, encoded, key) {
				sink++
			}
		}
	}
	hits := make([]uint64, 1)
	for _, kernel := range kernels {
		filter, err := Open(format, encoded)
		if err == nil {
			filter, err = filter.WithKernel(kernel)
		}
		if err != nil {
			b.Fatal(err)
		}
		for _, batch := range []int{1, 2, 4, 8} {
			run := func(name string, tests func()) {
				b.Run(fmt.Sprintf("kernel=%v/keys=%s/batch=%d", kernel, name, batch), func(b *testing.B) {
					inTurn(b, len(keys), reference, tests)
				})
			}
			run("uint64", func() {
				for i := 0; i < len(keys); i += batch {
					sink += filter.MayContainBatch(Uint64s(keys[i:i+batch]), hits)
				}
			})
			run("bytes", func() {
				for i := 0; i < len(keys); i += batch {
					sink += filter.MayContainBatch(Bytes(slices[i:i+batch]), hits)
				}
			})
			run("string", func() {
				for i := 0; i < len(keys); i += batch {
					sink += filter.MayContainBatch(Strings(strings[i:i+batch]), hits)
				}
			})
		}
	}
}
