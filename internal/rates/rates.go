// Package rates has the expected false-positive rates of filters, how many of their bits are expected to be set, and the search for
// the bits per key that hold a rate.
//
// A rate is the share, 0 to 1, of random hashes that pass k probes, at least 1, of a filter of m bits, at least 1, that has
// n keys, at least 1, of random hashes. It leaves out the hashes that equal one of a key: see Collisions.
package rates

import (
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/encoding"
)

// Collisions returns the chance that a hash of hashBits bits equals the hash of one of n keys.
func Collisions(n float64, hashBits int) float64 {
	return -math.Expm1(-n * math.Exp2(-float64(hashBits)))
}

// Independent is (1 - e^(-kn/m))^k, the rate of n keys and m bits with k independent
// probes each (Bloom 1970).
func Independent(n, m float64, k int) float64 {
	return math.Pow(-math.Expm1(-float64(k)*n/m), float64(k))
}

// IndependentSet returns how many of m bits n different keys are expected to set with
// k independent probes each.
func IndependentSet(n, m float64, k int) float64 { return -m * math.Expm1(-float64(k)*n/m) }

// DoubleHashing returns the rate of double hashing, in which probe i of a key is bit (x + i·y mod 2^64) mod m for
// the words x and y of its hash.
func DoubleHashing(n, m float64, k int) float64 {
	k = min(k, encoding.MaxProbesCrate) // no filter has more
	d := newDoubleHashing(n, m, k)
	return d.rate(d.power(k))
}

// doubleHashing predicts the rate of double hashing, in which probe i of a key is bit
// (x + i·y mod 2^w) mod m: for n keys of random words x and y of w bits. Compared with
// independent probes, three things differ, and matter if m is small or the rate is low.
//
//   - The probes of most walks are k different bits.
//   - Some walks test few different bits: y is 0 modulo m, or i·y is.
//   - Some walks share most of their bits with the walk of one key.
type doubleHashing struct {
	n, m float64
	k    int
	fill float64 // expected share of set bits
	odd  float64 // the odd part of m: the order of 2^w modulo m
}

// newDoubleHashing takes a whole number of bits m below 2^w and n of at least 1.
func newDoubleHashing(n, m float64, k int) doubleHashing {
	d := doubleHashing{n: n, m: m, k: k, odd: oddPart(m)}
	d.fill = -math.Expm1(n * math.Log1p(-min(float64(k)/m, 1)))
	return d
}

func oddPart(m float64) float64 {
	fraction, _ := math.Frexp(m) // 53 bits
	mantissa := uint64(fraction * (1 << 53))
	return float64(mantissa >> bits.TrailingZeros64(mantissa))
}

// rate returns the expected rate, if the chance that k probes of independent keys are set
// is base.
func (d doubleHashing) rate(base float64) float64 {
	return min(base*d.distinct()+d.shortWalks()+d.sharedWalks(), 1)
}

// distinct returns by which factor the rate changes because the probes of a key are different bits: for all pairs of probes, the
// chance that two different bits are set, divided by that of independent bits.
func (d doubleHashing) distinct() float64 {
	k := float64(d.k)
	if k >= d.m {
		return 1
	}
	if d.fill < 1e-100 {
		return 1
	}
	clear := (1 - d.fill) / d.fill
	more := clear * clear * math.Expm1(d.n*math.Log1p(-k/((d.m-k)*(d.m-1))))
	return math.Pow(max(1+more, 0), k*(k-1)/2)
}

// power returns fill^i.
func (d doubleHashing) power(i int) float64 { return math.Pow(d.fill, float64(i)) }

