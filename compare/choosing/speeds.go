package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
)

const (
	bitsPerKey = 10
	width      = 36      // of a key, a UUID as text
	pool       = 1 << 20 // keys to ask for, of each kind
	window     = 1 << 16 // of these, in a round
	rounds     = 31
)

// way tests keys. It returns how many pass.
type way struct {
	row string
	run func(keys []string) int
	ns  [2][]float64 // a key, by round: absent and present
}

// speeds prints how long a test of one key takes, and that of a key in a column, for filters of two
// sizes. All ways take turns, each on keys that it has not seen in the last rounds.
func speeds() error {
	fmt.Printf("%s, %s/%s, %s, kernel %v; nanoseconds a key of %d bytes, medians of %d rounds of %d keys:\n\n",
		cpuid.CPU.BrandName, runtime.GOOS, runtime.GOARCH, runtime.Version(), bloom.Kernels()[0], width, rounds, window)
	for _, size := range []int{16 << 10, 8 << 20} {
		ways, err := compare(8 * size / bitsPerKey)
		if err != nil {
			return err
		}
		fmt.Printf("%d KiB\n\n| | one key, absent | present | column, absent | present |\n|---|---:|---:|---:|---:|\n", size>>10)
		for i, w := range ways {
			if i == 0 || w.row != ways[i-1].row {
				fmt.Printf("| %s |", w.row)
			}
			fmt.Printf(" %s | %s |", digits(median(w.ns[0])), digits(median(w.ns[1])))
			if i+1 == len(ways) || ways[i+1].row != w.row {
				if i == 0 || w.row != ways[i-1].row {
					fmt.Print(" | |") // it has no columns
				}
				fmt.Println()
			}
		}
		fmt.Println()
	}
	return nil
}

// compare times all ways to test keys against a filter of n keys.
func compare(n int) ([]way, error) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	known, absent := uuids(random, n), uuids(random, pool)
	ways := newWays(known)
	present := make([]string, pool)
	for i := range present {
		present[i] = known[random.IntN(n)]
	}
	present = together(present)
	runtime.GC()
	for round := range rounds + 1 {
		for i := range ways {
			w := &ways[i]
			for kind, keys := range [2][]string{absent, present} {
				at := round * window % pool
				w.run(keys[(at+pool/2)%pool:][:window]) // the filter into the caches that hold it
				start := time.Now()
				passed := w.run(keys[at : at+window])
				took := time.Since(start)
				if kind == 1 && passed != window {
					return nil, fmt.Errorf("%s: %d of %d known keys pass", w.row, passed, window)
				}
				if round > 0 {
					w.ns[kind] = append(w.ns[kind], float64(took.Nanoseconds())/window)
				}
			}
		}
	}
	return ways, nil
}

// newWays builds the filters, and what they are compared with, of some keys.
func newWays(known []string) (ways []way) {
	for _, f := range formats {
		filter := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.NewFilter(bloom.Strings(known))
		hits := make([]uint64, window/64)
		ways = append(ways,
			way{row: "`" + f.String() + "`", run: func(keys []string) (passed int) {
				for _, key := range keys {
					if filter.MayContainString(key) {
						passed++
					}
				}
				return passed
			}},
			way{row: "`" + f.String() + "`", run: func(keys []string) int {
				return filter.MayContainBatch(bloom.Strings(keys), hits)
			}})
	}
	other := bitsbloom.New(uint(bitsPerKey*len(known)), 7)
	exact := make(map[string]struct{}, len(known))
	for _, key := range known {
		other.AddString(key)
		exact[key] = struct{}{}
	}
	return append(ways,
		way{row: "bits-and-blooms", run: func(keys []string) (passed int) {
			for _, key := range keys {
				if other.TestString(key) {
					passed++
				}
			}
			return passed
		}},
		way{row: "map[string]struct{}", run: func(keys []string) (passed int) {
			for _, key := range keys {
				if _, ok := exact[key]; ok {
					passed++
				}
			}
			return passed
		}})
}

// uuids returns n random UUIDs as text, one after the other in memory.
func uuids(random *rand.Rand, n int) []string {
	text := make([]byte, 0, n*width)
	for range n {
		a, b := random.Uint64(), random.Uint64()
		text = fmt.Appendf(text, "%08x-%04x-4%03x-a%03x-%012x", uint32(a), uint16(a>>32), a>>48&0xfff, b>>52, b&(1<<48-1))
	}
	return split(string(text))
}

// together returns copies of the keys, one after the other in memory.
func together(keys []string) []string {
	text := make([]byte, 0, len(keys)*width)
	for _, key := range keys {
		text = append(text, key...)
	}
	return split(string(text))
}

func split(text string) []string {
	keys := make([]string, len(text)/width)
	for i := range keys {
		keys[i] = text[i*width:][:width]
	}
	return keys
}

// digits writes a time with two significant digits.
func digits(ns float64) string {
	if ns < 9.95 {
		return fmt.Sprintf("%.1f", ns)
	}
	return fmt.Sprintf("%.0f", ns)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
