package main

import (
	"testing"

	"github.com/lanebloom/bloom"
)

// TestLevelDBFilters wants no refusal and no warning for filters that LevelDB writes. None of these
// looks like text; a few others of a dozen keys or fewer do.
func TestLevelDBFilters(t *testing.T) {
	for _, keys := range []int{0, 1, 7, 24, 100, 5000} {
		for bitsPerKey := 1; bitsPerKey <= 60; bitsPerKey++ {
			data := bloom.Policy{BitsPerKey: bitsPerKey}.AppendFilter(nil, bloom.Strings(manyKeys(keys, 0, "")))
			o, err := recognise(bloom.LevelDB, data)
			if err != nil || o.doubt() != "" {
				t.Errorf("%d keys of %d bits: %v %s", keys, bitsPerKey, err, o.doubt())
			}
		}
	}
}