// shortWalks returns what the walks of few different bits add to the rate.
//
// Without the wrap at 2^w, a walk has as many bits as y has multiples modulo m. A wrap
// takes 2^w mod m from the position, and probe i has wrapped floor(β + iα) times, for α =
// y/2^w and β = x/2^w. If m is a power of two, 2^w mod m is 0.
//
// If not, let α be v/g + ε in lowest terms, and g·y ≡ v·2^w mod m. Then the probes whose
// numbers differ by g differ by the wraps that ε makes, some g·k·|ε| over all the walk. The
// mean of fill^wraps over all ε is (1+fill)/(1-fill)/(g·k). If v/g is not in lowest terms but a
// multiple of h, h bits are new at each wrap.
func (d doubleHashing) shortWalks() (sum float64) {
	long := d.power(d.k)
	for order := d.odd; order < float64(d.k); order *= 2 {
		if math.Mod(d.m, order) != 0 {
			break
		}
		walks := order / 2
		if order == d.odd {
			walks = order
		}
		sum += walks * (math.Pow(d.fill, order) - long)
	}
	if d.odd == 1 {
		return sum / d.m
	}
	for g := 1; g < min(d.k, 64); g++ {
		if d.power(g) < 1e-4*sum/float64(g*g) {
			break
		}
		for h := 1; h <= g; h++ {
			if g%h != 0 {
				continue
			}
			g0 := g / h
			wraps := math.Pow(d.fill, float64(h))
			share := min(1, (1+wraps)/(1-wraps)/float64(g0*d.k))
			sum += float64(totient(g0)) * d.steps(g, h) * share * (d.power(g) - long)
		}
	}
	return sum / d.m
}

// steps returns the number of steps y with g·y ≡ v·2^w mod m, for a v that has the greatest
// common divisor h with g, for which the same does not hold with g and v divided by a
// divisor of h.
func (d doubleHashing) steps(g, h int) float64 {
	common := int(gcd(uint64(min(d.m, 1<<63)), uint64(g)))
	n := 0.0
	if odd := common >> bits.TrailingZeros(uint(common)); h%odd == 0 {
		n = float64(common)
	}
	for divisor := 2; divisor <= h; divisor++ {
		if h%divisor == 0 {
			n -= d.steps(g/divisor, h/divisor)
		}
	}
	return n
}

func totient(n int) (count int) {
	for i := 1; i <= n; i++ {
		if gcd(i, n) == 1 {
			count++
		}
	}
	return count
}

func gcd[I int | uint64](a, b I) I {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sharedWalks returns what the walks that share 3 or more successive bits with the walk of
// one key add to the rate.
//
// For each number of shared bits there are two offsets, and two directions, of the other
// walk. The words of wraps of both walks must be the same, too, unless 2^w mod m is 0; the
// chance falls with the third power of the length.
func (d doubleHashing) sharedWalks() (sum float64) {
	for rest := range d.k - 2 {
		walks := 4.0
		if rest == 0 {
			walks = 2
		}
		term := walks * d.sameWraps(d.k-rest) * d.shared(d.k-rest)
		sum += term
		if term < 1e-6*sum {
			break
		}
	}
	// Walks that share every second bit and so on: fitted to measured rates.
	if d.odd > 1 {
		sum += 2.3
	} else {
		sum++
	}
	return sum * d.n / (d.m * d.m)
}

// shared returns what a key that shares n bits with the walk adds to the chance that all bits are set. The single bits and pairs of
// bits that keys set are counted already, by fill and distinct.
func (d doubleHashing) shared(n int) float64 {
	clear, s := (1-d.fill)/d.fill, float64(n)
	return d.power(d.k-n) - d.power(d.k)*(1+s*clear+s*(s-1)/2*clear*clear)
}

// sameWraps returns the chance that two walks have the same wraps, or nearly, over length successive probes.
func (d doubleHashing) sameWraps(length int) float64 {
	if d.odd == 1 {
		return 1
	}
	const area = 4 + math.Pi // of the offsets and slopes, both over 1/length, that differ at one probe
	f, l := d.fill, float64(length)
	return min(1, 2*area/(l*l*l)*(1.0/3+2*f/((1-f)*(1-f))))
}
