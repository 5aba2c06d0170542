package main

import (
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// choices prints the rates of sets of the default format that have fewer or more keys than their capacity.
func choices(w io.Writer) error {
	const n = 1_000_000
	head, row := []string{"keys, as multiples of the capacity"}, []string{"rate"}
	for _, share := range []float64{0.25, 0.5, 1, 1.5, 2, 3} {
		p := bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}
		head = append(head, fmt.Sprint(share))
		row = append(row, digits(measure(p, n, int(share*n)))+" %")
	}
	t := race.NewTable(head...)
	t.Row(row...)
	fmt.Fprint(w, t)
	return nil
}

// limits prints for how many keys each format has filters of low rates: the largest number of two digits and
// zeros that PolicyFor takes.
func limits(w io.Writer) error {
	rates := []float64{0.01, 0.001, 0.0001}
	t := race.NewTable("", "1 %", "0.1 %", "0.01 %")
	for _, f := range bloom.Formats() {
		row := []string{"`" + f.String() + "`"}
		for _, rate := range rates {
			number := func(i int) int { return (10 + i%90) * int(math.Pow10(i/90)) }
			past := sort.Search(90*12, func(i int) bool {
				_, err := bloom.PolicyFor(f, number(i), rate)
				return err != nil
			})
			row = append(row, large(number(past-1)))
		}
		t.Row(row...)
	}
	fmt.Fprint(w, t)
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
	return race.Thousands(n)
}
