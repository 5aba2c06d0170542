package bloom

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/rates"
)

// rateQueries is how many hashes the tests of rates query filters of one kind with.
func rateQueries() int {
	if !whole() {
		return 1 << 17
	}
	return 1 << 19
}

// rateBounds returns between which ratios to the expected rate Format.FalsePositiveRate says
// that the measured rates of n keys are.
func rateBounds(f Format, n int) (low, high float64) {
	switch {
	case n < 1000 && (f == RocksDB || f == Parquet):
		return 0.9, 1.1
	case n < 5:
		return 0.25, 4.2
	case n < 20:
		return 0.65, 2.1
	case n < 70:
		return 0.75, 1.3
	case n < 1000:
		return 0.89, 1.1
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
		if n > 1000 && !whole() {
			continue
		}
		for j, rate := range []float64{0.05, 0.01, 0.001} {
			eachFormat(t, func(t *testing.T, f Format) {
				t.Parallel()
				if (i+j+int(f))%(2*oneOf(2, 3)) != 0 {
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
				if rate, least := p.FalsePositiveRate(n), p.Format.filters().Least(n, p.BitsPerKey); rate < least/1.001 {
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
	for _, n := range []int{1, 4, 8, 20, 101, 1009, 30_000, 65_537, 1 << 18} {
		if n > 1009 && !whole() {
			continue
		}
		for _, bitsPerKey := range []int{2, 8, 10, 16, 20} {
			if bitsPerKey%5 != 0 && !whole() {
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

// randomColumn returns n random keys.
func randomColumn(random *rand.Rand, n int) Keys {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	return Integers(keys)
}

// TestStatsRate compares the rate that MeasureRate tells with that of random keys, and that of Stats with both.
func TestStatsRate(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	others := randomColumn(random, 1<<20)
	eachFormat(t, func(t *testing.T, f Format) {
		for i, c := range []struct{ n, bitsPerKey int }{{1000, 10}, {10_007, 13}, {100_000, 10}, {100_000, 6}} {
			if (i+int(f))%oneOf(1, 2) != 0 {
				continue
			}
			filter := Policy{f, c.bitsPerKey}.NewFilter(randomColumn(random, c.n))
			hits := filter.MayContainBatch(others, make([]uint64, 1<<20/64))
			passed, measured, stats := float64(hits)/(1<<20), filter.MeasureRate(), filter.Stats()
			noise := 4 / math.Sqrt(measured*(1<<19)) // of both
			if ratio := passed / measured; ratio < 1-noise || ratio > 1+noise {
				t.Errorf("%v: %.5f passed, which is %.2f times what MeasureRate says", c, passed, ratio)
			}
			tolerance := 0.05 + noise
			switch {
			case c.n < 10_000:
				tolerance += 0.05
			case f == LevelDB:
				tolerance = noise + 4/math.Sqrt(measured*(1<<17))
			}
			if ratio := stats.FalsePositiveRate / measured; ratio < 1-tolerance || ratio > 1+tolerance {
				t.Errorf("%v: Stats says %.5f, which is %.2f times what MeasureRate says", c, stats.FalsePositiveRate, ratio)
			}
			if ratio := stats.Keys / float64(c.n); ratio < 0.95 || ratio > 1.05 {
				t.Errorf("%v: Stats says %.0f keys", c, stats.Keys)
			}
		}
	})
}

// TestStatsOfUnevenLines wants the rate of lines and blocks that differ far more than those of random keys: that of a
// filter of which a part is full.
func TestStatsOfUnevenLines(t *testing.T) {
	for _, f := range []Format{RocksDB, Parquet} {
		s := mustSet(t, Policy{f, 10}, 20_000)
		s.AddBatch(randomColumn(rand.New(rand.NewPCG(3, 4)), 20_000))
		bits, _ := s.encoded()
		for i := range bits[:len(bits)/5] {
			bits[i] = 0xff
		}
		measured, expected := s.MeasureRate(), s.Stats().FalsePositiveRate
		if measured < 0.2 || math.Abs(measured-expected) > 0.003 {
			t.Errorf("%v: Stats says %.4f and MeasureRate %.4f", f, expected, measured)
		}
	}
}

// TestStatsOfLongLines compares the rates of filters of Pebble's format with lines of 64, 128 and 256 bytes.
func TestStatsOfLongLines(t *testing.T) {
	const lines, k = 1001, 6
	for log := range 3 {
		data := make([]byte, lines*64<<log+encoding.Trailer)
		copy(data[lines*64<<log:], []byte{k, lines & 255, lines >> 8})
		v, err := openView(Pebble, data)
		if err != nil || (*probes.Pebble)(&v.Array).Doublings() != log {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		s := Set{v}
		s.count = new(keyCount)
		s.AddBatch(randomColumn(rand.New(rand.NewPCG(5, 6)), lines*64<<log*8/10))
		measured, expected := s.MeasureRate(), s.Stats().FalsePositiveRate
		if ratio := expected / measured; ratio < 0.93 || ratio > 1.07 {
			t.Errorf("lines of %d bytes: Stats says %.5f and MeasureRate %.5f", 64<<log, expected, measured)
		}
	}
}

// TestStatsAllocates wants no memory for the statistics of lines and blocks, and for those of other formats less than
// a filter of random keys takes, by which FalsePositiveRate measures.
func TestStatsAllocates(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		filter := Policy{f, 10}.NewFilter(randomColumn(rand.New(rand.NewPCG(7, 8)), 100_000))
		filter.Stats() // fills pools
		if bytes := allocated(func() { filter.Stats() }); bytes > 100_000 {
			t.Errorf("%d bytes", bytes)
		}
		if n := testing.AllocsPerRun(10, func() { filter.Stats() }); n > 0 && (f == RocksDB || f == Parquet) { // on average: Go may allocate, too
			t.Errorf("%v allocations", n)
		}
	})
}
