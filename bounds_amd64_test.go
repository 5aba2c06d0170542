//go:build unix && !purego

package bloom

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/guard"
)

// TestLoadsAtPageEnds is for the kernels of TestLoads.
func TestLoadsAtPageEnds(t *testing.T) {
	is(t, kernelTest|maskTest|alone)
	withLoads(t, !slowGather())
	t.Run("TestVectorsOfKeysAtPageEnds", TestVectorsOfKeysAtPageEnds)
	if testing.Short() {
		return // the others load nothing by a mask
	}
	t.Run("TestColumnsAtPageEnd", TestColumnsAtPageEnd)
	t.Run("TestArraysAtPageEnd", TestArraysAtPageEnd)
}

// TestRowsAtPageEnds is TestVectorsOfKeysAtPageEnds for the kernels that hash by rows.
func TestRowsAtPageEnds(t *testing.T) {
	is(t, kernelTest)
	withRows(t, "all")
	t.Run("TestVectorsOfKeysAtPageEnds", TestVectorsOfKeysAtPageEnds)
	t.Run("TestColumnsAtPageEnd", TestColumnsAtPageEnd)
	t.Run("TestNullRowsAtNoMemory", TestNullRowsAtNoMemory)
}

// TestFew compares the functions that hash and test a few integers with the reference, for every number of keys and
// of probes. The keys end at an inaccessible page.
func TestFew(t *testing.T) {
	is(t, kernelTest)
	random := rand.New(rand.NewPCG(95, 96))
	memory := guard.Buffer(t, 8*smallBatch)
	keys := unsafe.Slice((*uint64)(unsafe.Pointer(&memory[0])), smallBatch)
	eachFormat(t, func(t *testing.T, format Format) {
		for bitsPerKey := 1; bitsPerKey <= 20; bitsPerKey++ {
			encoded := mustSet(t, Policy{format, bitsPerKey}, 1000).AppendFilter(nil)
			for i := 64; i < len(encoded)-64; i++ {
				encoded[i] = byte(random.Uint32() | random.Uint32() | random.Uint32())
			}
			for i := range keys {
				keys[i] = random.Uint64()
			}
			filter := mustOpen(t, format, encoded)
			for _, kernel := range kernels {
				f := onKernel(t, filter, kernel)
				walk := f.pair.walk()
				want := kernel == AVX512 && walkKinds[walk].line && (walk == walkSplit256 || f.k <= maxHasProbes)
				for n := minFew; n <= smallBatch; n++ {
					some := keys[smallBatch-n:]
					word, ok := f.probeFew(&some[0], n)
					if ok != want {
						t.Fatalf("kernel %v, %d probes: in assembly %v, want %v", kernel, f.k, ok, want)
					}
					for i := 0; ok && i < 64; i++ {
						want := i < n && Reference(format, encoded, binary.LittleEndian.AppendUint64(nil, some[min(i, n-1)]))
						if got := word>>i&1 != 0; got != want {
							t.Fatalf("kernel %v, %d probes, key %d of %d is %v, want %v", kernel, f.k, i, n, got, want)
						}
					}
				}
			}
		}
	})
}
