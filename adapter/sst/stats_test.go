package bloomsst

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestBestRate wants the best of all rates, of a filter that comes for the first time, of one that came before, and of one
// that was forgotten meanwhile.
func TestBestRate(t *testing.T) {
	want := func(f bloom.Format, bits uint64, keys int) float64 {
		best := 1.0
		for probes := 1; probes <= mostProbes; probes++ {
			best = min(best, f.FalsePositiveRate(keys, bits, probes))
		}
		return best
	}
	for range 2 {
		for _, f := range []bloom.Format{bloom.LevelDB, bloom.RocksDB} {
			for _, bits := range []uint64{512, 1024} {
				for _, keys := range []int{40, 60} {
					for range 2 {
						if got, want := (shape{f, bits, keys}).bestRate(), want(f, bits, keys); got != want {
							t.Errorf("%v, %d keys in %d bits: the best rate is %v, want %v", f, keys, bits, got, want)
						}
					}
				}
			}
		}
		for n := range mostRates {
			shape{bloom.RocksDB, 512 * uint64(2+n), 1}.bestRate()
		}
		if n := len(bestRates.of); n > mostRates {
			t.Errorf("%d rates are remembered, want %d at most", n, mostRates)
		}
	}
}

// TestManyShapes has tables whose filters are all of other shapes: few are rated. The estimates of the others are near.
func TestManyShapes(t *testing.T) {
	sample := 400
	if testing.Short() {
		sample = 120
	}
	for _, f := range []bloom.Format{bloom.LevelDB, bloom.RocksDB, bloom.Pebble} {
		random := rand.New(rand.NewPCG(1, uint64(f)))
		before := bestRates.rated
		var table sum
		shapes := map[shape]float64{}
		for range sample {
			keys := 20 + random.IntN(300) // of 2 KiB
			if f != bloom.LevelDB {
				keys *= 10 // of a partition
			}
			bits := uint64(float64(keys)*(8+4*random.Float64())) &^ 7
			if f != bloom.LevelDB {
				bits = (bits + 511) &^ 511
			}
			of := shape{f, bits, keys}
			shapes[of] = table.bestRate(of)
		}
		if n := bestRates.rated - before; n > mostShapes {
			t.Errorf("%v: %d shapes of %d are rated", f, n, len(shapes))
		}
		worst, sum, all := 1.0, 0.0, 0.0
		for of, got := range shapes {
			want := of.bestRate()
			worst = max(worst, got/want, want/got)
			sum += got
			all += want
		}
		t.Logf("%v: %d shapes, an estimate is wrong by a factor of %.3f at most, their mean by %.3f", f, len(shapes), worst, sum/all)
		if worst > 1.3 || math.Abs(sum/all-1) > 0.03 {
			t.Errorf("%v: estimates are wrong by a factor of %.3f at most, and their mean by %.3f", f, worst, sum/all)
		}
	}
}
