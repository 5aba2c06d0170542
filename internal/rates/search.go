package rates

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/lanebloom/bloom/internal/encoding"
)

// Filters are the filters of a format, sized by bits per key. A rate holds for n keys or more if all filters
// of n keys or more have that rate or a lower one.
type Filters struct {
	Format   encoding.Format
	HashBits int
	Rate     func(n, m float64, k int) float64 // of n keys in m bits, collisions included
}

const (
	// MostBitsPerKey is what the result of FewestBits is below, if there is one.
	MostBitsPerKey = 1 << 16
	// sensible is the most bits per key that FewerKeys and Suits look at.
	sensible = 100
)

// FewestBits returns the fewest bits per key with which a rate holds for this number of keys or more, or
// MostBitsPerKey if no smaller number does.
func (f *Filters) FewestBits(keys int, rate float64) int {
	return f.fewestBits(keys, rate, MostBitsPerKey)
}

// fewestBits is FewestBits for numbers below most.
func (f *Filters) fewestBits(keys int, rate float64, most int) int {
	holds := func(bitsPerKey int) bool { return f.HoldsFrom(keys, bitsPerKey, rate) }
	// With more bits per key there are more probes, up to a limit. From there on, more bits
	// mean a lower rate, except for some sizes of LevelDB and Pebble, and a binary search finds the
	// fewest.
	_, mostProbes := f.Format.Size(1, MostBitsPerKey)
	for b := range most {
		if _, k := f.Format.Size(1, b); k == mostProbes {
			return b + sort.Search(most-b, func(more int) bool { return holds(b + more) })
		}
		if holds(b) {
			return b
		}
	}
	return most
}

// FewerKeys returns a smaller number of keys, of two digits, such that a sensible number of bits per key holds the
// rate for that number or more. It is nearly half of the largest such number, or more; 0 if there is none.
func (f *Filters) FewerKeys(keys int, rate float64) int {
	for n := keys / 2; n > 0; n /= 2 {
		unit := int(math.Pow10(max(len(strconv.Itoa(n))-2, 0)))
		n = n / unit * unit
		if Collisions(float64(n), f.HashBits) >= rate {
			continue
		}
		if b := f.fewestBits(n, rate, sensible+1); b <= sensible {
			if _, ok := f.Format.Shape(n, b); ok {
				return n
			}
		}
	}
	return 0
}

// Suits reports whether a sensible number of bits per key holds a rate for this number of keys or more.
func (f *Filters) Suits(keys int, rate float64) bool {
	_, ok := f.Format.Shape(keys, sensible)
	return ok && f.HoldsFrom(keys, sensible, rate)
}

// HoldsFrom reports whether a rate holds for n keys or more, at least one.
func (f *Filters) HoldsFrom(n, bitsPerKey int, rate float64) bool {
	n = max(n, 1)
	if !f.holds(n, bitsPerKey, rate) {
		return false
	}
	larger := f.larger(n, bitsPerKey, rate)
	for i := range larger {
		m := larger[(i+len(larger)-1)%len(larger)] // the largest first: most rates rise with the number
		if f.Format == encoding.LevelDB && m >= ThirdProbeKeys && 3*f.Least(m, bitsPerKey) <= rate {
			continue // rates are up to 2.4 times the least, and take time to measure
		}
		if !f.holds(m, bitsPerKey, rate) {
			return false
		}
	}
	return true
}

// larger returns numbers of keys above n, in ascending order up to the number that the rate is promised for. Their
// rates stand for those of all.
func (f *Filters) larger(n, bitsPerKey int, rate float64) (numbers []int) {
	add := func(m int) {
		if m > n {
			numbers = append(numbers, m)
		}
	}
	// Filters are rounded up to lines, blocks or powers of two. The fullest one of a size has all keys that it has
	// room for.
	addFullest := func(m int) {
		if bits, _ := f.Format.Size(m, bitsPerKey); bits < math.MaxInt {
			add(int(bits) / max(bitsPerKey, 1))
		}
	}
	most := 1 << 24 // from here on, rates of long hashes do not change
	short := f.HashBits == 32
	if short {
		most = int(rate * (1 << 29))
	}
	if n <= most || !short {
		addFullest(n)
	}
	for m := 1; m <= most; m += max(m/2+1, m-100) {
		add(m)
		addFullest(m)
	}
	if short {
		// Their divisors make LevelDB's probes meet: round numbers, and multiples of 255.
		for _, m := range [...]int{
			10_000, 20_000, 30_000, 50_000, 100_000, 102_000, 200_000, 204_000, 300_000, 500_000, 510_000,
			1_000_000, 2_000_000, 3_000_000, 5_000_000,
		} {
			if m <= most {
				add(m)
			}
		}
	}
	if f.Format == encoding.Nori || f.Format == encoding.BitsAndBlooms {
		for _, m := range f.divisible(n, bitsPerKey) {
			if m <= most {
				add(m)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// divisible returns the next numbers of keys above n, and numbers such that the bits, or the keys, are a
// small odd number times a power of two. Double hashing has higher rates there, because more of its walks
// test few different bits. The rates are the higher the fewer the bits are.
func (f *Filters) divisible(n, bitsPerKey int) (numbers []int) {
	const next, odds = 32, 64
	for i := range next {
		numbers = append(numbers, n+1+i)
	}
	bits, _ := f.Format.Size(n, bitsPerKey)
	for odd := 1; odd < odds; odd += 2 {
		keys, size := nextPower(odd, float64(n)), nextPower(odd, bits)/float64(max(bitsPerKey, 1))
		for _, m := range []float64{keys, 2 * keys, size, 2 * size} {
			if m < math.MaxInt32 {
				numbers = append(numbers, int(m))
			}
		}
	}
	return numbers
}

// nextPower returns an odd number times the power of two with which it is the first above n.
func nextPower(odd int, n float64) float64 {
	_, exponent := math.Frexp(n / float64(odd))
	return math.Ldexp(float64(odd), exponent)
}

// holds reports whether the rate for n keys is at most rate.
func (f *Filters) holds(n, bitsPerKey int, rate float64) bool {
	if f.Format == encoding.Pebble && bitsPerKey > 20 {
		collisions := Collisions(float64(n), f.HashBits)
		rate = collisions + (rate-collisions)/1.3 // Format.FalsePositiveRate of package bloom says how far Pebble's rate is off
	}
	m, k := f.Format.Size(n, bitsPerKey)
	return f.Least(n, bitsPerKey) <= 1.01*rate && f.Rate(float64(n), m, k) <= rate
}

// Least returns a rate for n keys that takes little time to compute and that Rate is not below: that of independent probes.
func (f *Filters) Least(n, bitsPerKey int) float64 {
	m, k := f.Format.Size(n, bitsPerKey)
	collisions := Collisions(float64(n), f.HashBits)
	return collisions + (1-collisions)*Independent(float64(n), m, k)
}
