package rates

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Crossed returns the rate of bits-and-blooms' walk, in which probe i is bit (x + i·y mod 2^64) mod m, for x one of two
// words of the hash and y one of two others.
//
// Below 8,192 bits, a sample of walks also counts probes that meet by chance. It misses what is rare, so the rate is the
// higher one of both.
func Crossed(n, m float64, k int) float64 {
	const (
		small = 1 << 13 // bits
		few   = 64      // probes: with more, the rate is one of walks that no sample has
	)
	rate := CrossedLeast(n, m, k)
	if m < small && k <= few {
		rate = max(rate, sampledCrossed(n, m, k))
	}
	return min(rate, 1)
}

// CrossedLeast is Crossed without the sample, which takes nearly all of its time. It may be above 1.
func CrossedLeast(n, m float64, k int) float64 {
	fill := -math.Expm1(-float64(k) * n / m)
	first := (k+3)/4 + k/4 // probes 0, 3, 4, 7, 8, … have one step, the others the other
	return crossedHalf(n, m, fill, first) * crossedHalf(n, m, fill, k-first)
}

// crossedHalf returns the chance that the probes of one step are set: two walks with a step of four times the word.
func crossedHalf(n, m, fill float64, probes int) float64 {
	power := func(i int) float64 { return math.Pow(fill, float64(i)) }
	rate := power(probes)
	if probes < 2 {
		return rate
	}
	long, short := (probes+1)/2, probes/2
	// Both walks have few different bits.
	reached := m / float64(gcd(uint64(m), 4)) // by multiples of 4
	d := doubleHashing{n: n, m: reached, k: long, fill: fill * fill, odd: oddPart(reached)}
	rate += d.shortWalks()
	// They share bits, more than one, for independent probes share one as often. There are two offsets for each number
	// of shared bits, but for the whole of the shorter walk.
	offsets := float64(long - short + 1)
	for shared := short; shared > 1; shared-- {
		more := power(probes-shared) - power(probes) - float64(shared)*(power(probes-1)-power(probes))
		rate += offsets * more / m
		if more < 1e-6*rate {
			break
		}
		offsets = 2
	}
	return rate
}

// sampledCrossed is Crossed by the numbers of different bits of a sample of walks.
func sampledCrossed(n, m float64, k int) float64 {
	samples := min(1<<14, 1<<18/k)
	random := rand.New(rand.NewPCG(1, 2))
	different := make([]int, k+1) // walks by their number of different bits
	sum := 0
	walk := make([]uint64, int(m)/64+1)
	for range samples {
		clear(walk)
		x, y := [2]uint64{random.Uint64(), random.Uint64()}, [2]uint64{random.Uint64(), random.Uint64()}
		for i := range uint64(k) {
			bit := (x[i%2] + i*y[(i+i%2)%4/2]) % uint64(m)
			walk[bit/64] |= 1 << (bit % 64)
		}
		set := 0
		for _, word := range walk {
			set += bits.OnesCount64(word)
		}
		different[set]++
		sum += set
	}
	fill := -math.Expm1(n * math.Log1p(-min(float64(sum)/float64(samples)/m, 1)))
	rate := 0.0
	for set, walks := range different {
		rate += float64(walks) / float64(samples) * math.Pow(fill, float64(set))
	}
	return rate
}
