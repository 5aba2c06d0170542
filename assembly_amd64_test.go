//go:build !purego

package bloom

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var ours = assembly{"probe_amd64.s", []gate{
	{AVX512, "AVX512", featuresAVX512, 48, map[hashKind]callLengths{hashLevelDB: {16, 16}, hashLevelDBSigned: {16, 16}, hashXXH64x2: {16, 16}, hashXXH64: {16, 16}, hashXXPH3: {16, 0}}},
	{AVX2, "AVX2", featuresAVX2, 44, map[hashKind]callLengths{hashLevelDB: {16, 8}, hashLevelDBSigned: {16, 8}, hashXXH64: {48, 48}, hashXXPH3: {48, 48}}},
}}

// forms are the two ways of testing that the switch chooses from, the switch
// itself, and others that put its turns elsewhere.
var forms = []struct {
	name string
	form form
}{
	{"switched", form{0, 64, 8, 192, false}},
	{"dense", form{0, windowKeys, windowKeys, 0, false}},
	{"staged", form{0, 0, 0, 256, false}},
	{"late", form{0, 16, 16, 250, false}},
	{"early", form{0, 200, 200, 100, false}},
	{"switched-loads", form{0, 64, 8, 192, true}},
	{"dense-loads", form{0, windowKeys, windowKeys, 0, true}},
	{"staged-loads", form{0, 0, 0, 256, true}},
}

// init chooses the kernels that gather, on every CPU. TestLoads and TestLoadsAtPageEnds are for
// the others.
func init() { staged.loads, dense.loads = false, false }

// withLoads chooses the kernels that load words one by one, until the test ends.
func withLoads(t *testing.T) {
	staged.loads, dense.loads = true, true
	t.Cleanup(func() { staged.loads, dense.loads = false, false })
}

// TestLoads compares the AVX2 kernels that load words one by one with the letter of their walks
// and hashes.
func TestLoads(t *testing.T) {
	is(t, loadTest|alone)
	withLoads(t)
	random := rand.New(rand.NewPCG(71, 72))
	for _, walk := range []walkKind{walkDouble32, walkDouble64} {
		for _, size := range []uint64{8, 64, 1000, 1 << 13, 1 << 17} {
			for _, k := range []int{1, 2, 6, 13, 30} {
				test := walkTests[walk]
				data := randomBits(random, size, math.Pow(random.Float64(), 1/float64(k)))
				checkWalk(t, walk, data, size, k, test.hashesOf(random, windowKeys+70, size), []int{1, 8, 9, 64, 65, 500, windowKeys, windowKeys + 70})
			}
		}
	}
	t.Run("TestHashes", TestHashes)
	t.Run("TestOtherLengths", TestOtherLengths)
}

// TestGroupsEnd looks for the end of a call that loads words one by one at a long key, and after
// many bytes.
func TestGroupsEnd(t *testing.T) {
	is(t, loadTest|alone)
	if !slices.Contains(kernels, AVX2) {
		return // hash32Groups is never called
	}
	withLoads(t)
	data := make([]byte, longKey)
	for name, c := range map[string]struct {
		long, others int // bytes of key 40, and of the others
		want         int // groups of the 3
	}{
		"short":      {7, 7, 3},
		"long":       {longKey, 7, 1},
		"not long":   {longKey - 1, 7, 2},
		"all long":   {longKey - 1, longKey - 1, 1},
		"many bytes": {2100, 2100, 2},
	} {
		keys := slices.Repeat([][]byte{data[:c.others]}, 96)
		keys[40] = data[:c.long]
		column, hashed := Bytes(keys), make([]uint32, len(keys))
		if got := column.hash32Groups(AVX2, hashed, 0); got != c.want {
			t.Errorf("%s: %d groups, want %d", name, got, c.want)
		}
		checkHashes(t, hashLevelDB, kernels, keys, column)
	}
}
