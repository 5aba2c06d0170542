package bloom

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/reference"
)

// TestKernelFilters compares each kernel with the letter of its scheme, over numbers of bits, of
// probes and of hashes, and shares of hits: the fill of the bits sets the latter.
func TestKernelFilters(t *testing.T) {
	t.Parallel()
	lengths := []int{0, 1, 2, 7, 8, 15, 16, 17, smallBatch - 1, smallBatch, smallBatch + 1, 127, 128, 129, windowKeys - 1, windowKeys, windowKeys + 1, 2*windowKeys + 67}
	sizes := []uint64{1, 2, 3, 7, 8, 9, 24, 56, 63, 64, 65, 72, 100, 504, 512, 520, 1000, 1 << 13, 1<<14 - 1, 1 << 14, 1<<14 + 1, 1<<15 + 24, 1<<17 - 5, 1 << 20, 1<<20 + 7}
	if !whole() {
		sizes = sizes[:len(sizes)-3]
	}
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		t.Parallel()
		random := rand.New(rand.NewPCG(5, uint64(s)))
		for i, size := range sizes {
			n := (size + test.unit - 1) / test.unit * test.unit
			for j, k := range test.probes(1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 29, 30) {
				if (i+j)%(2*oneOf(2, 4)) != 0 {
					continue // each size with every second number of probes, and the other way round
				}
				data := randomBits(random, 8*uint64(s.bytesOf(n)), math.Pow(random.Float64(), 1/float64(k)))
				checkScheme(t, s, data, n, k, test.hashesOf(random, slices.Max(lengths), n), lengths)
			}
		}
	})
}

// TestKernelBatchLengths tests batches of every seventh length up to two windows and a rest, and of
// every length up to some vectors. A vector or a word of hits ends anywhere in these lengths.
func TestKernelBatchLengths(t *testing.T) {
	t.Parallel()
	stride := 7
	if !whole() {
		stride = 29 // still ends at every bit of a word
	}
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		t.Parallel()
		random := rand.New(rand.NewPCG(17, uint64(s)))
		for _, share := range []float64{0, 0.3, 0.9, 1} {
			for _, k := range test.probes(6) {
				const n = 128256
				data := randomBits(random, 8*uint64(s.bytesOf(n)), math.Pow(share, 1/float64(k)))
				var lengths []int
				for length := 0; length <= 2*windowKeys+70; length += stride {
					lengths = append(lengths, length)
				}
				for length := range 100 {
					lengths = append(lengths, length)
				}
				checkScheme(t, s, data, n, k, test.hashesOf(random, slices.Max(lengths), n), lengths)
			}
		}
	})
}

// TestKernelMixedDensity alternates runs of hits and runs of misses: between them a kernel may
// change its way of probing.
func TestKernelMixedDensity(t *testing.T) {
	t.Parallel()
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		t.Parallel()
		random := rand.New(rand.NewPCG(7, uint64(s)))
		for i, k := range test.probes(1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 20, 29, 30) {
			if i%oneOf(2) != 0 {
				continue
			}
			n := uint64(5000*max(k*10/7, 2)+255) / 256 * 256
			known := test.hashesOf(random, 5000, n)
			data := make([]byte, n/8)
			f := test.filter(s, Generic, data, n, k)
			for _, h := range known {
				f.addHash(h)
			}
			var hashed []Hash
			for len(hashed) < 6000 {
				stretch, share := 1+random.IntN(900), random.IntN(101)
				for _, h := range test.hashesOf(random, stretch, n) {
					if random.IntN(100) < share {
						h = known[random.IntN(len(known))]
					}
					hashed = append(hashed, h)
				}
			}
			checkScheme(t, s, data, n, k, hashed, []int{len(hashed)})
		}
	})
}

// TestKernelRemainders sets the bits of hashes at which an inexact remainder shows and looks for
// them with each kernel, in arrays of all small sizes, of sizes around powers of two, and
// of random ones. All other bits are clear, so that a wrong remainder finds none. A kernel
// that knows the hits to be dense makes its probes in another way.
func TestKernelRemainders(t *testing.T) {
	t.Parallel()
	small, stride := uint64(1<<18), uint64(oneOf(61, 127))
	memory := make([]byte, 1<<29+8) // hardly any of it touched
	random := rand.New(rand.NewPCG(13, 14))
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		for n := test.unit; n <= small; n += test.unit * stride {
			if n < test.unit<<10 || n/test.unit%11 == 0 && test.unit > 1 || n%509 == 0 {
				checkRemainders(t, s, memory, n, 1+int(n/7%2))
			}
		}
		for i := range 33 {
			for d := range uint64(16) {
				if (d+uint64(i))%uint64(oneOf(2, 5)) != 0 {
					continue
				}
				if n := (uint64(1)<<i + (d-8)*test.unit) / test.unit * test.unit; n > 0 && n <= 1<<32 {
					checkRemainders(t, s, memory, n, 30)
				}
			}
			for range 100 / int(stride) {
				n := (random.Uint64N(1<<i)/test.unit + 1) * test.unit
				checkRemainders(t, s, memory, n, 1+random.IntN(30)>>(i/6))
			}
		}
	})
}

