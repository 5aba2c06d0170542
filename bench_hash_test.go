package bloom

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// BenchmarkHash hashes columns of keys of random lengths.
func BenchmarkHash(b *testing.B) {
	for _, lengths := range []struct{ from, to int }{{8, 8}, {16, 16}, {8, 24}, {1, 100}} {
		b.Run(fmt.Sprintf("keys=%d-%d", lengths.from, lengths.to), func(b *testing.B) {
			random := rand.New(rand.NewPCG(15, 16))
			keys := make([][]byte, queries)
			for i := range keys {
				keys[i] = make([]byte, lengths.from+random.IntN(lengths.to-lengths.from+1))
			}
			column, hashed := Bytes(keys), make([]uint32, queries)
			inTurn(b, queries, func() {
				for i, key := range keys {
					hashed[i] = referenceHash32(key)
				}
			}, func() { column.hash(hashLevelDB, kernels[0], &hashes{h32: hashed}) })
		})
	}
}

// BenchmarkHashXXPH3 hashes columns of keys of random lengths for RocksDB. The reference is
// portable Go.
func BenchmarkHashXXPH3(b *testing.B) {
	for _, lengths := range []struct{ from, to int }{{4, 4}, {6, 6}, {8, 8}, {16, 16}, {24, 24}, {64, 64}, {0, 12}, {8, 32}, {17, 128}, {1, 300}, {1000, 1000}} {
		random := rand.New(rand.NewPCG(15, 16))
		keys := make([][]byte, 1<<14)
		for i := range keys {
			keys[i] = make([]byte, lengths.from+random.IntN(lengths.to-lengths.from+1))
		}
		for _, layout := range layouts {
			if layout.width != 0 && (lengths.from != lengths.to || layout.width != lengths.from) || layout.column(b, nil).hashed != noHash {
				continue
			}
			column := layout.column(b, keys)
			if column.isGathered() {
				continue
			}
			hash := func(kernel Kernel) func() {
				hashed := make([]uint64, windowKeys)
				return func() {
					for i := 0; i < len(keys); i += windowKeys {
						part := column.slice(i, i+windowKeys)
						part.hash(hashXXPH3, kernel, &hashes{h1: hashed})
					}
				}
			}
			for _, kernel := range kernels {
				b.Run(fmt.Sprintf("keys=%d-%d/layout=%s/kernel=%v", lengths.from, lengths.to, layout.name, kernel), func(b *testing.B) {
					inTurn(b, len(keys), hash(Generic), hash(kernel))
				})
			}
		}
	}
}

// BenchmarkStripes hashes long keys for RocksDB. The reference adds their stripes in portable Go.
func BenchmarkStripes(b *testing.B) {
	key := make([]byte, 1<<14)
	for _, n := range []int{250, 300, 1000, len(key)} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			const times = 100
			add := func(add func(sums *xxph3Sums, p unsafe.Pointer, n int)) func() {
				return func() {
					for range times {
						var sums xxph3Sums
						add(&sums, unsafe.Pointer(&key[0]), n)
						sink += int(sums[0])
					}
				}
			}
			inTurn(b, times, add((*xxph3Sums).add), add(func(sums *xxph3Sums, p unsafe.Pointer, n int) {
				if !sums.addAssembly(p, n) {
					sums.add(p, n)
				}
			}))
		})
	}
}
