//go:build !purego

package bloom

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkGathers hashes slices by what Intel's CPUs take and by what AMD's take, which loads where the other
// gathers, and tests them with a filter of 16 KiB. The reference is AVX2 as on Intel's CPUs; of the rows
// that load, it is their own kernel as on Intel's.
func BenchmarkGathers(b *testing.B) {
	if !slices.Contains(kernels, AVX2) {
		b.Skip("no AVX2")
	}
	withLoads(b, !gathers) // until the end
	for _, lengths := range []struct{ from, to int }{{8, 8}, {8, 32}, {4, 100}, {0, 12}} {
		random := rand.New(rand.NewPCG(73, 74))
		keys := make([][]byte, queries)
		for i := range keys {
			keys[i] = make([]byte, lengths.from+random.IntN(lengths.to-lengths.from+1))
			for j := range keys[i] {
				keys[i][j] = byte(random.Uint32())
			}
		}
		filter := Policy{Format: LevelDB, BitsPerKey: 10}.NewFilter(Bytes(keys[:13107]))
		hashed, hits := make([]uint32, queries), make([]uint64, queries/64)
		for _, c := range []struct {
			name string
			run  func(kernel Kernel) func()
		}{
			{"hash", func(kernel Kernel) func() {
				column := Bytes(keys)
				return func() {
					for i := 0; i < queries; i += windowKeys {
						part := column.slice(i, i+windowKeys)
						part.hash(schemeLevelDB, kernel, &hashes{h32: hashed[i:][:windowKeys]})
					}
				}
			}},
			{"absent", func(kernel Kernel) func() {
				f, column := onKernel(b, filter, kernel), Bytes(keys[queries/2:])
				return func() { sink += f.MayContainBatch(column, hits) }
			}},
			{"present", func(kernel Kernel) func() {
				f, column := onKernel(b, filter, kernel), Bytes(slices.Repeat(keys[:8192], 4))
				return func() { sink += f.MayContainBatch(column, hits) }
			}},
		} {
			n := queries
			if c.name != "hash" {
				n /= 2
			}
			way := func(loads bool, kernel Kernel) func() {
				run := c.run(kernel)
				return func() {
					gathers = !loads
					run()
				}
			}
			for _, kernel := range kernels {
				b.Run(fmt.Sprintf("keys=%d-%d/job=%s/kernel=%v", lengths.from, lengths.to, c.name, kernel), func(b *testing.B) {
					inTurn(b, n, way(false, AVX2), way(false, kernel))
				})
			}
			for _, kernel := range kernels[:len(kernels)-1] {
				b.Run(fmt.Sprintf("keys=%d-%d/job=%s/kernel=%v-loads", lengths.from, lengths.to, c.name, kernel), func(b *testing.B) {
					inTurn(b, n, way(false, kernel), way(true, kernel))
				})
			}
		}
	}
}
