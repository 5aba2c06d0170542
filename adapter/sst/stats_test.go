package bloomsst

import (
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
						if got, want := bestRate(f, bits, float64(keys)+0.3), want(f, bits, keys); got != want {
							t.Errorf("%v, %d keys in %d bits: the best rate is %v, want %v", f, keys, bits, got, want)
						}
					}
				}
			}
		}
		for n := range mostRates {
			bestRate(bloom.RocksDB, 512*uint64(2+n), 1)
		}
		if n := len(bestRates.of); n > mostRates {
			t.Errorf("%d rates are remembered, want %d at most", n, mostRates)
		}
	}
}
