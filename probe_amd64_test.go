//go:build !purego

package bloom

import (
	"math"
	"math/rand/v2"
	"testing"
)

var ours = assembly{"probe_amd64.s", []gate{
	{AVX512, "AVX512", featuresAVX512, 32, map[hashKind]callLengths{hashLevelDB: {16, 16}, hashXXH64x2: {16, 16}, hashXXH64: {16, 16}, hashXXPH3: {48, 48}}},
	{AVX2, "AVX2", featuresAVX2, 34, map[hashKind]callLengths{hashLevelDB: {16, 8}, hashXXH64: {48, 48}}},
}}

// forms are the two ways of testing that the switch chooses from, the switch
// itself, and others that put its turns elsewhere.
var forms = []struct {
	name string
	form form
}{
	{"switched", form{64, 192, false}},
	{"dense", form{windowKeys, 0, false}},
	{"staged", form{0, 256, false}},
	{"late", form{16, 250, false}},
	{"early", form{200, 100, false}},
	{"switched-loads", form{64, 192, true}},
	{"dense-loads", form{windowKeys, 0, true}},
	{"staged-loads", form{0, 256, true}},
}

// TestGathers compares the AVX2 kernels that gather, and those that load words one by one, with
// the letter of their walks. A CPU has one of the two by default.
func TestGathers(t *testing.T) {
	defer func(s, d form) { staged, dense = s, d }(staged, dense)
	random := rand.New(rand.NewPCG(71, 72))
	for _, loads := range []bool{false, true} {
		staged.loads, dense.loads = loads, loads
		for _, walk := range []walkKind{walkDouble32, walkDouble64} {
			for _, size := range []uint64{8, 64, 1000, 1 << 13, 1 << 17} {
				for _, k := range []int{1, 2, 6, 13, 30} {
					test := walkTests[walk]
					data := randomBits(random, size, math.Pow(random.Float64(), 1/float64(k)))
					checkWalk(t, walk, data, size, k, test.hashesOf(random, windowKeys+70, size), []int{1, 8, 9, 64, 65, 500, windowKeys, windowKeys + 70})
				}
			}
		}
	}
}
