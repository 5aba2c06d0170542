package answers

import (
	"testing"

	"github.com/lanebloom/bloom"
)

// TestRateCurve compares curves for the number of probes that the format chooses with
// those for a given number.
func TestRateCurve(t *testing.T) {
	for _, f := range bloom.Formats() {
		for _, n := range []int{100, 5000} {
			own := RateCurve(f, n, 0, 1, maxBitsPerKey)
			for _, b := range []int{1, 10, maxBitsPerKey} {
				p, point := bloom.Policy{Format: f, BitsPerKey: b}, own[b-1]
				set, err := p.NewSet(n)
				if err != nil {
					t.Fatal(err)
				}
				fixed := RateCurve(f, n, set.Stats().Probes, b, b)[0]
				if want := p.FalsePositiveRate(n); point != fixed || point.Rate != want || point.BitsPerKey != float64(b) {
					t.Errorf("%v, %d keys at %d bits: %v and %v, want %v", f, n, b, point, fixed, want)
				}
			}
		}
	}
}
