//go:build (amd64 || arm64) && !purego

package bloom

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// assembly describes an architecture's file of assembly.
type assembly struct {
	file  string
	gates []gate
}

// gate is what a kernel is chosen by. The names of its functions end with suffix.
type gate struct {
	kernel    Kernel
	suffix    string
	features  []cpuid.FeatureID
	functions int
	lanes     int // hashes at a time

	// How many of 48 keys a call hashes with XXH64 if the one with number 20 is too
	// long, and if all are as long as may be.
	beforeLong, ofLongest int
}

// lanes returns the number of keys that a kernel hashes at a time.
func lanes(k Kernel) int {
	i := slices.IndexFunc(ours.gates, func(g gate) bool { return g.kernel == k })
	return ours.gates[i].lanes
}

// TestFeatures compares the features that each kernel is chosen by with those
// that its functions require, which the generator writes above each.
func TestFeatures(t *testing.T) {
	file, err := os.Open(ours.file)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	required := map[Kernel][]string{}
	functions := map[Kernel]int{}
	var features []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if list, ok := strings.CutPrefix(lines.Text(), "// Requires: "); ok {
			features = strings.Split(list, ", ")
		} else if text, ok := strings.CutPrefix(lines.Text(), "TEXT ·"); ok {
			for _, gate := range ours.gates {
				if strings.Contains(text, gate.suffix+"(SB)") {
					required[gate.kernel] = append(required[gate.kernel], features...)
					functions[gate.kernel]++
				}
			}
			features = nil
		}
	}
	for _, gate := range ours.gates {
		var got []string
		for _, feature := range gate.features {
			got = append(got, feature.String())
		}
		slices.Sort(got)
		slices.Sort(required[gate.kernel])
		if want := slices.Compact(required[gate.kernel]); !slices.Equal(got, want) {
			t.Errorf("%v is chosen by %v and requires %v", gate.kernel, got, want)
		}
		if functions[gate.kernel] != gate.functions {
			t.Errorf("%v has %d functions, want %d", gate.kernel, functions[gate.kernel], gate.functions)
		}
	}
}

// TestLongKeys looks for the end of a call into assembly at a long key, and after
// many bytes.
func TestLongKeys(t *testing.T) {
	data := make([]byte, 48*long)
	for _, c := range []struct{ long, at int }{{long, 20}, {long - 1, 20}, {2 * long, 0}, {long, 47}, {10, 0}} {
		keys, offsets32, offsets64 := make([][]byte, 48), []int32{0}, []int64{0}
		for i := range keys {
			keys[i] = data[:i]
			if i == c.at {
				keys[i] = data[:c.long]
			}
			offsets32 = append(offsets32, offsets32[i]+int32(len(keys[i])))
			offsets64 = append(offsets64, int64(offsets32[i+1]))
		}
		for _, kernel := range kernels[:len(kernels)-1] {
			for _, column := range []Keys{Bytes(keys), must(t)(Offsets(slices.Concat(keys...), offsets32)), must(t)(Offsets64(slices.Concat(keys...), offsets64))} {
				checkHashes(t, column, keys)
				want := c.at / lanes(kernel) * lanes(kernel)
				if c.long < long {
					want += lanes(kernel) // too much for more
				}
				if c.long == 10 {
					want = 48
				}
				if done := column.hash32Assembly(kernel, make([]uint32, 48)); done != want {
					t.Errorf("kernel %v, layout %d, key %d of %d bytes: %d hashes, want %d", kernel, column.layout, c.at, c.long, done, want)
				}
			}
		}
	}
	for _, kernel := range kernels[:len(kernels)-1] {
		for width, want := range map[int]int{long: 0, long - 1: lanes(kernel), 100: 48} {
			column := must(t)(FixedWidth(data[:48*width], width))
			if done := column.hash32Assembly(kernel, make([]uint32, 48)); done != want {
				t.Errorf("kernel %v, keys of %d bytes: %d hashes, want %d", kernel, width, done, want)
			}
		}
	}
}

// TestLongKeys64 is TestLongKeys for XXH64, and looks for the end at other keys, where
// there must be none.
func TestLongKeys64(t *testing.T) {
	data := make([]byte, long)
	withLong := slices.Repeat([][]byte{data[:100]}, 48)
	withLong[20] = data
	for _, gate := range ours.gates {
		if !slices.Contains(kernels, gate.kernel) {
			continue
		}
		all := 48
		if gate.ofLongest == 0 {
			all = 0 // it has none
		}
		for _, layout := range layouts {
			for _, c := range []struct {
				keys [][]byte
				want int
			}{
				{withLong, gate.beforeLong},
				{slices.Repeat([][]byte{data[:long-1]}, 48), gate.ofLongest},
				{slices.Repeat([][]byte{data[:max(layout.width, 1)]}, 48), all},
			} {
				if layout.width != 0 && len(c.keys[0]) != layout.width {
					continue
				}
				column := layout.column(t, c.keys)
				if column.layout == hashes32 || column.layout == hashes64 {
					continue
				}
				checkHashes(t, column, c.keys)
				if done := column.hash64Assembly(gate.kernel, make([]uint64, 48), make([]uint64, 48)); done != c.want {
					t.Errorf("kernel %v, %s, %d bytes: %d hashes, want %d", gate.kernel, layout.name, len(c.keys[0]), done, c.want)
				}
			}
		}
	}
}

