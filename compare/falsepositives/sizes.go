package main

import (
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"github.com/lanebloom/bloom"
)

// choices prints the rates of a million random hashes by format and bits per key, and those of sets that have
// fewer or more keys than their capacity. NoriCrate is left out: it rounds the number of bits up to a power of
// two, so no number of bits per key is its own.
func choices(w io.Writer) error {
	const n = 1_000_000
	formats := []bloom.Format{bloom.RocksDB, bloom.Nori, bloom.Parquet, bloom.LevelDB, bloom.Pebble}
	fmt.Fprint(w, "| bits per key |")
	for _, f := range formats {
		fmt.Fprintf(w, " `%v` |", f)
	}
	fmt.Fprintln(w, "\n|---:|"+strings.Repeat("---:|", len(formats)))
	for _, bits := range []int{6, 8, 10, 12, 14, 16, 20} {
		fmt.Fprintf(w, "| %d |", bits)
		for _, f := range formats {
			fmt.Fprintf(w, " %s %% |", digits(measure(bloom.Policy{Format: f, BitsPerKey: bits}, n, n)))
		}
		fmt.Fprintln(w)
	}

	shares := []float64{0.25, 0.5, 1, 1.5, 2, 3}
	fmt.Fprint(w, "\n| keys, as multiples of the capacity |")
	for _, share := range shares {
		fmt.Fprintf(w, " %v |", share)
	}
	fmt.Fprint(w, "\n|---|"+strings.Repeat("---:|", len(shares))+"\n| rate |")
	for _, share := range shares {
		p := bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}
		fmt.Fprintf(w, " %s %% |", digits(measure(p, n, int(share*n))))
	}
	fmt.Fprintln(w)
	return nil
}

// limits prints for how many keys each format has filters of low rates: the largest number of two digits and
// zeros that PolicyFor takes.
func limits(w io.Writer) error {
	rates := []float64{0.01, 0.001, 0.0001}
	fmt.Fprintln(w, "| | 1 % | 0.1 % | 0.01 % |\n|---|---:|---:|---:|")
	for _, f := range []bloom.Format{bloom.RocksDB, bloom.Nori, bloom.Parquet, bloom.LevelDB, bloom.Pebble} {
		fmt.Fprintf(w, "| `%v` |", f)
		for _, rate := range rates {
			number := func(i int) int { return (10 + i%90) * int(math.Pow10(i/90)) }
			past := sort.Search(90*12, func(i int) bool {
				_, err := bloom.PolicyFor(f, number(i), rate)
				return err != nil
			})
			fmt.Fprintf(w, " %s |", large(number(past-1)))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// large writes a number with a word for its thousands.
func large(n int) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%v billion", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%v million", float64(n)/1e6)
	}
	return thousands(n)
}
