//go:build !purego

package bloom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var ours = assembly{"probe_amd64.s", []gate{
	{AVX512, "AVX512", featuresAVX512, 51, map[hashKind]callLengths{hashLevelDB: {16, 16, 16}, hashLevelDBSigned: {16, 16, 16}, hashXXH64x2: {16, 16, 16}, hashXXH64: {16, 16, 16}, hashXXPH3: {16, 0, 0}}},
	{AVX2, "AVX2", featuresAVX2, 47, map[hashKind]callLengths{hashLevelDB: {16, 8, 8}, hashLevelDBSigned: {16, 8, 8}}},
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

// withLoads chooses the kernels that load words one by one, or those that gather, until the test or the
// benchmark ends. All others have those that this CPU takes.
func withLoads(t testing.TB, loads bool) {
	before := slowGather
	set := func(loads bool) { staged.loads, dense.loads, slowGather = loads, loads, loads }
	set(loads)
	t.Cleanup(func() { set(before) })
}

// TestLoads compares the AVX2 kernels that this CPU does not take, those that load words one by one or those
// that gather, with the letter of their walks and hashes.
func TestLoads(t *testing.T) {
	is(t, loadTest|alone)
	withLoads(t, !slowGather)
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

// TestKeysOfMixedLengths compares the hashes of keys of 0 to 300 bytes, among them a few of 64 KiB, with the
// reference: in columns of up to 130 keys, by kernels that gather and by those that load.
func TestKeysOfMixedLengths(t *testing.T) {
	is(t, kernelTest)
	random := rand.New(rand.NewPCG(81, 82))
	data := make([]byte, 1<<17)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for _, slow := range []bool{false, true} {
		withLoads(t, slow)
		for n := 1; n <= 130; n += someLengths(n) {
			for _, longest := range []int{3, 12, 17, 33, 140, 300} {
				keys := make([][]byte, n)
				for i := range keys {
					length := random.IntN(longest + 1)
					switch random.IntN(60) {
					case 0:
						length = random.IntN(301)
					case 1:
						if random.IntN(20) == 0 {
							length = 1<<16 - random.IntN(3)
						}
					}
					if n%3 == 0 {
						length = max(length, 8) // so that keys are gathered
					}
					keys[i] = data[random.IntN(1000):][:length]
				}
				checkEachHash(t, keys, eachLayout(t, keys)...)
			}
			width := random.IntN(60) + 1
			checkFixedWidth(t, data[:n*width], width)
		}
		t.Run(fmt.Sprintf("slowGather=%v", slow), func(t *testing.T) {
			t.Run("TestHashes", TestHashes)
			t.Run("TestOtherLengths", TestOtherLengths)
		})
	}
}

// someLengths returns the step to the next number of keys that is tested.
func someLengths(n int) int {
	if testing.Short() {
		return 1 + n/8
	}
	return 1
}

// checkFixedWidth hashes the keys of data.
func checkFixedWidth(t *testing.T, data []byte, width int) {
	t.Helper()
	var keys [][]byte
	for i := 0; i < len(data); i += width {
		keys = append(keys, data[i:i+width])
	}
	checkEachHash(t, keys, must(t)(FixedWidth(data, width)))
}

// TestGroupsEnd looks for the end of a call that loads words one by one at a long key, and after
// many bytes.
func TestGroupsEnd(t *testing.T) {
	is(t, loadTest|alone)
	if !slices.Contains(kernels, AVX2) {
		return // hash32Loads is never called
	}
	withLoads(t, true)
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
		layout, rows, stride, _ := column.assemblyRows()
		if left, ok := hash32Loads(AVX2, layout, rows, stride, len(keys), &hashed[0], 0); !ok || len(keys)-left != 32*c.want {
			t.Errorf("%s: %d keys left of %d, want %d groups of 32", name, left, len(keys), c.want)
		}
		checkHashes(t, hashLevelDB, kernels, keys, column)
	}
}
