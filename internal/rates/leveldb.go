package rates

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/lanebloom/bloom/internal/encoding"
)

// LevelDB returns the rate of LevelDB's hash. Where that takes 0.1 s at most, it measures the rate: measure
// tests random hashes, queries of them, with filters of n random hashes, and returns the share that hits. The
// model is up to 1.4 times too low if m is, or is nearly, a multiple of a large power of two, and more if m
// is a multiple of 65537. More probes than there may be are reserved: to such a filter, every key is a yes.
func LevelDB(n, m float64, k int, measure func(n, m, k, queries int) float64) float64 {
	if k > encoding.MaxProbes {
		return 1
	}
	m = min(m, hashReach)
	const passes, most = 1000, 1 << 23 // random hashes that pass, and that are tested
	least := Independent(n, m, k)      // LevelDB's probes pass at least as often
	queries := passes / least
	if n < ThirdProbeKeys || n > 1<<20 || m > 1<<27 || math.Mod(m, 8) != 0 || queries > most {
		return modelLevelDB(n, m, k)
	}
	collisions := Collisions(n, 32) // that pass by their hash, which the caller adds
	measured := measure(int(n), int(m), k, int(max(queries, 1<<16)))
	return max((measured-collisions)/(1-collisions), least) // less is noise
}

// hashReach is the number of bits that a hash of 32 bits reaches.
const hashReach = 1 << 32

// modelLevelDB is LevelDB by calculation. m is a multiple of 8 up to 2^32. The rate is the rate of double
// hashing, except that both words are the same hash h: the step is rotr(h, 17), which is 2^15·h mod 2^32-1.
// Twice the step is h with its halves exchanged, except for one bit, so h mod 65535. Three things follow.
//
//   - The third probe has only 196,606 values.
//   - If m and 65535 have a common divisor g, then probe i is h·(1+i/2) mod g. So probe
//     1, for one, is nearly always a multiple of 3 if g is.
//   - If another key has the same first probe, the steps of both are the same modulo the
//     common divisor of m and 2^32-1.
//
// The first two make some bits likelier to be set than others, and those bits
// likelier to be tested. So LevelDB takes the mean, over a sample of all hashes, of
// the product of the chances that their bits are set.
func modelLevelDB(n, m float64, k int) float64 {
	d := newDoubleHashing(n, m, k)
	base := d.power(k)
	if base > 1-1e-9 {
		return 1
	}
	third := k > 2 && n >= ThirdProbeKeys
	g := int(gcd(uint64(m), 255)) // 257 divides no 2+i
	if third || g > 1 {
		base = newFills(n, uint64(m), k, g, third).mean(n, third)
	}
	sameSteps := float64(gcd(uint64(m), math.MaxUint32)-1) * d.sameWraps(k)
	return min(d.rate(base)+sameSteps*n/(m*m), 1)
}

// ThirdProbeKeys is the fewest keys for which rates account for the third probe. For fewer keys,
// it adds less than 3 % to the rate, and all its values take milliseconds.
const ThirdProbeKeys = 6000

// fills has the chances that bits of a filter of LevelDB are set.
type fills struct {
	modulus
	k     int
	clear []float64 // chance that no probe, or none but the third, sets a bit, by its number modulo len(clear)
}

func newFills(n float64, m uint64, k, g int, third bool) *fills {
	modulus := newModulus(m)
	f := &fills{modulus: modulus, k: k, clear: make([]float64, g)}
	samples := f.samples()
	if third && g > 1 {
		samples = thirdSamples
	}
	for h := range sampleHashes(samples) {
		delta := bits.RotateLeft32(h, -17)
		for j := range k {
			if j != 2 || !third {
				f.clear[modulus.of(h)%uint32(g)]++
			}
			h += delta
		}
	}
	for i, probes := range f.clear {
		chance := min(probes*float64(g)/float64(samples)/float64(m), 1)
		f.clear[i] = math.Exp(n * math.Log1p(-chance))
	}
	return f
}

// samples returns how many hashes stand for all, if third probes do not count.
func (f *fills) samples() uint32 {
	if len(f.clear) == 1 {
		return 1 // all bits are alike
	}
	return max(1<<11, 64*uint32(len(f.clear)))
}

// mean returns the expected rate: the chance that all bits of a hash are set, averaged over a sample of
// hashes. If third is set, the third probes of n keys count, too.
func (f *fills) mean(n float64, third bool) float64 {
	if third {
		return f.meanOfThird(n)
	}
	samples, sum := f.samples(), 0.0
	for h := range sampleHashes(samples) {
		delta, product := bits.RotateLeft32(h, -17), 1.0
		for range f.k {
			product *= 1 - f.clear[h%uint32(len(f.clear))] // of m, len(f.clear) is a divisor
			h += delta
		}
		sum += product
	}
	return sum / float64(samples)
}

