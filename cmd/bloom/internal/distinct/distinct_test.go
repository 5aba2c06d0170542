package distinct

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestDistinct compares the numbers of different hashes with those of a map: of random ones, of runs that differ
// in their lowest or highest bits, and with zero, which is a free place in a table.
func TestDistinct(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, make := range map[string]func() uint64{
		"random":       random.Uint64,
		"few":          func() uint64 { return random.Uint64N(50) },
		"low bits":     func() uint64 { return random.Uint64N(3000) },
		"one part":     func() uint64 { return random.Uint64() >> 8 },
		"highest bits": func() uint64 { return random.Uint64N(3000) << 52 },
		"last places":  func() uint64 { return ^uint64(0) - random.Uint64N(3000) },
	} {
		for _, n := range []int{0, 1, 2, 3, 255, 256, 5000} {
			var d Keys
			want := map[uint64]bool{}
			for at := 0; at < n; at += 100 {
				var ids []uint64
				for range min(100, n-at) {
					ids = append(ids, make())
					want[ids[len(ids)-1]] = true
				}
				d.Add(ids)
			}
			if got := d.Count(); got != len(want) {
				t.Errorf("%s: %d of %d hashes are different, want %d", name, got, n, len(want))
			}
			if again := d.Count(); again != 0 {
				t.Errorf("%s: %d hashes are not forgotten", name, again)
			}
		}
	}
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("a"), nil}
	if ids := IDs(nil, keys); ids[0] != ids[2] || ids[0] == ids[1] || ids[3] == ids[0] {
		t.Error(fmt.Sprint(ids))
	}
}
