package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

const (
	uuid   = 36      // bytes of a key, a UUID as text
	pool   = 1 << 20 // keys to ask for, of each kind
	window = 1 << 16 // of these, in a round
	rounds = 31
)

// formats are those that users choose from, the default first. NoriCrate is Nori with another size, and Guava is like
// BitsAndBlooms with half the hash.
func formats() []bloom.Format {
	formats := slices.DeleteFunc(bloom.Formats(), func(f bloom.Format) bool {
		return f == bloom.NoriCrate || f == bloom.Guava || f == bloom.Default
	})
	return slices.Insert(formats, 0, bloom.Default)
}

// timeUUIDs times one key, and a column, with filters of two sizes.
func timeUUIDs() (figures []figure, err error) {
	for _, size := range []int{16 << 10, 8 << 20} {
		const bitsPerKey = 10
		n := 8 * size / bitsPerKey
		known := uuids(rand.New(rand.NewPCG(1, uint64(n))), n)
		ways := append(waysOf(known, bitsPerKey), others(known, bitsPerKey)...)
		timed, err := inTurn(fmt.Sprintf("UUIDs/filter=%dKiB", size>>10), known, ways)
		if err != nil {
			return nil, err
		}
		figures = append(figures, timed...)
	}
	return figures, nil
}

// bitsPerKeys are the rows of the table of rates and times, and bitsKeys is the number of its keys.
var bitsPerKeys = []int{6, 8, 10, 12, 14, 16, 20}

const bitsKeys = 1_000_000

// timeBits times every format with each of bitsPerKeys, and takes the rate of the filter from its fill.
func timeBits() (figures []figure, err error) {
	known := uuids(rand.New(rand.NewPCG(1, bitsKeys)), bitsKeys)
	for _, bits := range bitsPerKeys {
		timed, err := inTurn(fmt.Sprintf("Bits/bits=%d", bits), known, waysOf(known, bits))
		if err != nil {
			return nil, err
		}
		figures = append(figures, timed...)
		for _, f := range formats() {
			rate := bloom.Policy{Format: f, BitsPerKey: bits}.NewFilter(bloom.Strings(known)).MeasureRate()
			figures = append(figures, figure{Name: fmt.Sprintf("Bits/bits=%d/what=%v", bits, f), Rate: race.Three(rate)})
		}
	}
	return figures, nil
}

// way tests keys. It returns how many pass.
type way struct {
	name string
	run  func(keys []string) int
}

// inTurn times all ways to test absent keys, and present ones: each on keys that it has not seen in the last rounds.
func inTurn(name string, known []string, ways []way) (figures []figure, err error) {
	random := rand.New(rand.NewPCG(2, uint64(len(known))))
	present := make([]string, pool)
	for i := range present {
		present[i] = known[random.IntN(len(known))]
	}
	for i, keys := range [][]string{uuids(random, pool), together(present)} {
		hits := 100 * i
		var raced []*race.Way
		for _, w := range ways {
			raced = append(raced, &race.Way{
				Name: w.name,
				// The filter into the caches that hold it.
				Ready: func(round int) error { w.run(keys[(round*window+pool/2)%pool:][:window]); return nil },
				Run: func(round int) (int, error) {
					passed := w.run(keys[round*window%pool:][:window])
					if hits == 100 && passed != window {
						return 0, fmt.Errorf("%d of %d known keys pass", passed, window)
					}
					return passed, nil
				},
			})
		}
		if err := (race.Race{Rounds: rounds, Operations: window, Differ: true, Clean: true}).Run(raced...); err != nil {
			return nil, err
		}
		for _, w := range raced {
			figures = append(figures, w.Figure(fmt.Sprintf("%s/%s/hits=%d%%", name, w.Name, hits)))
		}
	}
	return figures, nil
}

// waysOf builds a filter of each format. A key is tested alone, and in a column.
func waysOf(known []string, bitsPerKey int) (ways []way) {
	for _, f := range formats() {
		filter := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.NewFilter(bloom.Strings(known))
		hits := make([]uint64, window/64)
		ways = append(ways,
			way{name: fmt.Sprintf("what=%v/keys=one", f), run: func(keys []string) (passed int) {
				for _, key := range keys {
					if filter.MayContainString(key) {
						passed++
					}
				}
				return passed
			}},
			way{name: fmt.Sprintf("what=%v/keys=column", f), run: func(keys []string) int {
				return filter.MayContainBatch(bloom.Strings(keys), hits)
			}})
	}
	return ways
}

// What the formats are compared with: the library that is in most programs, and a map.
const otherLibrary, exactMap = "the library bits-and-blooms", "map[string]struct{}"

// others builds what the filters are compared with.
func others(known []string, bitsPerKey int) []way {
	other := bitsbloom.New(uint(bitsPerKey*len(known)), 7)
	exact := make(map[string]struct{}, len(known))
	for _, key := range known {
		other.AddString(key)
		exact[key] = struct{}{}
	}
	return []way{
		{name: "what=" + otherLibrary + "/keys=one", run: func(keys []string) (passed int) {
			for _, key := range keys {
				if other.TestString(key) {
					passed++
				}
			}
			return passed
		}},
		{name: "what=" + exactMap + "/keys=one", run: func(keys []string) (passed int) {
			for _, key := range keys {
				if _, ok := exact[key]; ok {
					passed++
				}
			}
			return passed
		}},
	}
}

// uuids returns n random UUIDs as text, one after the other in memory.
func uuids(random *rand.Rand, n int) []string {
	text := make([]byte, 0, n*uuid)
	for range n {
		a, b := random.Uint64(), random.Uint64()
		text = fmt.Appendf(text, "%08x-%04x-4%03x-a%03x-%012x", uint32(a), uint16(a>>32), a>>48&0xfff, b>>52, b&(1<<48-1))
	}
	return split(string(text))
}

// together returns copies of the keys, one after the other in memory.
func together(keys []string) []string {
	text := make([]byte, 0, len(keys)*uuid)
	for _, key := range keys {
		text = append(text, key...)
	}
	return split(string(text))
}

func split(text string) []string {
	keys := make([]string, len(text)/uuid)
	for i := range keys {
		keys[i] = text[i*uuid:][:uuid]
	}
	return keys
}
