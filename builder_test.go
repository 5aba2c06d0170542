package bloom

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/memory"
)

// TestAdd sets bits directly, and by region with few and many workers, in arrays of sizes
// around those of regions.
func TestAdd(t *testing.T) {
	t.Parallel()
	const region = 1 << regionShift
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		t.Parallel()
		random := rand.New(rand.NewPCG(29, uint64(s)))
		for i, size := range []uint64{8, 16, 56, 800, 8000, region - 8, region, region + 8, 5*region + 24} {
			for j, k := range test.probes(1, 2, 6, 30) {
				if (i+j)%oneOf(2, 4) != 0 {
					continue // each size with every second number of probes, and the other way round
				}
				n := (size + test.unit - 1) / test.unit * test.unit
				hashed := test.hashesOf(random, random.IntN(min(20000, 120000/k)), n) // whose places fill a region several times
				want := test.addOneByOne(hashed, n, k)
				for _, kernel := range kernels {
					check := func(name string, add func(s *prober, keys Keys)) {
						t.Helper()
						size := s.bytesOf(n)
						data := make([]byte, size+8)
						add(&test.filter(s, kernel, data[:size], n, k).prober, columnOfHashes(test.hash, hashed))
						if !bytes.Equal(data[:size], want) {
							t.Fatalf("%s, kernel %v: %d bits, %d probes, %d keys: wrong bits", name, kernel, n, k, len(hashed))
						}
						if !bytes.Equal(data[size:], make([]byte, 8)) {
							t.Fatalf("%s, kernel %v: %d bits, %d probes: bits set past the end", name, kernel, n, k)
						}
					}
					check("directly", func(s *prober, keys Keys) { s.addDirectly(&keys) })
					check("one by one", func(s *prober, keys Keys) { s.addEach(keys) })
					for _, workers := range []int{1, 3, maxWorkers} {
						check("by region", func(s *prober, keys Keys) { s.addByRegion(keys, workers) })
					}
				}
			}
		}
	})
}

