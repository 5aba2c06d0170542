//go:build !purego

package bloom

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

var ours = assembly{"probe_amd64.s", []gate{
	{AVX512, "AVX512", featuresAVX512, map[scheme]callLengths{
		schemeLevelDB:       {},
		schemePebble:        {},
		schemeNori:          {beforeLong: 16, ofLongest: 16, ofLongestFixed: 16},
		schemeParquet:       {beforeLong: 16, ofLongest: 16, ofLongestFixed: 16},
		schemeRocksDB:       {beforeLong: 16},
		schemeBitsAndBlooms: {beforeLong: 16, ofLongest: 16, ofLongestFixed: 16},
		schemeGuava:         {beforeLong: 16, ofLongest: 16, ofLongestFixed: 16},
	}},
	{AVX2, "AVX2", featuresAVX2, map[scheme]callLengths{
		schemeLevelDB: {ofLongest: 32, ofLongestFixed: 32},
		schemePebble:  {ofLongest: 32, ofLongestFixed: 32},
		schemeRocksDB: {beforeLong: 20, shortest: 17},
	}},
}}

// TestCPUGathers wants gathers on no model that has not timed them.
func TestCPUGathers(t *testing.T) {
	for name, c := range map[string]struct {
		vendor        cpuid.Vendor
		family, model int
		want          bool
	}{
		"Sapphire Rapids":        {cpuid.Intel, 6, 143, true},
		"Emerald Rapids":         {cpuid.Intel, 6, 207, true},
		"Skylake, with Downfall": {cpuid.Intel, 6, 85, false},
		"Granite Rapids":         {cpuid.Intel, 6, 173, false},
		"an Intel of the future": {cpuid.Intel, 19, 143, false},
		"Zen 5":                  {cpuid.AMD, 26, 2, false},
		"AMD's model 143":        {cpuid.AMD, 6, 143, false},
		"a hidden vendor":        {cpuid.VendorUnknown, 6, 207, false},
	} {
		if got := gathersWell(cpuid.CPUInfo{VendorID: c.vendor, Family: c.family, Model: c.model}); got != c.want {
			t.Errorf("%s: gathersWell = %v", name, got)
		}
	}
}

// withGathers lets AVX-512 gather words or not, until the test or the benchmark ends.
func withGathers(t testing.TB, fast bool) {
	before := gathers
	gathers = fast
	t.Cleanup(func() { gathers = before })
}

// TestKernelFarBytes compares kernels with the reference: in filters around the size from which on they request lines.
func TestKernelFarBytes(t *testing.T) {
	for _, fast := range []bool{false, true} {
		withGathers(t, fast)
		checkFarBytes(t)
	}
}

func checkFarBytes(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(83, 84))
	half := randomBits(random, 8<<16, 0.5) // of the bits are set, as in a full filter
	var encoded []byte                     // its memory is used again
	eachFormat(t, func(t *testing.T, format Format) {
		for i, size := range []int{16 << 10, farBytes - 100, farBytes + 100} {
			if i > 0 && (i+int(format))%oneOf(3, 6) != 0 {
				continue
			}
			policy := Policy{format, 10}
			keys := make([]uint64, windowKeys+70)
			for i := range keys {
				keys[i] = random.Uint64()
			}
			set := mustSet(t, policy, 8*size/10)
			set.AddBatch(Integers(keys[:len(keys)/2]))
			encoded = set.AppendFilter(encoded[:0])
			bits, _ := mustOpen(t, format, encoded).encoded()
			for i := range bits {
				bits[i] |= half[i%len(half)]
			}
			want := make([]bool, len(keys))
			for i, key := range keys {
				want[i] = Reference(format, encoded, binary.LittleEndian.AppendUint64(nil, key))
			}
			for _, kernel := range proven() {
				f := onKernel(t, mustOpen(t, format, encoded), kernel)
				checkBatch(t, f, Integers(keys), want)
				checkBatch(t, f, Integers(keys[:500]), want[:500])
				for i, key := range keys[:600] {
					if f.MayContainUint64(key) != want[i] {
						t.Fatalf("kernel %v, %d bytes: MayContainUint64(%x) = %v", kernel, len(encoded), key, !want[i])
					}
				}
			}
		}
	})
}

