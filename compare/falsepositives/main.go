// Command falsepositives prints measured false-positive rates beside expected ones, in the
// tables of docs/false-positives.md, docs/nori.md and docs/rocksdb.md (in compare/):
//
//	go run ./falsepositives leveldb|nori|nori-crate|parquet|rocksdb|pebble    a format's filters of random keys
//	go run ./falsepositives keys                       keys of several shapes, in every format
//	go run ./falsepositives lines                      Pebble's filters of numbers of lines that matter
//	go run ./falsepositives collisions                 which keys have equal hashes in LevelDB's format
package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"

	"github.com/lanebloom/bloom"
)

var sizes = []int{8, 10, 12, 16} // bits per key

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: falsepositives FORMAT|keys|lines|collisions")
		os.Exit(2)
	}
	switch os.Args[1] {
	case "keys":
		shapesTable()
		return
	case "lines":
		lines()
		return
	case "collisions":
		collisions()
		return
	}
	format, err := bloom.ParseFormat(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "falsepositives:", err)
		os.Exit(2)
	}
	numbers := []int{1000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000}
	if format == bloom.LevelDB {
		probeValues()
	} else {
		if format == bloom.Nori || format == bloom.NoriCrate {
			decimalKeys(format)
		}
		numbers = []int{20, 50, 100, 300, 1000, 10_000, 100_000, 1_000_000}
	}
	randomKeys(format, numbers)
}

// randomKeys prints the rates of filters of random keys.
func randomKeys(format bloom.Format, numbers []int) {
	fmt.Print("\n| keys |")
	for _, b := range sizes {
		fmt.Printf(" %d bits: measured | expected | textbook |", b)
	}
	fmt.Println("\n|---:|" + "---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, n := range numbers {
		fmt.Printf("| %d |", n)
		for _, b := range sizes {
			policy := bloom.Policy{Format: format, BitsPerKey: b}
			measured, expected := measure(policy, n), policy.FalsePositiveRate(n)
			fmt.Printf(" %.3f %% | %.3f %% | %.3f %% |", 100*measured, 100*expected, 100*textbook(policy, n))
		}
		fmt.Println()
	}
}

// lines prints the rates of Pebble's filters of some numbers of lines. Multiples of them are close
// to one of 2^17, except for 10,101.
func lines() {
	fmt.Println("| lines | 10 bits: keys | measured | expected | 20 bits: keys | measured | expected |\n|---:|---:|---:|---:|---:|---:|---:|")
	for _, n := range []int{4097, 8193, 10_083, 10_101, 16_385, 21_845, 43_691, 65_537, 65_601, 131_073} {
		fmt.Printf("| %d |", n)
		for _, bits := range []int{10, 20} {
			p, keys := bloom.Policy{Format: bloom.Pebble, BitsPerKey: bits}, 512*n/bits
			fmt.Printf(" %d | %.2f %% | %.2f %% |", keys, 100*measure(p, keys), 100*p.FalsePositiveRate(keys))
		}
		fmt.Println()
	}
}

// textbook returns (1 - e^(-kn/m))^k, and the floor of a 32-bit hash.
func textbook(p bloom.Policy, n int) float64 {
	set, err := p.NewSet(n)
	if err != nil {
		panic(err) // the sizes are ours
	}
	s, floor := set.Stats(), 0.0
	if hashBits32(p.Format) {
		floor = float64(n) / (1 << 32)
	}
	return floor + math.Pow(-math.Expm1(-float64(s.Probes)*float64(n)/float64(s.Bits)), float64(s.Probes))
}

// measure returns the share of random hashes that pass filters of n random keys: the
// mean of five filters, or of more if they have few keys.
func measure(p bloom.Policy, n int) (rate float64) {
	filters := 5
	if n < 1000 {
		filters = 50 // small filters differ much
	}
	for seed := range uint64(filters) {
		random := rand.New(rand.NewPCG(seed, 99))
		f := open(p, randomColumn(p.Format, random, n))
		rate += f.Stats().FalsePositiveRate / float64(filters)
	}
	return rate
}

// hashBits32 reports whether a format's hash has 32 bits.
func hashBits32(f bloom.Format) bool { return f == bloom.LevelDB || f == bloom.Pebble }

// randomColumn returns n random keys, as hashes if the format has a column of hashes.
func randomColumn(format bloom.Format, random *rand.Rand, n int) bloom.Keys {
	if hashBits32(format) {
		hashes := make([]uint32, n)
		for i := range hashes {
			hashes[i] = random.Uint32()
		}
		return format.Hashes32(hashes)
	}
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	return bloom.Integers(keys)
}

func open(p bloom.Policy, keys bloom.Keys) *bloom.Filter {
	f, err := bloom.Open(p.Format, p.AppendFilter(nil, keys))
	if err != nil {
		panic(err) // what a policy writes is a filter
	}
	return f
}

// decimalKeys prints the sizes and rates of filters of the keys that nori-sstable's
// documentation uses, "key000000" to "key099999". It tests the keys after them.
func decimalKeys(format bloom.Format) {
	const n, more = 100_000, 10_000_000
	fmt.Printf("| bits per key | probes | expected | next %d keys | %d after those | bytes |\n", n, more)
	fmt.Println("|---:|---:|---:|---:|---:|---:|")
	for _, b := range sizes {
		p := bloom.Policy{Format: format, BitsPerKey: b}
		encoded := p.AppendFilter(nil, decimals(0, n))
		f := open(p, decimals(0, n))
		fmt.Printf("| %d | %d | %.3f %% | %.3f %% | %.4f %% | %d |\n", b, f.Stats().Probes, 100*p.FalsePositiveRate(n),
			100*share(f, n, 2*n), 100*share(f, 2*n, 2*n+more), len(encoded))
	}
}

func decimals(from, to int) bloom.Keys {
	keys := make([][]byte, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Appendf(nil, "key%06d", i))
	}
	return bloom.Bytes(keys)
}

// share returns the share of the keys from to to-1 that pass the filter.
func share(f *bloom.Filter, from, to int) float64 {
	hits := make([]uint64, (to-from+63)/64)
	return float64(f.MayContainBatch(decimals(from, to), hits)) / float64(to-from)
}

// probeValues prints how many values each probe of LevelDB's format takes over all 2^32
// hashes.
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