// TestForms compares every form of each kernel with the reference.
func TestForms(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	hashes := make([]uint32, window)
	for i := range hashes {
		hashes[i] = random.Uint32()
	}
	for _, kernel := range kernels[:len(kernels)-1] {
		for _, form := range forms {
			t.Run(fmt.Sprintf("kernel=%v/form=%s", kernel, form.name), func(t *testing.T) {
				for k := 1; k <= 30; k++ {
					share := random.Float64()
					encoded := randomFilter(random, 1+random.IntN(5000), k, math.Pow(share, 1/float64(k)))
					n := 1 + random.IntN(window)
					want := make([]uint64, (n+63)/64)
					for i, h := range hashes[:n] {
						if referenceLevelDB(encoded, binary.LittleEndian.AppendUint32(nil, keyOf(h))) {
							want[i/64] |= 1 << (i % 64)
						}
					}
					hits := make([]uint64, window/64)
					if !decodeLevelDB(encoded).testForm(kernel, hashes[:n], hits, form.form) {
						t.Fatal("no assembly")
					}
					if !slices.Equal(hits[:len(want)], want) {
						t.Fatalf("k = %d, %d hashes: %x, want %x", k, n, hits[:len(want)], want)
					}
				}
			})
		}
	}
}

// BenchmarkForms compares the forms over mixtures of present and absent keys.
func BenchmarkForms(b *testing.B) {
	defer func(s, d form) { staged, dense = s, d }(staged, dense)
	always := dense
	eachMixture(b, []int{0, 10, 25, 50, 75, 90, 100}, func(b *testing.B, w *workload) {
		hits := make([]uint64, queries/64)
		for _, kernel := range kernels[:len(kernels)-1] {
			filter, err := w.filter.WithKernel(kernel)
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range forms[:3] {
				b.Run(fmt.Sprintf("kernel=%v/form=%s", kernel, f.name), func(b *testing.B) {
					staged, dense = f.form, f.form
					if f.name == "switched" {
						dense = always
					}
					inTurn(b, queries, w.reference, func() { sink += filter.MayContainBatch(Uint64s(w.keys), hits) })
				})
			}
		}
	})
}

// TestReduce compares the remainders of each kernel with % at hashes at which an
// inexact one shows, for numbers of bits around those where the way changes.
func TestReduce(t *testing.T) {
	random := rand.New(rand.NewPCG(39, 40))
	array := make([]byte, vectorBits/8)
	for shift := range 32 {
		for range 40 {
			n := max(1, uint64(1)<<shift+random.Uint64N(40)-20)
			if random.IntN(2) == 0 {
				n = 1 + random.Uint64N(1<<shift)
			}
			d := newDouble64(array, min(n, vectorBits), 1)
			h := hashes{h1: slices.Grow(edges64(d.bits), 16), h2: slices.Grow(edges64(d.bits), 16)}
			slices.Reverse(h.h2)
			if random.IntN(2) == 0 {
				h = h.slice(0, len(h.h1)/16*16)
			}
			last := (len(h.h1) + 15) / 16 * 16 // past the vector of the last hash
			canaries := slices.Repeat([]uint32{math.MaxUint32}, 16)
			h.starts = append(make([]uint32, last), canaries...)
			h.steps = slices.Clone(h.starts)
			for _, kernel := range kernels[:len(kernels)-1] {
				d.testFirst(kernel, &h, make([]uint64, len(h.h1)/64+1), 1)
				checkRemainders(t, kernel, d.bits, h.h1, h.starts)
				checkRemainders(t, kernel, d.bits, h.h2, h.steps)
				if !slices.Equal(h.starts[last:], canaries) || !slices.Equal(h.steps[last:], canaries) {
					t.Fatalf("kernel %v wrote past the last of %d remainders", kernel, len(h.h1))
				}
			}
		}
	}
}

func checkRemainders(t *testing.T, kernel Kernel, n uint64, hashes []uint64, remainders []uint32) {
	t.Helper()
	for i, h := range hashes {
		if uint64(remainders[i]) != h%n {
			t.Fatalf("kernel %v: %d mod %d = %d, want %d", kernel, h, n, remainders[i], h%n)
		}
	}
}