// TestKernelGathers compares the kernels that this CPU does not take, those that load words one by one or those that
// gather, with the letter of their schemes.
func TestKernelGathers(t *testing.T) {
	withGathers(t, !gathers)
	random := rand.New(rand.NewPCG(71, 72))
	for _, s := range []scheme{schemeLevelDB, schemeNori} {
		for _, size := range []uint64{8, 64, 1000, 1 << 13, 1 << 17} {
			for _, k := range []int{1, 2, 6, 13, 30} {
				if (k+int(size))%oneOf(2) != 0 {
					continue
				}
				test := schemeTests[s]
				data := randomBits(random, size, math.Pow(random.Float64(), 1/float64(k)))
				checkScheme(t, s, data, size, k, test.hashesOf(random, windowKeys+70, size), []int{1, 8, 9, 64, 65, 500, windowKeys, windowKeys + 70})
			}
		}
	}
}

// withFours lets AVX2 hash keys of all lengths four at a time, until the test ends.
func withFours(t *testing.T) {
	before := foursXXPH3
	foursXXPH3 = rowLengths{most: longKey}
	t.Cleanup(func() { foursXXPH3 = before })
}

// TestKernelMixedLengths compares the hashes of keys of 0 to 300 bytes, among them a few of 64 KiB, with the
// reference: in columns of up to 130 keys, by the kernels that each CPU takes.
func TestKernelMixedLengths(t *testing.T) {
	random := rand.New(rand.NewPCG(81, 82))
	data := make([]byte, 1<<17)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for _, choice := range []string{"chosen", "all"} {
		t.Run(choice, func(t *testing.T) {
			if choice == "all" {
				withFours(t)
			}
			for n := 1; n <= 130; n += oneOf(3, 6) + random.IntN(1+n/8*oneOf(2)) { // each choice has other numbers of keys
				for i, longest := range []int{3, 12, 17, 33, 140, 300} {
					least := []int{0, 1, 4, 8, 9, 16, 17}[(n+i)%7]
					keys := make([][]byte, n)
					for i := range keys {
						length := max(random.IntN(longest+1), least)
						switch random.IntN(60) {
						case 0:
							length = random.IntN(301)
						case 1:
							if random.IntN(20) == 0 {
								length = 1<<16 - random.IntN(3)
							}
						}
						keys[i] = data[random.IntN(1000):][:length]
					}
					checkEachHash(t, keys, eachLayout(t, keys)...)
				}
				width := random.IntN(60) + 1
				checkFixedWidth(t, data[:n*width], width)
			}
			t.Run("others", func(t *testing.T) {
				t.Run("TestKernelHashes", TestKernelHashes)
				t.Run("TestKernelOtherLengths", func(t *testing.T) { checkOtherLengths(t, 7+oneOf(24)) })
			})
		})
	}
}

