package bloom

import (
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPromisedKernels compares the kernels found with those that the job which runs the
// test promises, see the Makefile.
func TestPromisedKernels(t *testing.T) {
	is(t, kernelTest|cpuTest)
	if kernels[len(kernels)-1] != Generic {
		t.Errorf("kernels %v do not end with generic", kernels)
	}
	var found []string
	for _, kernel := range kernels {
		found = append(found, kernel.String())
	}
	promised, ok := os.LookupEnv("BLOOM_TEST_KERNELS")
	if ok && strings.Join(found, " ") != promised {
		t.Errorf("kernels %s found, %s promised", found, promised)
	}
}

// TestPlaces compares the places of each kernel with the letter of the walk, in any order,
// and looks for places written past the last.
func TestPlaces(t *testing.T) {
	is(t, kernelTest)
	const canary = 0xdeadbeef
	random := rand.New(rand.NewPCG(51, 52))
	for n := range 70 {
		size, k := 1+random.IntN(5000), 1+random.IntN(maxProbes)
		hashes, want := make([]uint32, n), make([]uint32, 0, n*k)
		for i := range hashes {
			hashes[i] = random.Uint32()
			for j := range uint32(k) {
				h := hashes[i] + j*bits.RotateLeft32(hashes[i], -17)
				want = append(want, h%uint32(8*size))
			}
		}
		slices.Sort(want)
		d := newDouble32(make([]byte, size), k)
		for _, kernel := range kernels {
			places := slices.Repeat([]uint32{canary}, 2*n*k+16)
			d.place(kernel, hashes, places[:n*k])
			slices.Sort(places[:n*k])
			if !slices.Equal(places[:n*k], want) {
				t.Fatalf("kernel %v, %d bytes, k = %d: wrong places of %d hashes", kernel, size, k, n)
			}
			if slices.ContainsFunc(places[n*k:], func(p uint32) bool { return p != canary }) {
				t.Fatalf("kernel %v, %d bytes, k = %d: wrote past the places of %d hashes", kernel, size, k, n)
			}
		}
	}
}
