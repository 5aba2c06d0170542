package main

import (
	"math"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestExpectedRate compares with the library's rate, which is for a format's own
// number of probes.
func TestExpectedRate(t *testing.T) {
	for _, e := range encodings {
		for _, n := range []int{100, maxKeys, 1_000_000} {
			for bitsPerKey := 1; bitsPerKey <= maxBitsPerKey; bitsPerKey++ {
				p := bloom.Policy{Format: e.format, BitsPerKey: bitsPerKey}
				set, err := p.NewSet(n)
				if err != nil {
					t.Fatal(err)
				}
				data, err := set.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				k := int(e.part(data, partProbes)[0])
				want := p.FalsePositiveRate(n)
				got := expectedRate(e.format, float64(n), float64(e.bits(data)), k)
				if math.Abs(got/want-1) > 0.01 {
					t.Errorf("%v, %d keys at %d bits: %v, the library says %v", e.format, n, bitsPerKey, got, want)
				}
				if n > maxKeys {
					continue
				}
				own, err := rateCurve(e.format, n, 0, bitsPerKey)
				if err != nil {
					t.Fatal(err)
				}
				fixed, err := rateCurve(e.format, n, k, bitsPerKey)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := own[bitsPerKey-1], fixed[bitsPerKey-1]; a.Rate != want || math.Abs(b.Rate/want-1) > 0.01 {
					t.Errorf("%v, %d keys at %d bits: curves of %v and %v, want %v", e.format, n, bitsPerKey, a, b, want)
				}
			}
		}
	}
}
