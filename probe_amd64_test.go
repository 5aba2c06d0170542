//go:build !purego

package bloom

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var ours = assembly{"probe_amd64.s", []gate{
	{AVX512, "AVX512", featuresAVX512, 25, map[hashKind]callLengths{hashLevelDB: {16, 16}, hashXXH64x2: {16, 16}, hashXXH64: {16, 16}}},
	{AVX2, "AVX2", featuresAVX2, 14, map[hashKind]callLengths{hashLevelDB: {16, 8}}},
}}

// forms are the two ways of testing that the switch chooses from, the switch
// itself, and others that put its turns elsewhere.
var forms = []struct {
	name string
	form form
}{
	{"switched", staged},
	{"dense", dense},
	{"staged", form{0, 256}},
	{"late", form{16, 250}},
	{"early", form{200, 100}},
}

// TestRequests compares the tests of each kernel with portable Go, with and without requests
// for the lines of later keys.
func TestRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 62))
	data := randomBits(random, 256*512, 0.9)
	d := newSplit256(data, 512)
	hashed := make([]uint64, windowKeys)
	for i := range hashed {
		hashed[i] = random.Uint64()
	}
	for _, kernel := range kernels[:len(kernels)-1] {
		for n := 1; n <= windowKeys; n += 1 + n/10 {
			for _, far := range []bool{false, true} {
				want, got := make([]uint64, (n+63)/64+1), slices.Repeat([]uint64{1 << 40}, (n+63)/64+1)
				d.testGeneric(hashed[:n], want)
				if !d.testForm(kernel, hashed[:n], got, far) {
					t.Fatalf("kernel %v tests nothing", kernel)
				}
				want[len(want)-1] = 1 << 40 // not written
				if !slices.Equal(got, want) {
					t.Fatalf("kernel %v, far %v: hits of %d hashes %x, want %x", kernel, far, n, got, want)
				}
			}
		}
	}
}
