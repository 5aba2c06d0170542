package rates

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestModelLevelDB compares the model with filters of random hashes: of sizes that have a common divisor with 255, by which bits
// differ, and of enough keys for the third probe to matter.
func TestModelLevelDB(t *testing.T) {
	for _, c := range []struct{ n, m, k int }{
		{1000, 1000 * 8, 6},
		{816, 2 * 4080, 6},     // 255 divides m
		{1700, 3 * 4080, 5},    // 255
		{1500, 3 * 5 * 960, 7}, // 15
		{1000, 17 * 560, 6},    // 17
		{7000, 7000 * 8, 1},
		{7000, 7000 * 8, 2}, // there is no third probe
		{7000, 7000*8 + 8, 2},
		{8160, 16 * 4080, 2},
		{8160, 16 * 4080, 6},
		{30_000, 30_000 * 10, 6},
	} {
		got, want := modelLevelDB(float64(c.n), float64(c.m), c.k), simulatedLevelDB(c.n, c.m, c.k)
		if ratio := got / want; ratio < 0.96 || ratio > 1.04 {
			t.Errorf("%d keys, %d bits, %d probes: the model has %.5f, %.3f times %.5f", c.n, c.m, c.k, got, ratio, want)
		}
	}
}

// simulatedLevelDB returns the share of random hashes that pass the probes of LevelDB in filters of n random hashes.
func simulatedLevelDB(n, m, k int) float64 {
	random := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	set := make([]bool, m)
	const filters, queries = 16, 1 << 16
	yes := 0
	for range filters {
		clear(set)
		for range n {
			h := random.Uint32()
			delta := bits.RotateLeft32(h, -17)
			for range k {
				set[h%uint32(m)] = true
				h += delta
			}
		}
		for range queries {
			h := random.Uint32()
			delta, all := bits.RotateLeft32(h, -17), true
			for range k {
				all = all && set[h%uint32(m)]
				h += delta
			}
			if all {
				yes++
			}
		}
	}
	return float64(yes) / (filters * queries)
}
