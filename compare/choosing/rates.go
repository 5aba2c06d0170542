package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lanebloom/bloom"
)

// rates prints the false-positive rate of a million random keys, by format and bits per key.
func rates() {
	const n = 1_000_000
	fmt.Print("| bits per key |")
	for _, f := range formats {
		fmt.Printf(" `%v` |", f)
	}
	fmt.Print("\n|---:|")
	for range formats {
		fmt.Print("---:|")
	}
	fmt.Println()
	for _, bits := range []int{6, 8, 10, 12, 14, 16, 20} {
		fmt.Printf("| %d |", bits)
		for _, f := range formats {
			fmt.Printf(" %s |", percent(measure(bloom.Policy{Format: f, BitsPerKey: bits}, n, n)))
		}
		fmt.Println()
	}
	fmt.Println()
}

// overfilled prints the rate of sets of 1 % that have fewer or more keys than their capacity.
func overfilled() {
	const capacity = 1_000_000
	shares := []float64{0.25, 0.5, 1, 1.5, 2, 3}
	fmt.Print("| keys, as multiples of the capacity |")
	for _, share := range shares {
		fmt.Printf(" %v |", share)
	}
	fmt.Print("\n|---|")
	for range shares {
		fmt.Print("---:|")
	}
	fmt.Print("\n| rate |")
	for _, share := range shares {
		p := bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}
		fmt.Printf(" %s |", percent(measure(p, capacity, int(share*capacity))))
	}
	fmt.Print("\n\n")
}

// measure returns the share of absent keys that pass a filter of n random 8-byte keys, sized for
// the capacity. It is the mean of four filters.
func measure(p bloom.Policy, capacity, n int) float64 {
	const absent, filters = 1 << 20, 4
	passed := 0
	for seed := range uint64(filters) {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		set, err := p.NewSet(capacity)
		if err != nil {
			panic(err) // the sizes are ours
		}
		set.AddBatch(bloom.Integers(numbers(random, n)))
		hits := make([]uint64, absent/64)
		passed += set.MayContainBatch(bloom.Integers(numbers(random, absent)), hits)
	}
	return float64(passed) / filters / absent
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
