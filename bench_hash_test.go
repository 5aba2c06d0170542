package bloom

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
)

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
