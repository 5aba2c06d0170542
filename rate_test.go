package bloom

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom/internal/rates"
)

// rateQueries is how many hashes the tests of rates query filters of one kind with.
func rateQueries() int {
	if testing.Short() {
		return 1 << 17
	}
	return 1 << 19
}

// rateBounds returns between which ratios to the expected rate Format.FalsePositiveRate says
// that the measured rates of n keys are.
func rateBounds(f Format, n int) (low, high float64) {
	switch {
	case n < 1000:
		return 0.8, 1.14
	case f == LevelDB && n >= rates.ThirdProbeKeys:
		return 0.91, 1.1 // both rates are measured, and have noise
	}
	return 0.95, 1.05
}

// TestRatesHold builds filters of the size that PolicyFor chooses for a rate, and measures
// whether they hold it, and whether it is the rate that is expected.
func TestRatesHold(t *testing.T) {
	t.Parallel()
	queries := rateQueries()
	for i, n := range []int{20, 100, 1000, 500_000} {
		if n > 1000 && testing.Short() {
			continue
		}
		for j, rate := range []float64{0.05, 0.01, 0.001} {
			eachFormat(t, func(t *testing.T, f Format) {
				t.Parallel()
				if (i+j+int(f))%(2*oneOf(2)) != 0 {
					return // each number of keys with every second rate, and the other way round
				}
				p, err := PolicyFor(f, n, rate)
				if err != nil {
					t.Fatal(err)
				}
				low, high := rateBounds(f, n)
				if f == Pebble && p.BitsPerKey > 20 {
					low, high = 1, 1.3
				} else if p.BitsPerKey > 20 {
					low, high = low-0.2, high+0.2 // FalsePositiveRate promises less
				}
				expected, measured := p.FalsePositiveRate(n), measureRate(p, n, queries)
				noise := 4 / math.Sqrt(expected*float64(queries)) // four standard deviations
				if ratio := measured / expected; ratio < low-noise || ratio > high+noise {
					t.Errorf("%d keys at %d bits: measured %.5f is %.3f times what is expected", n, p.BitsPerKey, measured, ratio)
				}
				if measured > rate*(high+noise) {
					t.Errorf("%d keys at %d bits: measured %.5f, PolicyFor was asked for %v", n, p.BitsPerKey, measured, rate)
				}
			})
		}
	}
}

// TestLeastRate wants no rate below the least one, by which PolicyFor passes over policies.
func TestLeastRate(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		for _, n := range []int{1, 3, 20, 100, 1009, 7001, 10_007} {
			for _, bitsPerKey := range []int{1, 2, 5, 9, 13, 30, 100, 1000} {
				p := Policy{f, bitsPerKey}
				if rate, least := p.FalsePositiveRate(n), p.leastRate(n); rate < least/1.001 {
					t.Errorf("%d keys at %d bits per key: the rate %v is below %v", n, bitsPerKey, rate, least)
				}
			}
		}
	})
}

// TestRatesOfSizes compares expected with measured rates over bits per key. Some of the
// numbers of bits have divisors that make LevelDB's probes meet more often, like 65,537 and
// powers of two.
func TestRatesOfSizes(t *testing.T) {
	t.Parallel()
	queries := rateQueries()
	for _, n := range []int{20, 101, 1009, 30_000, 65_537, 1 << 18} {
		if n > 1009 && testing.Short() {
			continue
		}
		for _, bitsPerKey := range []int{2, 8, 10, 16} {
			if bitsPerKey%5 != 0 && testing.Short() {
				continue
			}
			eachFormat(t, func(t *testing.T, f Format) {
				t.Parallel()
				p := Policy{f, bitsPerKey}
				low, high := rateBounds(f, n)
				expected, measured := p.FalsePositiveRate(n), measureRate(p, n, queries)
				noise := 4 / math.Sqrt(expected*float64(queries))
				if ratio := measured / expected; ratio < low-noise || ratio > high+noise {
					t.Errorf("%d keys at %d bits: measured %.6f is %.3f times what is expected", n, p.BitsPerKey, measured, ratio)
				}
			})
		}
	}
}

// TestStatsRate compares the rate that Stats tells with that of random keys.
func TestStatsRate(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	column := func(n int) Keys {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = random.Uint64()
		}
		return Integers(keys)
	}
	eachFormat(t, func(t *testing.T, f Format) {
		for _, n := range []int{1000, 100_000} {
			p := Policy{f, 10}
			filter := mustOpen(t, f, p.AppendFilter(nil, column(n)))
			hits := filter.MayContainBatch(column(1<<20), make([]uint64, 1<<20/64))
			measured, stats := float64(hits)/(1<<20), filter.Stats().FalsePositiveRate
			noise := 4 / math.Sqrt(stats*(1<<19)) // of both
			if ratio := measured / stats; ratio < 1-noise || ratio > 1+noise {
				t.Errorf("%d keys: measured %.5f is %.2f times what Stats says", n, measured, ratio)
			}
		}
	})
}
