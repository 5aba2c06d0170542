//go:build unix && !purego

package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/guard"
	"github.com/lanebloom/bloom/internal/probes"
)

// TestKernelGathersAtPageEnd is for the kernels of TestKernelGathers.
func TestKernelGathersAtPageEnd(t *testing.T) {
	needs(t, masks)
	withGathers(t, !gathers)
	t.Run("TestKernelArraysAtPageEnd", TestKernelArraysAtPageEnd)
}

// TestKernelRowsAtPageEnds is TestKernelVectorsOfKeysAtPageEnds for the kernels that hash by rows.
func TestKernelRowsAtPageEnds(t *testing.T) {
	withFours(t)
	t.Run("TestKernelVectorsOfKeysAtPageEnds", TestKernelVectorsOfKeysAtPageEnds)
	t.Run("TestKernelColumnsAtPageEnd", TestKernelColumnsAtPageEnd)
	t.Run("TestNullRowsAtNoMemory", TestNullRowsAtNoMemory)
}

// TestKernelFullProbes compares the kernels of schemes with a full remainder a probe with the letter: in arrays that end at an
// inaccessible page, for each number of probes, and numbers of bits around those where the way changes. One probe of
// each hash is at an edge, where an inexact remainder shows.
func TestKernelFullProbes(t *testing.T) {
	withGathers(t, gathers) // until the end
	random := rand.New(rand.NewPCG(39, 40))
	small, large := guard.Buffer(t, 1<<14), make([]byte, maxKernelBits/8+8) // hardly any of it touched
	for round := range 1000 / oneOf(3, 6) {
		n, swap, k := uint64(1)<<random.IntN(32), 56*random.Uint64N(2), 1+round%maxFullProbes
		mask := [...]uint64{wholeSums, probes.Signless, random.Uint64() | math.MaxUint32}[random.IntN(3)]
		if n += random.Uint64N(n); random.IntN(2) == 0 {
			n = uint64(1)<<random.IntN(32) + random.Uint64N(40) - 20
		}
		n = min(max(n, 1), maxKernelBits)
		size := int(n+7) / 8
		if swap != 0 {
			size = int(n+63) / 64 * 8
		}
		data := large[random.IntN(8):][:size]
		if size <= len(small) {
			data = small[len(small)-size:]
		}
		hashed := [4][]uint64{} // h1, h2, d1, d2
		for i := range hashed {
			hashed[i] = make([]uint64, 1+random.IntN(windowKeys)>>random.IntN(3), windowKeys)
			hashed[i] = hashed[i][:len(hashed[0])]
		}
		edges := edges64(n, mask)
		bitOf := func(key, i int) uint64 {
			return (hashed[i%2][key]+uint64(i)*hashed[2+(i+i%2)%4/2][key])&mask%n ^ swap
		}
		want := make([]uint64, (len(hashed[0])+63)/64)
		for key := range hashed[0] {
			for i := range hashed {
				hashed[i][key] = random.Uint64()
			}
			i := random.IntN(k)
			hashed[i%2][key] = edges[random.IntN(len(edges))] - uint64(i)*hashed[2+(i+i%2)%4/2][key]
			if random.IntN(3) != 0 {
				want[key/64] |= 1 << (key % 64)
				for i := range k {
					data[bitOf(key, i)/8] |= 1 << (bitOf(key, i) % 8)
				}
			}
		}
		for key := range hashed[0] {
			all := true
			for i := range k {
				all = all && data[bitOf(key, i)/8]>>(bitOf(key, i)%8)&1 != 0
			}
			if all {
				want[key/64] |= 1 << (key % 64)
			}
		}
		h := hashes{h1: hashed[0], h2: hashed[1], h3: hashed[2], h4: hashed[3]}
		full := fullProbes{swap, mask, fullBitsAndBlooms.words}
		for _, kernel := range kernels[:len(kernels)-1] {
			const canary = 0xdeadbeef
			places := slices.Repeat([]uint32{canary}, len(hashed[0])*k+32)
			s := prober{Array: probes.Array{Base: &data[0], N: n, K: k}, scheme: schemeBitsAndBlooms}
			s.setKernel(kernel)
			done := s.placeFull(&full, &h, places[:len(hashed[0])*k])
			if want := len(hashed[0]) &^ 15; done != want && (kernel == AVX512 || done != 0) {
				t.Fatalf("kernel %v: places of %d of %d hashes", kernel, done, len(hashed[0]))
			}
			for at, place := range places {
				key, i := at/(16*k)*16+at%16, at/16%k
				if key < done && uint64(place) != bitOf(key, i) || key >= done && place != canary {
					t.Fatalf("kernel %v, %d bits, %d probes: place %d of key %d of %d is %d", kernel, n, k, i, key, len(hashed[0]), place)
				}
			}
			for way := range 4 {
				gathers = way/2 == 0
				got := slices.Repeat([]uint64{1 << 40}, len(want)+1)
				ok := probeFull64(&s, &h, &got[0], &full, way%2 != 0)
				if !ok || !slices.Equal(got[:len(want)], want) || got[len(want)] != 1<<40 {
					t.Fatalf("kernel %v, %d bits, %d probes, %d hashes, way %d: hits\n%x, want\n%x", kernel, n, k, len(hashed[0]), way, got, want)
				}
			}
		}
		for key := range hashed[0] {
			for i := range k {
				data[bitOf(key, i)/8] = 0
			}
		}
	}
}

// TestKernelFew compares the tests of up to 64 integers with the reference, for every number of keys and
// of probes. The keys end at an inaccessible page.
func TestKernelFew(t *testing.T) {
	const most = 64
	random := rand.New(rand.NewPCG(95, 96))
	memory := guard.Buffer(t, 8*most)
	keys := unsafe.Slice((*uint64)(unsafe.Pointer(&memory[0])), most)
	eachFormat(t, func(t *testing.T, format Format) {
		for bitsPerKey := 1; bitsPerKey <= 20; bitsPerKey++ {
			for i := range keys {
				keys[i] = random.Uint64()
			}
			set := mustSet(t, Policy{format, bitsPerKey}, 30+bitsPerKey%2*1000) // of one line or block, and of more
			set.AddBatch(Integers(keys[20:50]))
			encoded := set.AppendFilter(nil)
			for i := 64; i < len(encoded)-64; i++ {
				encoded[i] |= byte(random.Uint32() | random.Uint32() | random.Uint32())
			}
			filter := mustOpen(t, format, encoded)
			for _, kernel := range proven() {
				f := onKernel(t, filter, kernel)
				for n := 1; n <= most; n++ {
					some, hits := keys[most-n:], []uint64{math.MaxUint64}
					count := f.MayContainBatch(Integers(some), hits)
					if count != bits.OnesCount64(hits[0]) {
						t.Fatalf("kernel %v, %d probes, %d keys: %d hits are %b", kernel, f.K, n, count, hits[0])
					}
					for i := range 64 {
						want := i < n && Reference(format, encoded, binary.LittleEndian.AppendUint64(nil, some[min(i, n-1)]))
						if got := hits[0]>>i&1 != 0; got != want {
							t.Fatalf("kernel %v, %d probes, key %d of %d is %v, want %v", kernel, f.K, i, n, got, want)
						}
					}
				}
			}
		}
	})
}
