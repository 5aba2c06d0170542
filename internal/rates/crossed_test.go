package rates

import (
	"math"
	"math/bits"
	"testing"
)

// TestCrossedHalves compares crossedHalf with a count over all walks through 128 bits in which no step wraps. Both leave out the
// bits that the walks of the two steps share by chance.
func TestCrossedHalves(t *testing.T) {
	const m, fill = 128, 0.5
	for _, k := range []int{1, 2, 3, 4, 7, 8, 14, 21, 28} {
		exact := 1.0
		for half := range 2 {
			var steps []int
			for i := range k {
				if (i+i%2)%4/2 == half {
					steps = append(steps, i)
				}
			}
			sum := 0.0
			for y := range m {
				for x := range m { // from the other start
					var walk [m / 64]uint64
					for _, i := range steps {
						bit := (i%2*x + i*y) % m
						walk[bit/64] |= 1 << (bit % 64)
					}
					sum += math.Pow(fill, float64(bits.OnesCount64(walk[0])+bits.OnesCount64(walk[1])))
				}
			}
			exact *= sum / (m * m)
		}
		first := (k+3)/4 + k/4
		got := crossedHalf(0, m, fill, first) * crossedHalf(0, m, fill, k-first)
		if ratio := got / exact; ratio < 0.9 || ratio > 1.01 {
			t.Errorf("%d probes: %.3g, not %.3g; independent probes: %.3g", k, got, exact, math.Pow(fill, float64(k)))
		}
	}
}
