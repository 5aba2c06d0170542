package bloom

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/rates"
)

func TestPolicyFor(t *testing.T) {
	t.Parallel()
	// The textbook's sizes, -ln p / (ln 2)^2 bits per key, or one or two more for LevelDB's third
	// probe, which some 300,000 keys meet most.
	for _, c := range []struct {
		capacity int
		rate     float64
		bits, k  int
	}{
		{500000, 0.001, 16, 11}, // 14.4, with 15 the rate is 0.13 %
		{1000, 0.01, 12, 8},     // 9.6, with 10 the rate of 300,000 is 2.1 %
		{1 << 20, 0.01, 11, 7},  // with 10 the rate is 1.25 %
	} {
		p, err := PolicyFor(LevelDB, c.capacity, c.rate)
		if err != nil {
			t.Fatal(err)
		}
		if p.BitsPerKey != c.bits || probesOf(p) != c.k {
			t.Errorf("PolicyFor(%d, %v) = %d bits, %d probes, want %d, %d", c.capacity, c.rate, p.BitsPerKey, probesOf(p), c.bits, c.k)
		}
	}
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for i, capacity := range []int{0, 1, 2, 10, 1000, 123456, 1 << 24} {
			for j, rate := range []float64{0.9, 0.5, 0.1, 0.01, 0.005} {
				if (i+j+int(f))%(3*oneOf(3, 4)) != 0 && (capacity > 10 || f == LevelDB) {
					continue // each capacity with every third rate, and the other way round; the rates of some are found soon
				}
				p, err := PolicyFor(f, capacity, rate)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{capacity, capacity + 1, 3*capacity + 2, 25, 51, 70, 300, 7001, 100_000, 250_000, 1_111_111} {
					if n < capacity || n > capacity && schemes[f.scheme()].words == one32 && float64(n) > rate*(1<<29) {
						continue
					}
					if got := p.FalsePositiveRate(n); got > rate {
						t.Errorf("PolicyFor(%d, %v) = %v has rate %v for %d keys", capacity, rate, p, got, n)
					}
				}
				for fewer := max(p.BitsPerKey-2, 0); fewer < p.BitsPerKey; fewer++ {
					if f.filters().HoldsFrom(capacity, fewer, rate) {
						t.Errorf("PolicyFor(%d, %v) = %d bits per key, but %d hold the rate", capacity, rate, p.BitsPerKey, fewer)
					}
				}
			}
		}
	})
	// Many bits per key: all fewer are tried.
	for _, f := range []Format{Nori, Parquet, RocksDB} {
		for i, capacity := range []int{1, 1000, 50_000} {
			if (i+int(f))%oneOf(3, 5) != 0 {
				continue
			}
			p, err := PolicyFor(f, capacity, 1e-7)
			if err != nil {
				t.Fatal(err)
			}
			for fewer := range p.BitsPerKey {
				if f.filters().HoldsFrom(capacity, fewer, 1e-7) {
					t.Errorf("PolicyFor(%v, %d, 1e-7) = %d bits per key, but %d hold the rate", f, capacity, p.BitsPerKey, fewer)
				}
			}
		}
	}
	// 1 % of 2^32 hashes are some 43 million.
	if _, err := PolicyFor(LevelDB, 43_000_000, 0.01); err != nil {
		t.Errorf("43 M keys at 1 %%: %v", err)
	}
	if _, err := PolicyFor(LevelDB, 44_000_000, 0.01); !errors.Is(err, ErrRate) {
		t.Errorf("44 M keys at 1 %%: error %v", err)
	}
}

// TestPolicyForLargerNumbers wants the rate that PolicyFor promises for all numbers of keys from the capacity to 2,000, and for the
// larger ones at whose sizes walks repeat: those of small odd numbers times a power of two.
func TestPolicyForLargerNumbers(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for i, capacity := range []int{1, 2, 5, 7, 8, 10, 13, 20, 30, 50, 100, 128, 333, 500, 1000, 2000, 10_000, 100_000} {
			for j, rate := range []float64{0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 1e-4, 1e-5, 1e-6, 1e-7} {
				if (i+j+int(f))%oneOf(5, 10) != 0 || f == LevelDB && i%3 != 0 { // whose PolicyFor takes time
					continue // each capacity with every fifth rate, and the other way round
				}
				p, err := PolicyFor(f, capacity, rate)
				if errors.Is(err, ErrRate) {
					continue // TestPolicyFor has the rates that each format must reach
				}
				if err != nil {
					t.Fatal(err)
				}
				step := 16
				if schemes[f.scheme()].words >= two64 {
					step = 1 // double hashing
				}
				for at, n := range awkwardNumbers(p, capacity) {
					if at%step != 0 || f == LevelDB && n >= rates.ThirdProbeKeys || f.HashBits() == 32 && float64(n) > rate*(1<<29) {
						continue // measured, or not promised
					}
					if got := p.FalsePositiveRate(n); got > rate*mostTimes(f, capacity, rate) {
						t.Fatalf("PolicyFor(%v, %d, %v) = %d bits per key: %d keys have %.3g, %.3f times the rate",
							f, capacity, rate, p.BitsPerKey, n, got, got/rate)
					}
				}
			}
		}
	})
}

// mostTimes returns how many times its rate a larger number of keys than the capacity of PolicyFor may have, as its comment says.
func mostTimes(f Format, capacity int, rate float64) float64 {
	switch {
	case f == LevelDB || f == Pebble:
		return 6.5
	case f == Guava && (rate >= 0.005 || capacity >= 1000 && rate >= 0.0001):
		return 1.1
	case f == Guava && capacity >= 1000:
		return 25
	case f == Guava:
		return 65
	}
	return 1
}

