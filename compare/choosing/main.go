// Command choosing measures filters of every format with random keys. It prints their
// false-positive rates and sizes, in the tables of docs/choosing.md.
//
//	go run ./choosing    (in compare/)
package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lanebloom/bloom"
)

func main() {
	for f := bloom.Format(0); ; f++ {
		if _, err := bloom.Open(f, nil); errors.Is(err, bloom.ErrFormat) {
			return
		}
		fmt.Printf("## Format %v\n", f)
		bitsForRate(f)
		rates(f)
		overfilled(f)
	}
}

var keyCounts = []int{1000, 10_000, 100_000, 300_000, 1_000_000, 10_000_000}

// bitsForRate prints the fewest bits per key that hold a rate, and those that PolicyFor takes.
func bitsForRate(f bloom.Format) {
	targets := []float64{0.05, 0.02, 0.01, 0.005, 0.001, 0.0001}
	fmt.Print("\n| keys |")
	for _, target := range targets {
		fmt.Printf(" %v %% |", 100*target)
	}
	fmt.Print("\n|---:|")
	for range targets {
		fmt.Print("---:|")
	}
	fmt.Println()
	for _, n := range keyCounts {
		fmt.Printf("| %s |", comma(n))
		b := 1
		for _, target := range targets {
			const most = 40
			for ; b <= most && measure(bloom.Policy{Format: f, BitsPerKey: b}, n, n) > target; b++ {
			}
			chosen := "none"
			if p, err := bloom.PolicyFor(f, n, target); err == nil {
				chosen = fmt.Sprint(p.BitsPerKey)
			}
			if b > most {
				fmt.Printf(" none (%s) |", chosen)
				continue
			}
			fmt.Printf(" %d (%s) |", b, chosen)
		}
		fmt.Println()
	}
}

// rates prints the rate and the size of filters.
func rates(f bloom.Format) {
	fmt.Print("\n| bits per key | probes |")
	for _, n := range keyCounts {
		fmt.Printf(" %s keys |", comma(n))
	}
	fmt.Print(" bytes for a million |\n|---:|---:|")
	for range keyCounts {
		fmt.Print("---:|")
	}
	fmt.Println("---:|")
	for _, b := range []int{6, 8, 10, 12, 14, 16, 20} {
		p := bloom.Policy{Format: f, BitsPerKey: b}
		set, err := p.NewSet(1_000_000)
		if err != nil {
			panic(err) // the sizes are ours
		}
		fmt.Printf("| %d | %d |", b, set.Stats().Probes)
		for _, n := range keyCounts {
			fmt.Printf(" %s |", percent(measure(p, n, n)))
		}
		fmt.Printf(" %s |\n", comma(len(set.AppendFilter(nil))))
	}
}

// overfilled prints the rate of filters that have fewer or more keys than expected.
func overfilled(f bloom.Format) {
	const expected = 10_000
	shares := []float64{0.25, 0.5, 1, 1.5, 2, 3}
	fmt.Print("\n| bits per key |")
	for _, share := range shares {
		fmt.Printf(" %v |", share)
	}
	fmt.Print("\n|---:|")
	for range shares {
		fmt.Print("---:|")
	}
	fmt.Println()
	for _, b := range []int{8, 10, 12, 16} {
		fmt.Printf("| %d |", b)
		for _, share := range shares {
			p := bloom.Policy{Format: f, BitsPerKey: b}
			fmt.Printf(" %s |", percent(measure(p, expected, int(share*expected))))
		}
		fmt.Println()
	}
	fmt.Println()
}

// measure returns the share of absent keys that pass filters of n random 8-byte keys,
// sized for the expected number of keys. It is the mean of several filters; small
// filters differ more, so it takes more of them.
func measure(p bloom.Policy, expected, n int) float64 {
	const absent = 1 << 20
	filters := min(max(4, 400_000/n), 40)
	passed := 0
	for seed := range uint64(filters) {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		set, err := p.NewSet(expected)
		if err != nil {
			panic(err) // the sizes are ours
		}
		set.AddBatch(bloom.Uint64s(numbers(random, n)))
		hits := make([]uint64, absent/64)
		passed += set.MayContainBatch(bloom.Uint64s(numbers(random, absent)), hits)
	}
	return float64(passed) / float64(filters) / absent
}

// numbers returns n random keys. They have 64 bits, so hardly any comes twice.
func numbers(random *rand.Rand, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	return keys
}

// percent writes a share with two significant digits.
func percent(share float64) string {
	digits := 1 - int(math.Floor(math.Log10(max(100*share, 1e-4))))
	return fmt.Sprintf("%.*f %%", max(digits, 0), 100*share)
}

func comma(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", comma(n/1000), n%1000)
}
