package main

import (
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestBound wants what takes the larger part of the time, and its share.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		words, test float64
		want        string
	}{{4, 1, "the hash. It takes 75 % "}, {4, 3, "the bits. Testing them takes 75 % "}, {1, 2, "the bits. Testing them takes 100 % "}} {
		f := shownFilter{policy: bloom.Policy{Format: bloom.RocksDB}, speeds: speeds{words: c.words, test: c.test}}
		if got := f.bound(); !strings.HasPrefix(got, c.want) {
			t.Errorf("of %v ns, %v are the test: %s", c.words, c.test, got)
		}
	}
}
