package main

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom"
)

// rate is a false-positive rate: a share such as 0.01, or a percentage such as 1%.
type rate float64

// UnmarshalText reads a rate. Whether a filter can have it is for the library to say.
func (r *rate) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("a rate is a number such as 0.01 or 1%%, not %q", text)
	}
	if percent {
		value /= 100
	}
	*r = rate(value)
	return nil
}

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

// ratePoint is a point of the curve of rate over bits per key.
type ratePoint struct {
	BitsPerKey float64 `json:"bits_per_key"`
	Rate       float64 `json:"rate"`
}

// rateCurve returns the rates of filters of n keys at 1 to last bits per key with k probes. If
// k is 0, the format chooses the number of probes.
func rateCurve(f bloom.Format, n, k, last int) []ratePoint {
	points := make([]ratePoint, last)
	for i := range points {
		p := bloom.Policy{Format: f, BitsPerKey: i + 1}
		rate := p.FalsePositiveRate(n)
		if k > 0 {
			rate = f.FalsePositiveRate(n, bitsOf(f, n, p.BitsPerKey), k)
		}
		points[i] = ratePoint{float64(p.BitsPerKey), rate}
	}
	return points
}