// thirdSamples is how many hashes stand for all, if third probes count: a power of two spreads them evenly.
const thirdSamples = 1 << 14

// meanOfThird is mean with the third probes of n keys.
func (f *fills) meanOfThird(n float64) float64 {
	samples := uint32(thirdSamples)
	if f.k > 16 {
		samples /= 2
	}
	values, wanted := newBitmap(), newBitmap() // the bits that third probes set, and those of them that are tested
	for bit := range eachThirdProbe(f.modulus) {
		values.add(bit)
	}
	tested := make([]uint32, 0, int(samples)*f.k) // bits, k for each hash
	probes := make(map[uint32]float64)            // how many third probes set a bit that is wanted, on average
	for h := range sampleHashes(samples) {
		delta := bits.RotateLeft32(h, -17)
		for range f.k {
			bit := f.of(h)
			if tested = append(tested, bit); values.has(bit) {
				wanted.add(bit)
				probes[bit] = 0
			}
			h += delta
		}
	}
	for bit, share := range eachThirdProbe(f.modulus) {
		if !wanted.has(bit) {
			continue
		}
		if before, ok := probes[bit]; ok {
			probes[bit] = before + n*share
		}
	}
	sum := 0.0
	for ; len(tested) > 0; tested = tested[f.k:] {
		product := 1.0
		for _, bit := range tested[:f.k] {
			clear := f.clear[bit%uint32(len(f.clear))]
			if values.has(bit) {
				clear *= math.Exp(-probes[bit])
			}
			product *= 1 - clear
		}
		sum += product
	}
	return sum / float64(samples)
}

// bitmap is a set of bits by their numbers modulo usedBits: it may have more than were added. Most bits of a large filter are no
// values of third probes, so that it spares most look-ups in a map.
type bitmap []uint64

const usedBits = 1 << 22

func newBitmap() bitmap { return make(bitmap, usedBits/64) }

func (b bitmap) add(bit uint32)      { b[bit%usedBits/64] |= 1 << (bit % 64) }
func (b bitmap) has(bit uint32) bool { return b[bit%usedBits/64]>>(bit%64)&1 != 0 }

// eachThirdProbe calls yield with the bits that third probes set, and the share of the keys
// that set each.
//
// The third probe of the hash with the halves a and b adds b and a to them, without the lowest
// bit of a there. So its lower half, l, has 2^16 values, and its upper half is l, l+1 or l+2. It
// is 1 more for the lowest bit of a, and 1 more for the carry, which has the chance 1-l/2^16.
func eachThirdProbe(m modulus) func(yield func(bit uint32, share float64) bool) {
	return func(yield func(uint32, float64) bool) {
		for low := range uint32(1 << 16) {
			x := (float64(low) + 0.5) / (1 << 16)
			for more, share := range [3]float64{x / 2, 0.5, (1 - x) / 2} {
				if !yield(m.of((low+uint32(more))<<16|low), share/(1<<16)) {
					return
				}
			}
		}
	}
}

// modulus computes remainders of words by m, at most 2^32, without a division, as
// probes.LevelDB does.
type modulus struct{ m, recip uint64 }

func newModulus(m uint64) modulus { return modulus{m, math.MaxUint64/m + 1} }

func (m modulus) of(h uint32) uint32 {
	r, _ := bits.Mul64(uint64(h)*m.recip, m.m)
	return uint32(r)
}

// sampleHashes yields n hashes, the same at every call. They are random: a pattern would meet
// that of some numbers of bits.
func sampleHashes(n uint32) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		random := rand.NewPCG(1, 2)
		for range n {
			if !yield(uint32(random.Uint64())) {
				return
			}
		}
	}
}

// LevelDBSet returns how many of m bits n different keys are expected to set. It takes the probes other than the third
// as independent.
//
// The third probe is h + 2·rotr(h, 17). Except for its lowest bit, 2·rotr(h, 17) is h with
// the two halves exchanged. So each half of the probe is the sum of the two halves of h,
// except for carries, and the probe has 196,606 values: about three for each 16-bit sum.
// n keys give each sum 2λ keys, with λ = n/2^17. λ of them hit one of its three values. λ·x
// and λ·(1-x) hit the two others, where x is uniform between 0 and 1.
func LevelDBSet(n, m float64, k int) float64 {
	m = min(m, hashReach)
	if k < 3 {
		return IndependentSet(n, m, k)
	}
	miss := 1.0 // expected share of bits that no third probe sets
	if lambda := n / (1 << 17); lambda > 0 {
		hit := -math.Expm1(-lambda)
		miss = math.Exp(-(1 << 16) * (2 + hit - 2*hit/lambda) / m)
	}
	return m * (1 - miss*math.Exp(-float64(k-1)*n/m))
}