func checkRemainders(t *testing.T, s scheme, memory []byte, n uint64, k int) {
	t.Helper()
	test := schemeTests[s]
	if test.k != 0 {
		k = test.k
	}
	data := memory[:s.bytesOf(n)]
	edges := test.edges(n)
	room := hashesOfLength(test.hash, (len(edges)+15)/16*16)
	for i, h := range edges {
		room.set(i, h)
		for j := range k {
			bit := test.bit(h, j, n)
			data[bit/8] |= 1 << (bit % 8)
		}
	}
	hashed := room.slice(0, len(edges))
	hits := make([]uint64, (len(edges)+63)/64)
	for _, kernel := range proven() {
		for _, dense := range []bool{false, true} {
			f := test.filter(s, kernel, data, n, k)
			f.test(&hashed, hits, dense)
			found := 0
			for _, word := range hits {
				found += bits.OnesCount64(word)
			}
			if found != len(edges) {
				t.Fatalf("kernel %v, %d bits, %d probes, dense %v: %d of %d hashes found", kernel, n, k, dense, found, len(edges))
			}
		}
		f := test.filter(s, kernel, data, n, k)
		for i := range edges {
			if h := hashed.at(i, test.hash); !f.MayContainHash(h) {
				t.Fatalf("kernel %v, %d bits, %d probes: MayContainHash(%v) = false", kernel, n, k, h)
			}
		}
	}
	for _, h := range edges {
		for j := range k {
			data[test.bit(h, j, n)/8] = 0
		}
	}
}

// TestKernelMostProbes tests hashes of the most probes that a filter has. Assembly may compute each probe from the one before: the last
// one, of the first bit, would show what such steps add up to.
func TestKernelMostProbes(t *testing.T) {
	t.Parallel()
	test, random := schemeTests[schemeNori], rand.New(rand.NewPCG(15, 16))
	memory := make([]byte, 1<<29) // hardly any of it touched
	for _, n := range []uint64{1<<20 + 1, 3 << 23, 1<<32 - 5} {
		for range 20 / oneOf(1, 4) {
			h := Hash{h2: random.Uint64()}
			h.h1 = random.Uint64N(math.MaxUint64/n)*n - (encoding.MaxProbesCrate-1)*h.h2
			for _, want := range []bool{true, false} {
				for i := range encoding.MaxProbesCrate {
					bit := test.bit(h, i, n)
					memory[bit/8] |= 1 << (bit % 8)
				}
				if !want {
					memory[0] &^= 1
				}
				for _, kernel := range proven() {
					if f := test.filter(schemeNori, kernel, memory[:(n+7)/8], n, encoding.MaxProbesCrate); f.MayContainHash(shortHash(h.h1, h.h2, test.hash)) != want {
						t.Fatalf("kernel %v, %d bits: MayContainHash(%v) = %v", kernel, n, h, !want)
					}
				}
			}
			for i := range encoding.MaxProbesCrate {
				memory[test.bit(h, i, n)/8] = 0
			}
		}
	}
}

// TestKernelIndex compares the remainders of single hashes with %, for all small numbers of bits,
// those around powers of two, and random ones, up to the largest.
func TestKernelIndex(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	var sizes []uint64
	for n := uint64(0); n < 20000; n += uint64(oneOf(1, 3)) {
		sizes = append(sizes, n+1, 8*(n+1))
	}
	for i := range 62 {
		for d := range uint64(64) {
			sizes = append(sizes, uint64(1)<<i+d-32, uint64(1)<<i+8*(d-32))
		}
	}
	for range 50000 / oneOf(1, 5) {
		sizes = append(sizes, 1+random.Uint64()>>1>>random.IntN(62))
	}
	memory := make([]byte, 1)
	for _, n := range sizes {
		if n%8 == 0 && n > 0 && n <= 1<<32 {
			d := probes.LevelDB{Base: &memory[0], N: n / 8, Recip: math.MaxUint64/n + 1, K: 1}
			for _, h := range edges64(n, math.MaxUint32) {
				if got, want := d.Index(uint32(h)), uint64(uint32(h))%n/8; got != want {
					t.Fatalf("double32: %d mod %d is in byte %d, want %d", h, n, got, want)
				}
			}
		}
		if n > 0 && n < 1<<63 {
			d := probes.NewNori(memory, n, 1)
			for _, h := range edges64(n, math.MaxUint64) {
				if got, want := d.Remainder(h), h%n; got != want {
					t.Fatalf("double64: %d mod %d = %d, want %d", h, n, got, want)
				}
			}
		}
	}
}

