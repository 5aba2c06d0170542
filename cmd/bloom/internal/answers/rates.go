package answers

import (
	"math/bits"

	"github.com/lanebloom/bloom"
)

// highestRates returns a function that returns the highest rate of filters of least to n keys. In a
// format that rounds the number of bits up to a power of two, the rate rises up to each such
// power, and then falls. The library takes milliseconds for the rate of a format, and for many
// n these powers are the same, so the function remembers rates.
func highestRates(f bloom.Format, bitsPerKey, least int) func(n int) float64 {
	policy := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}
	known := map[int]float64{}
	rate := func(n int) float64 {
		r, ok := known[n]
		if !ok {
			r = policy.FalsePositiveRate(n)
			known[n] = r
		}
		return r
	}
	return func(n int) float64 {
		highest := rate(n)
		for keys := n; keys > least; keys /= 2 {
			full := (1 << (bits.Len64(uint64(keys)*uint64(bitsPerKey)) - 1)) / bitsPerKey
			if full >= least && full <= n {
				highest = max(highest, rate(full))
			}
		}
		return highest
	}
}

// RatePoint is a point of the curve of rate over bits per key.
type RatePoint struct {
	BitsPerKey float64 `json:"bits_per_key"`
	Rate       float64 `json:"rate"`
}

// RateCurve returns the rates of filters of n keys at first to last bits per key with k probes. If
// k is 0, the format chooses the number of probes.
func RateCurve(f bloom.Format, n, k, first, last int) (points []RatePoint) {
	for bitsPerKey := first; bitsPerKey <= last; bitsPerKey++ {
		rate := 0.0
		if k > 0 {
			rate = f.FalsePositiveRate(n, bitsOf(f, n, bitsPerKey), k)
		} else {
			rate = bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.FalsePositiveRate(n)
		}
		points = append(points, RatePoint{float64(bitsPerKey), rate})
	}
	return points
}
