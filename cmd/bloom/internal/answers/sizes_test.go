package answers

import (
	"fmt"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// TestSizeLimits wants the most keys and bits within a rate and a memory: those that are
// found must be within them, and one more must not.
func TestSizeLimits(t *testing.T) {
	for _, f := range bloom.Formats() {
		within := func(keys, bitsPerKey int, r float64, memory uint64) bool {
			if bytesOf(f, keys, bitsPerKey) > memory {
				return false
			}
			return bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.FalsePositiveRate(keys) <= r
		}
		memories := []uint64{64, 1000, 1 << 20, 1 << 30}
		if testing.Short() {
			memories = memories[:2] // LevelDB's rates of many keys take milliseconds each
		}
		for i, memory := range memories {
			for _, n := range []int{1, 5, 1000, 1_000_000} {
				keys, bits, err := SizeQuestion{Keys: &n, Memory: &memory}.solve(f)
				fits := bytesOf(f, n, 1) <= memory
				if fits != (err == nil) {
					t.Errorf("%v: %d keys in %d bytes: %v", f, n, memory, err)
				}
				if err == nil && (keys != n || !within(keys, bits, 1, memory) || bits < filterfile.MostBitsPerKey && within(keys, bits+1, 1, memory)) {
					t.Errorf("%v: %d keys in %d bytes have %d bits per key", f, n, memory, bits)
				}
			}
			for _, b := range []int{1, 10, 33} {
				keys, bits, err := SizeQuestion{BitsPerKey: &b, Memory: &memory}.solve(f)
				if err != nil || bits != b || !within(keys, b, 1, memory) || within(keys+1, b, 1, memory) {
					t.Errorf("%v: at %d bits per key %d bytes hold %d keys, %v", f, b, memory, keys, err)
				}
			}
			for j, r := range []float64{0.5, 0.01, 1e-6} {
				if (i+j+int(f))%2 != 0 {
					continue // each memory with every second rate, and the other way round
				}
				keys, bits, err := SizeQuestion{Rate: &r, Memory: &memory}.solve(f)
				// No filter of a few bytes has a rate of 1e-6, and none of Pebble with so few bits per key.
				if small := (memory <= 1000 || f == bloom.Pebble) && r < 1e-5; err != nil && !small || err == nil && !within(keys, bits, r, memory) {
					t.Errorf("%v: with a rate of %v, %d bytes hold %d keys at %d bits, %v", f, r, memory, keys, bits, err)
				}
				more := keys + 1
				if f == bloom.LevelDB {
					more += keys / 20 // some sizes have a higher rate than their neighbours
				}
				if policy, err := bloom.PolicyFor(f, more, r); err == nil && within(more, policy.BitsPerKey, r, memory) {
					t.Errorf("%v: with a rate of %v, %d bytes hold more than %d keys", f, r, memory, keys)
				}
			}
		}
		for i, b := range []int{10, 16, 33} {
			if testing.Short() && f == bloom.LevelDB {
				continue
			}
			for j, r := range []float64{0.5, 0.01, 1e-4} {
				if (i+j+int(f))%2 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%v/%d/%v", f, b, r), func(t *testing.T) { wantMostKeys(t, f, b, r) })
			}
		}
	}
}

// wantMostKeys wants the most keys that have the rate at b bits, in samples. Some sizes of LevelDB have
// higher rates than their neighbours.
func wantMostKeys(t *testing.T, f bloom.Format, b int, r float64) {
	policy := bloom.Policy{Format: f, BitsPerKey: b}
	keys, _, err := SizeQuestion{BitsPerKey: &b, Rate: &r}.solve(f)
	if err != nil {
		if rate := policy.FalsePositiveRate(1000); rate <= r {
			t.Fatalf("%v, but 1000 keys have a rate of %v", err, rate)
		}
		return
	}
	if got := policy.FalsePositiveRate(keys); got > r {
		t.Errorf("%d keys have a rate of %v", keys, got)
	}
	for n := 1000; n <= keys; n += max(1, keys/10) {
		if got := policy.FalsePositiveRate(n); got > 1.25*r {
			t.Fatalf("%d keys have a rate of %v, and it is %d for %v", n, got, keys, r)
		}
	}
	if keys < MostKeys/b && bytesOf(f, keys+1, b) <= mostMemory && policy.FalsePositiveRate(keys+1) <= r && f != bloom.NoriCrate {
		t.Errorf("%d keys have the rate, too", keys+1)
	}
}
