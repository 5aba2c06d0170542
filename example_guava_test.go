package bloom_test

import (
	"fmt"
	"log"
	"math"

	"github.com/lanebloom/bloom"
)

// guavaSize returns how many bits and probes BloomFilter.create of Guava takes. Guava 31.1 computes the probes from the whole
// number of bits; later versions compute them from the rate (Guava's pull request 7494, of 2024). For few keys the two can
// differ by one. Where there are no bits, Guava makes no filter.
func guavaSize(keys int, rate float64) (bits uint64, probes, probesOf31 int) {
	n := float64(max(keys, 1))
	m := math.Floor(-n * math.Log(rate) / (math.Ln2 * math.Ln2))
	round := func(x float64) int { return max(int(math.Floor(x+0.5)), 1) }
	return 64 * uint64(math.Ceil(m/64)), round(-math.Log(rate) / math.Ln2), round(m / n * math.Ln2)
}

// A set of the size that Guava gives to its filters has their bytes for the same keys. All bits here, and the probes
// of Guava 31.1, are those of headers that it wrote.
func Example_guavaSize() {
	bits, probes, _ := guavaSize(1_000_000, 0.03)
	set, err := bloom.Guava.NewSet(bits, probes)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set)
	for _, c := range []struct {
		keys int
		rate float64
	}{{10_000, 0.01}, {0, 0.03}, {1, 0.01}, {3, 0.01}, {5, 1e-5}, {1, 1e-6}, {287, 0.001380066455970332}} {
		bits, probes, probesOf31 := guavaSize(c.keys, c.rate)
		fmt.Printf("%d keys at %.2g: %d bits, %d probes, %d by Guava 31.1\n", c.keys, c.rate, bits, probes, probesOf31)
	}
	// Output:
	// guava filter of 7298496 bits and 5 probes for 0 keys
	// 10000 keys at 0.01: 95872 bits, 7 probes, 7 by Guava 31.1
	// 0 keys at 0.03: 64 bits, 5 probes, 5 by Guava 31.1
	// 1 keys at 0.01: 64 bits, 7 probes, 6 by Guava 31.1
	// 3 keys at 0.01: 64 bits, 7 probes, 6 by Guava 31.1
	// 5 keys at 1e-05: 128 bits, 17 probes, 16 by Guava 31.1
	// 1 keys at 1e-06: 64 bits, 20 probes, 19 by Guava 31.1
	// 287 keys at 0.0014: 3968 bits, 10 probes, 9 by Guava 31.1
}
