// Command falsepositives prints the false-positive rates of LevelDB's filter,
// as measured and as the textbook has them, for docs/false-positives.md:
//
//	go run ./falsepositives    (in compare/)
package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/lanebloom/bloom"
)

func main() {
	probeValues()
	sizes := []int{8, 10, 12, 16}
	fmt.Print("\n| keys |")
	for _, b := range sizes {
		fmt.Printf(" %d bits: measured | textbook | ratio |", b)
	}
	fmt.Println("\n|---:|" + "---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, n := range []int{1000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000} {
		fmt.Printf("| %d |", n)
		for _, b := range sizes {
			policy := bloom.Policy{BitsPerKey: b}
			measured, expected := measure(policy, n), policy.FalsePositiveRate(n)
			fmt.Printf(" %.3f %% | %.3f %% | %.2f |", 100*measured, 100*expected, measured/expected)
		}
		fmt.Println()
	}
}

// measure returns the share of random hashes that filters of n random keys
// answer yes to, over five filters.
func measure(p bloom.Policy, n int) (rate float64) {
	const filters = 5
	for seed := range uint64(filters) {
		random := rand.New(rand.NewPCG(seed, 99))
		hashes := make([]uint32, n)
		for i := range hashes {
			hashes[i] = random.Uint32()
		}
		f, err := bloom.Open(bloom.LevelDB, p.AppendFilter(nil, bloom.Hashes32(hashes)))
		if err != nil {
			panic(err) // LevelDB's format has no malformed filter
		}
		rate += f.Stats().FalsePositiveRate / filters
	}
	return rate
}

// probeValues counts how many values each probe takes over all 2^32 hashes.
func probeValues() {
	seen := make([]uint64, 1<<26)
	for probe := range uint32(6) {
		clear(seen)
		for h := range uint64(1 << 32) {
			p := uint32(h) + probe*bits.RotateLeft32(uint32(h), -17)
			seen[p/64] |= 1 << (p % 64)
		}
		values := 0
		for _, word := range seen {
			values += bits.OnesCount64(word)
		}
		fmt.Printf("probe %d takes %d values\n", probe+1, values)
	}
}