func TestOnesCount(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for n := range 40 {
		data, want := make([]byte, n), uint64(0)
		for i := range data {
			data[i] = byte(random.Uint32())
			want += uint64(bits.OnesCount8(data[i]))
		}
		if got := onesCount(data); got != want {
			t.Errorf("onesCount(%s) = %d, want %d", fmt.Sprintf("%x", data), got, want)
		}
	}
}

// TestRows compares the rows that kernels multiply by with their formulas: of each number of probes, up
// to the most that a filter of lines may have, rows of 8 probes have every probe, and no other.
func TestRows(t *testing.T) {
	for k := 1; k <= 127; k++ {
		for from := 0; from < k; from += 8 {
			factors, steps := line512Factors.Of(k, from), line32Steps.Of(k, from)
			for i := range 8 {
				probe := min(from, max(k-8, 0)) + i
				if probe >= k {
					probe = 0
				}
				factor := uint32(1)
				for range probe {
					factor *= probes.RocksDBMul
				}
				if factors[i] != factor || steps[i] != uint32(probe) {
					t.Fatalf("%d probes, row from %d, lane %d: factor %#x and step %d, want %#x and %d", k, from, i, factors[i], steps[i], factor, probe)
				}
			}
		}
	}
}

// TestCPUKernels compares the kernels found with those that the job which runs the
// test promises, see the Makefile.
func TestCPUKernels(t *testing.T) {
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

// TestKernelPlaces compares the places of each kernel with the letter of the scheme, in any order,
// and looks for places written past the last.
func TestKernelPlaces(t *testing.T) {
	const canary = 0xdeadbeef
	random := rand.New(rand.NewPCG(51, 52))
	for n := range 70 {
		size, k := 1+random.IntN(5000), 1+random.IntN(encoding.MaxProbes)
		hashed, want := hashesOfLength(schemeLevelDB, n), make([]uint32, 0, n*k)
		for i := range n {
			hashed.h32[i] = random.Uint32()
			for j := range uint32(k) {
				h := hashed.h32[i] + j*bits.RotateLeft32(hashed.h32[i], -17)
				want = append(want, h%uint32(8*size))
			}
		}
		slices.Sort(want)
		for _, kernel := range proven() {
			places := slices.Repeat([]uint32{canary}, 2*n*k+16)
			proberOf(schemeLevelDB, kernel, make([]byte, size), 8*uint64(size), k).place(&hashed, places[:n*k])
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

// TestKernelHashes hashes columns of fixed width at every length up to some vectors, at any
// alignment.
func TestKernelHashes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(19, 20))
	data := make([]byte, 21*150+8)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for _, width := range []int{4, 8, 21} {
		for n := range 150 {
			rows := data[n%8:][:n*width]
			checkEachHash(t, slices.Collect(slices.Chunk(rows, width)), must(t)(FixedWidth(rows, width)))
		}
	}
}

// TestKernelOtherLengths hashes columns of keys of one length in which one key, or all keys from
// one on, have another length.
func TestKernelOtherLengths(t *testing.T) {
	t.Parallel()
	checkOtherLengths(t, 2*oneOf(4))
}

// checkOtherLengths tests a share of the places that another length has in a column. One of eight still gives every
// lane keys of five lengths.
func checkOtherLengths(t *testing.T, stride int) {
	t.Helper()
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte(7 * i)
	}
	for i, length := range []int{0, 4, 8, 16, 28} {
		for j, other := range []int{length, 0, 1, length + 1, length + 3, length + 4, length + 16, length + 32, length + 128} {
			for at := range 2 * 64 {
				if (i+j+at)%stride != 0 {
					continue
				}
				keys := make([][]byte, 100)
				for i := range keys {
					keys[i] = data[i:][:length]
					if i == at || at >= 64 && i >= at-64 {
						keys[i] = data[i:][:other]
					}
				}
				checkEachHash(t, keys, eachLayout(t, keys)...)
			}
		}
	}
}

// TestKernelStripes compares the stripes of XXPH3 in assembly with those in portable Go, and with the
// reference.
func TestKernelStripes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(77, 78))
	data := make([]byte, 2*longKey+70)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for _, lengths := range [][2]int{{241, 1300}, {longKey - 2, longKey + 66}, {2*longKey - 1, 2*longKey + 2}} {
		for n := lengths[0]; n < lengths[1]; n++ {
			p := unsafe.Pointer(&data[len(data)-n])
			var plain, fast keyhash.XXPH3Sums
			for i := range plain {
				plain[i] = random.Uint64()
			}
			fast = plain
			plain.Add(p, n)
			if has := addXXPH3(&fast, p, n); has != (kernels[0] != Generic) || has && fast != plain {
				t.Fatalf("%d bytes, in assembly %v: sums %x, want %x", n, has, fast, plain)
			}
			want := reference.XXPH3(data[len(data)-n:])
			if got := xxph3At(p, n); got != want {
				t.Fatalf("%d bytes: hash %x, want %x", n, got, want)
			}
		}
	}
}
