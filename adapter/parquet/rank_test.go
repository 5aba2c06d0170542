package bloomparquet

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRankDecimal compares the ranks of wide integers with their order. Those of 64 bits have different
// ranks, whatever the width.
func TestRankDecimal(t *testing.T) {
	random := rand.New(rand.NewPCG(57, 6))
	for _, width := range []int{1, 2, 7, 8, 9, 16, 40} {
		integer := func() (*big.Int, []byte) {
			bits := 1 + random.IntN(8*width-1) // of the magnitude
			x := new(big.Int).Rsh(new(big.Int).SetUint64(random.Uint64()), uint(max(0, 64-bits)))
			if bits > 64 {
				x.Lsh(x, uint(bits-64))
			}
			if random.IntN(2) == 0 {
				x.Neg(x)
			}
			data, why := appendTwosComplement(nil, x, width)
			if !why.ok() {
				t.Fatal(why)
			}
			return x, data
		}
		for range 20_000 {
			x, a := integer()
			y, b := integer()
			order, ranks := x.Cmp(y), rankDecimal(a) < rankDecimal(b)
			switch different := x.IsInt64() && y.IsInt64() && order != 0; {
			case order >= 0 && ranks, order < 0 && rankDecimal(a) > rankDecimal(b):
				t.Fatalf("width %d: %v and %v have the ranks %x and %x", width, x, y, rankDecimal(a), rankDecimal(b))
			case different && rankDecimal(a) == rankDecimal(b):
				t.Fatalf("width %d: %v and %v have one rank", width, x, y)
			}
		}
	}
}