// TestKernelSortByRegion compares the sorting of places by kernels with portable Go.
func TestKernelSortByRegion(t *testing.T) {
	const regions, capacity = 5, 64
	random := rand.New(rand.NewPCG(31, 32))
	places := make([]uint32, 1000)
	for i := range places {
		places[i] = random.Uint32N(regions << regionShift)
		if i%3 == 0 {
			places[i] %= 1 << regionShift // fills a region first
		}
	}
	ours := newRegionBuffers(kernels[0], regions, capacity, make([]uint32, regions*capacity))
	generic := newRegionBuffers(Generic, regions, capacity, make([]uint32, regions*capacity))
	for len(places) > 0 {
		n := 1 + random.IntN(len(places))
		left, want := ours.sort(places[:n]), generic.sortGeneric(places[:n])
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

// TestBuildOnAnyCores builds filters that workers share.
func TestBuildOnAnyCores(t *testing.T) {
	const cores = 5
	keys := make([]uint64, cores*workerKeys)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	eachFormat(t, func(t *testing.T, f Format) {
		if int(f)%oneOf(2, 3) != 0 {
			return // the workers are the same for all
		}
		p := Policy{f, 26}
		want := buildOneByOne(t, p, keys)
		if len(want) < shareBytes {
			t.Fatalf("%d bytes are not shared", len(want))
		}
		for _, cores := range []int{1, cores} {
			if cores == 1 && !whole() {
				continue // nothing is shared
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			if got := p.AppendFilter([]byte("ahead"), Integers(keys)); string(got[:5]) != "ahead" || !bytes.Equal(got[5:], want) {
				t.Errorf("%d cores: AppendFilter: wrong bytes", cores)
			}
			set := mustSet(t, p, len(keys))
			for part := range 3 {
				set.AddBatch(Integers(keys[part*len(keys)/3 : (part+1)*len(keys)/3]))
			}
			if !bytes.Equal(set.data, want) {
				t.Errorf("%d cores: Set: wrong bytes", cores)
			}
		}
	})
}

// buildOneByOne adds keys to a set one by one.
func buildOneByOne(t *testing.T, p Policy, keys []uint64) []byte {
	set := mustSet(t, p, len(keys))
	for _, key := range keys {
		set.addHash(set.scheme.hashUint64(key))
	}
	return set.data
}

// TestPanicsOfWorkers changes a column between its check and its use, as no caller may. The
// panic must come to the caller, who can recover it.
func TestPanicsOfWorkers(t *testing.T) {
	offsets := make([]int32, 4*workerKeys+1)
	column := must(t)(Offsets([]byte("data"), offsets))
	for i := range offsets {
		offsets[i] = 1 << 20
	}
	eachFormat(t, func(t *testing.T, f Format) {
		set, err := mustSet(t, Policy{f, 10}, shareBytes).WithKernel(Generic) // which checks bounds
		if err != nil {
			t.Fatal(err)
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
		if got := panicOf(func() { set.AddBatch(column) }); got == "" {
			t.Error("no panic")
		}
	})
}

// TestBuildMemory measures the temporary memory of building by any number of workers,
// and compares it with what AppendFilter promises.
func TestBuildMemory(t *testing.T) {
	data := make([]byte, 32*workerKeys)
	for i := range data {
		data[i] = byte(uint32(i) * 0x9e3779b1 >> 13)
	}
	keys := must(t)(FixedWidth(data, 1))
	for _, p := range []Policy{{LevelDB, 10}, {Nori, 10}}[:2/oneOf(2)] {
		for _, size := range []int{2 << 20, 25e6} {
			set, err := p.NewSet(size * 8 / p.BitsPerKey)
			if err != nil {
				t.Fatal(err)
			}
			for _, cores := range []int{128, 1, 2, 16}[:4/oneOf(1, 4)] {
				keys := keys.Slice(0, min(keys.Len(), max(cores, 4)*workerKeys)) // enough for regions
				before := runtime.GOMAXPROCS(cores)
				got := allocated(func() { set.AddBatch(keys) })
				runtime.GOMAXPROCS(before)
				if most := 6<<20 + size*6/10; got > uint64(most) {
					t.Errorf("%v, %d cores: %d bytes for a filter of %d, want at most %d", p, cores, got, size, most)
				}
			}
		}
	}
}

// TestExtend appends zero bytes to slices with and without room, with and without
// huge pages.
func TestExtend(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 100, farBytes - 1, farBytes, farBytes + 12345} {
		for _, dst := range [][]byte{nil, []byte("abc"), append(make([]byte, 0, 200), "abc"...)} {
			for i := range dst[len(dst):cap(dst)] {
				dst[:cap(dst)][len(dst)+i] = 0xff
			}
			got := memory.Extend(dst, n)
			if string(got[:len(dst)]) != string(dst) || len(got) != len(dst)+n || bytes.Count(got[len(dst):], []byte{0}) != n {
				t.Errorf("extend of %d bytes by %d: %d bytes", len(dst), n, len(got))
			}
		}
	}
	for _, n := range []int{1, 1000, memory.HugePage / 4, memory.HugePage/4 + 1} {
		if words := memory.HugeWords(n); len(words) != n || slices.ContainsFunc(words, func(w uint32) bool { return w != 0 }) {
			t.Errorf("memory.HugeWords(%d)", n)
		}
	}
}

// TestNewEncoded looks at where the bits begin, and for the word after the last of them.
func TestNewEncoded(t *testing.T) {
	for _, before := range []int{0, 1, 12, 16, 100} {
		for after := range 2000 {
			data := memory.Aligned(before, after)
			if len(data) != before+after || cap(data) < before+(after+3)/4*4 {
				t.Fatalf("memory.Aligned(%d, %d) has %d bytes of %d", before, after, len(data), cap(data))
			}
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(data))) + uintptr(before); at%memory.CacheLine != 0 {
				t.Fatalf("memory.Aligned(%d, %d) has its bits at %x", before, after, at)
			}
		}
	}
}

// TestManyProbes builds filters of few keys whose probes fill a window with the places of one or two keys.
func TestManyProbes(t *testing.T) {
	t.Parallel()
	for bitsPerKey, k := range map[int]int{2955: windowPlaces / 2, 5910: windowPlaces} {
		p := Policy{NoriCrate, bitsPerKey}
		if got := probesOf(p); got != k {
			t.Fatalf("%d bits per key: %d probes, want %d", bitsPerKey, got, k)
		}
		for _, n := range []int{1, 2, smallBatch, smallBatch + 1} {
			keys := golden.Decimals.Range(0, n)
			checkWays(t, p, keys, create(NoriCrate, keys, bitsPerKey))
		}
	}
}