// awkwardNumbers returns the numbers of keys from least to 2,000, and larger ones whose number of bits, or of keys, is an odd
// number times a power of two.
func awkwardNumbers(p Policy, least int) (numbers []int) {
	for n := least; n <= 2000; n++ {
		numbers = append(numbers, n)
	}
	for odd := 1; odd < 70; odd += 2 {
		for size := odd << 6; size < 1<<26; size *= 2 {
			for _, n := range []int{size, size / max(p.BitsPerKey, 1)} {
				if n > max(2000, least) {
					numbers = append(numbers, n)
				}
			}
		}
	}
	return numbers
}

// TestPolicyForFewKeys keeps the policy for a few keys and builds filters of many more with random hashes.
func TestPolicyForFewKeys(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		measured := make(map[Policy]bool)
		for i, rate := range []float64{0.05, 0.01, 0.001} {
			for j, few := range []int{2, 0, 30} {
				if few != 2 && !whole() || (i+j+int(f))%2 != 0 {
					continue // each rate with every second number of keys, and the other way round
				}
				p, err := PolicyFor(f, few, rate)
				if err != nil {
					t.Fatal(err)
				}
				if measured[p] {
					continue
				}
				measured[p] = true
				for _, n := range []int{60, 3000, 100_000} {
					if measured := measureRate(p, n, rateQueries()); measured > 1.15*rate {
						t.Errorf("%d keys at %d bits per key, chosen for %d keys: measured %.5f, asked for %v", n, p.BitsPerKey, few, measured, rate)
					}
				}
			}
		}
	})
}

// TestPolicyForAdvice divides the keys as errors advise, and wants a policy with a usual number of bits.
func TestPolicyForAdvice(t *testing.T) {
	t.Parallel()
	advised := regexp.MustCompile(`filters of at most (\d+) keys`)
	for _, c := range []struct {
		format  Format
		keys    int64
		rate    float64
		divides bool
		end     string
	}{
		{LevelDB, 44_000_000, 0.01, true, ", or choose the format rocksdb"},
		{LevelDB, 40_000_000, 0.001, true, ", or choose the format rocksdb"},
		{Pebble, 44_000_000, 0.01, true, ", or choose the format rocksdb"},
		{Pebble, 43_000_000, 0.01, true, ", or choose the format rocksdb"},
		{Pebble, 430_000, 0.0001, false, "; choose the format rocksdb"},
		{Nori, 1, 1e-300, false, "above 1e-300"},
		{Parquet, 1 << 40, 0.01, true, " keys"},
		{RocksDB, 10_000_000_000, 0.01, true, " keys"},
	} {
		if c.keys > math.MaxInt {
			continue
		}
		_, err := PolicyFor(c.format, int(c.keys), c.rate)
		if err == nil {
			t.Errorf("%v, %d keys, %v: no error", c.format, c.keys, c.rate)
			continue
		}
		if !strings.HasSuffix(err.Error(), c.end) {
			t.Errorf("%v: it does not end in %q", err, c.end)
		}
		number := advised.FindStringSubmatch(err.Error())
		if (number != nil) != c.divides {
			t.Errorf("%v: it advises %v", err, number)
		}
		if number == nil {
			continue
		}
		n, _ := strconv.Atoi(number[1])
		p, err := PolicyFor(c.format, n, c.rate)
		if err != nil || p.BitsPerKey > 100 || p.FalsePositiveRate(n) > c.rate {
			t.Errorf("the error for %d keys of %v advises %d: %v, %v", c.keys, c.format, n, p, err)
		}
	}
}

// TestPolicyForErrorsCost bounds how many rates of Pebble an error computes, because each allocates: few until
// it is printed, since searches throw most errors away, and then those of numbers of bits up to a sensible one.
func TestPolicyForErrorsCost(t *testing.T) {
	for _, keys := range []int{4_294_000, 43_000_000}[:2/oneOf(2)] {
		for name, c := range map[string]struct {
			most float64
			call func(err error)
		}{
			"returned": {100, func(error) {}},
			"printed":  {4000, func(err error) { _ = err.Error() }},
		} {
			if n := testing.AllocsPerRun(1, func() {
				_, err := PolicyFor(Pebble, keys, 0.001)
				if !errors.Is(err, ErrRate) {
					t.Errorf("%d keys: error %v", keys, err)
				}
				c.call(err)
			}); n > c.most {
				t.Errorf("%d keys, %s: %v allocations, more than %v", keys, name, n, c.most)
			}
		}
	}
}

// TestAppendFilterKeepsDst appends to a slice that already has bytes, and old bytes in its
// spare capacity.
func TestAppendFilterKeepsDst(t *testing.T) {
	keys := Strings([]string{"hello", "world"})
	eachFormat(t, func(t *testing.T, f Format) {
		p := Policy{f, 10}
		want := p.AppendFilter(nil, keys)
		dirty := bytes.Repeat([]byte{0xff}, 100)
		got := p.AppendFilter(dirty[:7], keys)
		if !bytes.Equal(got[:7], dirty[:7]) || !bytes.Equal(got[7:], want) {
			t.Errorf("appended %x, want %x", got, want)
		}
		if !bytes.Equal(dirty[len(got):], bytes.Repeat([]byte{0xff}, 100-len(got))) {
			t.Error("bytes past the filter were written")
		}
		builder := p.NewBuilder()
		builder.AddBatch(keys)
		if got := builder.AppendFilter([]byte("ab")); !bytes.Equal(got, append([]byte("ab"), want...)) {
			t.Errorf("builder appended %x", got)
		}
	})
}

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
// filter with a part that is full.
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
