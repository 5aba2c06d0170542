package main

import (
	"testing"

	"github.com/lanebloom/bloom"
)

// TestRateCurve compares curves for the number of probes that the format chooses with
// those for a given number.
func TestRateCurve(t *testing.T) {
	for _, f := range formats {
		for _, n := range []int{100, maxKeys} {
			own := rateCurve(f, n, 0, maxBitsPerKey)
			for i, point := range own {
				p := bloom.Policy{Format: f, BitsPerKey: i + 1}
				set, err := p.NewSet(n)
				if err != nil {
					t.Fatal(err)
				}
				fixed := rateCurve(f, n, set.Stats().Probes, i+1)[i]
				if want := p.FalsePositiveRate(n); point != fixed || point.Rate != want || point.BitsPerKey != float64(i+1) {
					t.Errorf("%v, %d keys at %d bits: %v and %v, want %v", f, n, i+1, point, fixed, want)
				}
			}
		}
	}
}
