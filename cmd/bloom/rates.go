package main

import (
	"math"

	"github.com/lanebloom/bloom"
)

// expectedRate returns the false-positive rate that n keys are expected to give
// a filter of m bits and k probes: (1 - e^(-kn/m))^k (Bloom 1970), and above
// that the share of keys whose hash is that of one of the n.
//
// The rate of a [bloom.Policy] is this for the format's own k, and for a filter
// that holds the number of keys it was sized for.
func expectedRate(f bloom.Format, n, m float64, k int) float64 {
	// So many bits leave only the share that the hash is to blame for.
	floor := bloom.Policy{Format: f, BitsPerKey: 1000}.FalsePositiveRate(int(n))
	return floor + (1-floor)*math.Pow(-math.Expm1(-float64(k)*n/m), float64(k))
}

// ratePoint is a point of the curve of rate over bits per key.
type ratePoint struct {
	BitsPerKey float64 `json:"bits_per_key"`
	Rate       float64 `json:"rate"`
}

// rateCurve returns the rates of filters of n keys at 1 to last bits per key,
// with k probes, or the format's own number of them if k is 0.
func rateCurve(f bloom.Format, n, k, last int) ([]ratePoint, error) {
	points := make([]ratePoint, last)
	for i := range points {
		p := bloom.Policy{Format: f, BitsPerKey: i + 1}
		rate := p.FalsePositiveRate(n)
		if k > 0 {
			set, err := p.NewSet(n) // the format decides how many bits it takes
			if err != nil {
				return nil, err
			}
			data, err := set.MarshalBinary()
			if err != nil {
				return nil, err
			}
			rate = expectedRate(f, float64(n), float64(encodingOf(f).bits(data)), k)
		}
		points[i] = ratePoint{float64(p.BitsPerKey), rate}
	}
	return points, nil
}
