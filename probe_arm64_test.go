//go:build !purego

package bloom

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var ours = assembly{"probe_arm64.s", []gate{
	{NEON, "NEON", featuresNEON, 30, map[hashKind]callLengths{hashLevelDB: {16, 8}, hashXXH64x2: {20, 5}, hashXXH64: {20, 5}, hashXXPH3: {48, 48}}},
}}

// forms are the two ways of testing with the choice of the batch, each, and others.
var forms = []struct {
	name string
	form form
}{
	{"switched", staged},
	{"dense", dense},
	{"staged", staged},
	{"one", form{1}},
	{"three", form{3}},
	{"most", form{29}},
}

// TestRequestsOfLines compares the tests of the walks line512 and line32 with portable Go,
// with and without requests for the lines, for all numbers of probes.
func TestRequestsOfLines(t *testing.T) {
	random := rand.New(rand.NewPCG(63, 64))
	words, longs := make([]uint32, windowKeys), make([]uint64, windowKeys)
	for i := range words {
		words[i], longs[i] = random.Uint32(), random.Uint64()
	}
	for k := 1; k <= 127; k++ {
		lines := 1 + random.Uint64N(1000)
		data := randomBits(random, 512*lines, math.Pow(random.Float64(), 1/float64(k)))
		d, l := newLine32(data, uint32(lines), 0, k), newLine512(data, lines, k)
		for _, far := range []bool{false, true} {
			n := 1 + random.IntN(windowKeys)/k
			for name, test := range map[string]struct{ generic, kernel func(hits []uint64) }{
				"line32": {
					func(hits []uint64) { d.testGeneric(words[:n], hits) },
					func(hits []uint64) { d.testForm(NEON, words[:n], hits, far) },
				},
				"line512": {
					func(hits []uint64) { l.testGeneric(longs[:n], hits) },
					func(hits []uint64) { l.testForm(NEON, longs[:n], hits, far) },
				},
			} {
				want, got := make([]uint64, (n+63)/64+1), slices.Repeat([]uint64{1 << 40}, (n+63)/64+1)
				test.generic(want)
				test.kernel(got)
				want[len(want)-1] = 1 << 40 // not written
				if !slices.Equal(got, want) {
					t.Fatalf("%s, %d lines, %d probes, far %v: hits of %d hashes %x, want %x", name, lines, k, far, n, got, want)
				}
			}
		}
	}
}
