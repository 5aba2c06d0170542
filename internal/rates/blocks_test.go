package rates

import "testing"

// TestRatesRise wants the rates of blocks and lines to rise with the keys, up to 1: also where blocks have
// too many keys for the share of blocks without keys to be a number.
func TestRatesRise(t *testing.T) {
	for name, rate := range map[string]func(n, blocks float64) float64{
		"Parquet": func(n, blocks float64) float64 { return Parquet(n, 256*blocks, 8) },
		"RocksDB": func(n, blocks float64) float64 { return RocksDB(n, 512*blocks, 6) },
		"Pebble":  func(n, blocks float64) float64 { return Pebble(n, 512*blocks, 6) },
	} {
		for _, blocks := range []float64{1, 2, 3, 4, 5, 8, 100, 1000} {
			before := 0.0
			for perBlock := 1.0; perBlock < 3000; perBlock *= 1.03 {
				now := rate(float64(int(perBlock*blocks)), blocks)
				if now < before-1e-3 || now > 1 {
					t.Fatalf("%s, %v blocks of %.0f keys: %v, and with fewer keys %v", name, blocks, perBlock, now, before)
				}
				before = now
			}
		}
	}
}
