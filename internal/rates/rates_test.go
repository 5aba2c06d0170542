package rates

import (
	"math"
	"math/bits"
	"testing"
)

// TestSteps compares the number of steps with a count over all steps.
func TestSteps(t *testing.T) {
	for _, m := range []uint64{2, 6, 12, 15, 45, 60, 64, 90, 105, 180, 240, 255, 720} {
		d := newDoubleHashing(1, float64(m), 3)
		_, wrap := bits.Div64(1, 0, m) // 2^64 modulo m
		for g := uint64(1); g <= 36; g++ {
			for h := uint64(1); h <= g; h++ {
				if g%h != 0 {
					continue
				}
				want := 0
				for y := range m {
					meets := func(divisor uint64) bool { return g/divisor*y%m == h/divisor*wrap%m }
					new := meets(1)
					for divisor := uint64(2); divisor <= h; divisor++ {
						new = new && !(h%divisor == 0 && meets(divisor))
					}
					if new {
						want++
					}
				}
				if got := d.steps(int(g), int(h)); got != float64(want) {
					t.Errorf("%d bits, g = %d, h = %d: %v steps, not %d", m, g, h, got, want)
				}
			}
		}
	}
}

// TestShared compares shared with the sum over three and more of the shared bits that a key sets and others do not.
func TestShared(t *testing.T) {
	for _, k := range []int{3, 7, 13} {
		for _, n := range []float64{10, 100, 300} {
			d := newDoubleHashing(n, 1000, k)
			for s := range k + 1 {
				want, choose := 0.0, 1.0 // of s bits, i
				for i := range s + 1 {
					if i >= 3 {
						want += choose * math.Pow(1-d.fill, float64(i)) * math.Pow(d.fill, float64(k-i))
					}
					choose *= float64(s-i) / float64(i+1)
				}
				if got := d.shared(s); math.Abs(got-want) > 1e-12+1e-9*want {
					t.Errorf("%d of %d bits, %v keys: %v, not %v", s, k, n, got, want)
				}
			}
		}
	}
}
