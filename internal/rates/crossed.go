package rates

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Crossed returns the rate of bits-and-blooms' walk, in which probe i is bit (x + i·y mod 2^64) mod m, for x one of two
// words of the hash and y one of two others.
//
// In small filters, the probes of a walk meet: 4·y may be a multiple of m. There the rate is the mean over a sample
// of walks. In large ones it is that of independent probes.
func Crossed(n, m float64, k int) float64 {
	const (
		small = 1 << 13 // bits; from there on, probes that meet add less than 2 %
		most  = 1 << 12 // probes, as the format has
	)
	if m >= small || k > most {
		return Independent(n, m, k)
	}
	samples := min(1<<14, 1<<20/k)
	random := rand.New(rand.NewPCG(1, 2))
	different := make([]int, k+1) // walks by their number of different bits
	sum := 0
	for range samples {
		var walk [small / 64]uint64
		x, y := [2]uint64{random.Uint64(), random.Uint64()}, [2]uint64{random.Uint64(), random.Uint64()}
		for i := range uint64(k) {
			bit := (x[i%2] + i*y[(i+i%2)%4/2]) % uint64(m)
			walk[bit/64] |= 1 << (bit % 64)
		}
		set := 0
		for _, word := range walk[:(uint64(m)+63)/64] {
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