// TestKernelOneOtherLength compares the hashes of 64 keys, one of another length, with the reference: a kernel
// that hashes by rows chooses by the shortest and the longest key how it loads all of them.
func TestKernelOneOtherLength(t *testing.T) {
	withFours(t)
	random := rand.New(rand.NewPCG(93, 94))
	data := make([]byte, 2000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for _, others := range []int{1, 16, 31, 32, 40, 64, 130} {
		for _, other := range []int{0, 1, 15, 17, 30, 33, 62, 127, 129, 1000} {
			for _, at := range []int{5, 20, 40, 60} { // one in each 16
				keys := make([][]byte, 64)
				for i := range keys {
					keys[i] = data[random.IntN(900):][:others]
				}
				keys[at] = data[random.IntN(900):][:other]
				checkEachHash(t, keys, Bytes(keys))
			}
		}
	}
}

// TestKernelRowLengths asks which columns AVX2 hashes four keys at a time.
func TestKernelRowLengths(t *testing.T) {
	choice := rowLengths{equal: 5, least: 1, most: 40}
	for _, c := range []struct {
		lengths []int // of the first, the middle and the last key
		want    bool
	}{
		{[]int{4, 4, 4}, false},
		{[]int{5, 5, 5}, true},
		{[]int{40, 40, 40}, true},
		{[]int{41, 41, 41}, false},
		{[]int{1, 20, 7}, true},
		{[]int{0, 7, 21}, false},
		{[]int{6, 7, 41}, false},
	} {
		keys := make([][]byte, 20)
		for i := range keys {
			keys[i] = make([]byte, c.lengths[min(i/10, 1)])
		}
		keys[19] = make([]byte, c.lengths[2])
		keys[10] = make([]byte, c.lengths[1])
		text := make([]string, len(keys))
		for i, key := range keys {
			text[i] = string(key)
		}
		data, offsets := concatenate[int32](keys)
		for name, column := range map[string]Keys{"slices": Bytes(keys), "strings": Strings(text), "offsets": must(t)(Offsets(data, offsets))} {
			if _, rows, stride, _ := column.assemblyRows(); choice.has(rows, stride, len(keys)) != c.want {
				t.Errorf("%s of %d bytes: %v", name, c.lengths, !c.want)
			}
		}
	}
}

// TestKernelRowsEnd looks for the end of a call that hashes by rows at a long key, and after many bytes.
func TestKernelRowsEnd(t *testing.T) {
	t.Parallel()
	if !slices.Contains(kernels, AVX512) {
		return
	}
	// Four rules end a call. The first ends it at keys of 1,024 bytes. With two seeds, bytes count twice.
	rules := map[scheme]int{schemeLevelDB: 0, schemePebble: 0, schemeParquet: 1, schemeNori: 3, schemeRocksDB: 2}
	data := make([]byte, longKey)
	for name, c := range map[string]struct {
		long, others int    // bytes of key 100, and of the others
		want         [4]int // keys of 160 that a call hashes, by the rule
	}{
		"short":      {7, 7, [4]int{160, 160, 160, 160}},
		"127 bytes":  {127, 127, [4]int{160, 160, 160, 160}},
		"128 bytes":  {128, 7, [4]int{160, 160, 160, 160}},
		"129 bytes":  {129, 128, [4]int{160, 160, 96, 160}},
		"1023 bytes": {1023, 7, [4]int{160, 160, 96, 160}},
		"1024 bytes": {1024, 7, [4]int{64, 160, 96, 160}},
		"all longer": {1024, 1024, [4]int{0, 144, 0, 80}},
		"long":       {longKey, 7, [4]int{64, 96, 96, 96}},
		"not long":   {longKey - 1, 7, [4]int{64, 112, 96, 112}},
		"all long":   {longKey - 1, longKey - 1, [4]int{0, 16, 0, 16}},
		"many bytes": {6000, 6000, [4]int{0, 32, 0, 16}},
	} {
		keys := slices.Repeat([][]byte{data[:c.others]}, 160)
		keys[100] = data[:c.long]
		for _, column := range eachLayout(t, keys) {
			if column.isGathered() {
				continue
			}
			for s := noScheme + 1; int(s) < len(schemes); s++ {
				want := 0 // it has no such kernel
				if rule, has := rules[s]; has {
					want = c.want[rule]
				}
				room := hashesOfLength(s, len(keys))
				_, rows, stride, data := column.assemblyRows()
				if done := hashByRows(s, rows, stride, data, len(keys), &room); done != want {
					t.Errorf("%s: %v of %d keys, want %d", name, s, done, want)
				}
			}
		}
		checkEachHash(t, keys, eachLayout(t, keys)...)
	}
}

// TestKernelFoursEnd looks for the end of a call that hashes four keys at a time at a key that is too short or too
// long for it.
func TestKernelFoursEnd(t *testing.T) {
	if !slices.Contains(kernels, AVX2) {
		return
	}
	data := make([]byte, 200)
	for name, c := range map[string]struct {
		other, others int // bytes of key 41, and of the others
		want          int // keys of 99 that a call hashes
	}{
		"shortest": {8, 8, 96}, "8 and 9": {8, 9, 96}, "too short": {7, 8, 40}, "empty": {0, 32, 40}, "32 and 33": {33, 32, 96},
		"longest": {128, 128, 96}, "too long": {129, 128, 40}, "all too long": {129, 129, 0}, "all too short": {7, 7, 0},
	} {
		keys := slices.Repeat([][]byte{data[:c.others]}, 99)
		keys[41] = data[:c.other]
		columns := eachLayout(t, keys)
		if c.other == c.others {
			columns = append(columns, fixedWidthOf(t, keys))
		}
		for _, column := range columns {
			layout, rows, stride, data := column.assemblyRows()
			if column.isGathered() || layout == uint64s {
				continue
			}
			room := hashesOfLength(schemeRocksDB, len(keys))
			if left, ok := xxph3(AVX2, layout, rows, stride, data, len(keys), &room.h1[0]); !ok || len(keys)-left != c.want {
				t.Errorf("%s, layout %d: %d keys left of %d, want %d hashes", name, layout, left, len(keys), c.want)
			}
		}
	}
}

// TestKernelGroupsEnd looks for the end of a call of AVX2 that hashes groups at a long key, and after
// many bytes.
func TestKernelGroupsEnd(t *testing.T) {
	if !slices.Contains(kernels, AVX2) {
		return
	}
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
		layout, rows, stride, data := column.assemblyRows()
		if left, ok := hash32(AVX2, layout, rows, stride, data, len(keys), &hashed[0], 0); !ok || len(keys)-left != 32*c.want {
			t.Errorf("%s: %d keys left of %d, want %d groups of 32", name, left, len(keys), c.want)
		}
		checkHashes(t, schemeLevelDB, kernels, keys, column)
	}
}
