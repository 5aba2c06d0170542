package main

import (
	"errors"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestUnknownFormat opens the file of a format that the library has and the command has not.
func TestUnknownFormat(t *testing.T) {
	file, err := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 10}.NewBuilder().Filter().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recognise(bloom.LevelDB, file); !errors.Is(err, bloom.ErrFormat) {
		t.Errorf("the error is %v, want %v", err, bloom.ErrFormat)
	}
}

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
