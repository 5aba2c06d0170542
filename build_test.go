package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// eachFastest runs a subtest for every kernel of this CPU, as if it were the
// fastest: builds choose that.
func eachFastest(t *testing.T, run func(t *testing.T)) {
	all := kernels
	defer func() { kernels = all }()
	for i := range all {
		kernels = all[i:]
		t.Run(fmt.Sprintf("kernel=%v", kernels[0]), run)
	}
}

// addOneByOne is what every way to build does.
func addOneByOne(size, k int, keys []uint64) []byte {
	data := make([]byte, size)
	for _, key := range keys {
		h := referenceHash32(binary.LittleEndian.AppendUint64(nil, key))
		delta := h>>17 | h<<15
		for range k {
			bit := uint64(h) % (8 * uint64(size))
			data[bit/8] |= 1 << (bit % 8)
			h += delta
		}
	}
	return data
}

// TestAdd sets bits directly, and scattered by any number of workers, in filters
// of sizes around those of regions.
func TestAdd(t *testing.T) {
	const region = 1 << regionShift / 8
	random := rand.New(rand.NewPCG(29, 30))
	keys := make([]uint64, 20000)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	for _, size := range []int{1, 2, 7, 100, 1000, region - 1, region, region + 1, 5*region + 3} {
		for _, k := range []int{1, 2, 6, 30} {
			keys := keys[:random.IntN(20000)]
			want := addOneByOne(size, k, keys)
			eachFastest(t, func(t *testing.T) {
				check := func(name string, add func(s scheme)) {
					t.Helper()
					data := make([]byte, size+8)
					add(scheme{double32: newDouble32(data[:size], k)})
					if !bytes.Equal(data[:size], want) {
						t.Fatalf("%s: %d bytes, k = %d, %d keys: wrong bits", name, size, k, len(keys))
					}
					if !bytes.Equal(data[size:], make([]byte, 8)) {
						t.Fatalf("%s: %d bytes, k = %d: bits set past the end", name, size, k)
					}
				}
				check("directly", func(s scheme) { s.addDirectly(Uint64s(keys)) })
				for _, workers := range []int{1, 2, 3, 8} {
					check("scattered", func(s scheme) { s.addScattered(Uint64s(keys), workers) })
				}
			})
		}
	}
}

// TestScatter compares the scattering of places with that of portable Go.
func TestScatter(t *testing.T) {
	const regions, capacity = 5, 64
	random := rand.New(rand.NewPCG(31, 32))
	places := make([]uint32, 1000)
	for i := range places {
		places[i] = random.Uint32N(regions << regionShift)
		if i%3 == 0 {
			places[i] %= 1 << regionShift // fills a region first
		}
	}
	ours, generic := newRegionBuffers(regions, capacity), newRegionBuffers(regions, capacity)
	for len(places) > 0 {
		n := 1 + random.IntN(len(places))
		left, want := ours.scatter(places[:n]), generic.scatterGeneric(places[:n])
		if left != want || !slices.Equal(ours.numbers, generic.numbers) {
			t.Fatalf("%d of %d places left, want %d; numbers %d, want %d", left, n, want, ours.numbers, generic.numbers)
		}
		for region := range uint32(regions) {
			if !slices.Equal(ours.whole(region), generic.whole(region)) || !slices.Equal(ours.rest(region), generic.rest(region)) {
				t.Fatalf("region %d: %d and %d, want %d and %d", region, ours.whole(region), ours.rest(region), generic.whole(region), generic.rest(region))
			}
			if ours.isFull(region) {
				ours.numbers[region], generic.numbers[region] = 0, 0
			}
		}
		places = places[n-left:]
	}
}

// TestBuildOnAnyCores builds a filter that workers share.
func TestBuildOnAnyCores(t *testing.T) {
	const bytesPerKey = 2
	keys := make([]uint64, 9*workerKeys)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	p := Policy{BitsPerKey: 8 * bytesPerKey}
	size := bytesPerKey * len(keys)
	if size < shareFrom {
		t.Fatalf("%d bytes are not shared", size)
	}
	want := append(addOneByOne(size, probesLevelDB(p.BitsPerKey), keys), byte(probesLevelDB(p.BitsPerKey)))
	for _, cores := range []int{1, 2, 5, 16} {
		t.Run(fmt.Sprintf("cores=%d", cores), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			if got := p.AppendFilter([]byte("ahead"), Uint64s(keys)); string(got[:5]) != "ahead" || !bytes.Equal(got[5:], want) {
				t.Error("AppendFilter: wrong bytes")
			}
			set, err := p.NewSet(len(keys))
			if err != nil {
				t.Fatal(err)
			}
			for part := range 3 {
				set.AddBatch(Uint64s(keys[part*len(keys)/3 : (part+1)*len(keys)/3]))
			}
			if !bytes.Equal(set.data, want) {
				t.Error("Set: wrong bytes")
			}
		})
	}
}

// TestExtend appends zero bytes to slices with and without room, with and without
// huge pages.
func TestExtend(t *testing.T) {
	for _, n := range []int{0, 1, 100, hugeFrom - 1, hugeFrom, hugeFrom + 12345} {
		for _, dst := range [][]byte{nil, []byte("abc"), append(make([]byte, 0, 200), "abc"...)} {
			for i := range dst[len(dst):cap(dst)] {
				dst[:cap(dst)][len(dst)+i] = 0xff
			}
			got := extend(dst, n)
			if string(got[:len(dst)]) != string(dst) || len(got) != len(dst)+n || bytes.ContainsFunc(got[len(dst):], func(r rune) bool { return r != 0 }) {
				t.Errorf("extend of %d bytes by %d: %d bytes", len(dst), n, len(got))
			}
		}
	}
	for _, n := range []int{1, 1000, hugePage / 4, hugePage/4 + 1} {
		if words := hugeWords(n); len(words) != n || slices.ContainsFunc(words, func(w uint32) bool { return w != 0 }) {
			t.Errorf("hugeWords(%d)", n)
		}
	}
}

// TestManyProbes builds filters of few keys that have more places than fit the
// buffer for few keys, or as many as the large one holds.
func TestManyProbes(t *testing.T) {
	for bitsPerKey, k := range map[int]int{738: placesFew, 739: placesFew + 1, 5910: placesOnce} {
		p := Policy{NoriCrate, bitsPerKey}
		if got := probesNori(p.Format, bitsPerKey); got != k {
			t.Fatalf("%d bits per key: %d probes, want %d", bitsPerKey, got, k)
		}
		for _, n := range []int{1, 2, short, short + 1} {
			keys := golden.Decimals.Range(0, n)
			if !bytes.Equal(p.AppendFilter(nil, Bytes(keys)), referenceCreate(p, keys)) {
				t.Errorf("%d keys at %d bits differ from the reference", n, bitsPerKey)
			}
		}
	}
}
