package compare

import (
	"math"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom/compare/pebblebloom"
)

const bitsAndBloomsModule = "github.com/bits-and-blooms/bloom/v3"

// bitsAndBlooms builds and tests filters with github.com/bits-and-blooms/bloom.
type bitsAndBlooms struct{}

// CreateFilter returns the filter of keys that New(m, k) makes, with m from the bits per key and k from
// EstimateParameters.
func (bitsAndBlooms) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	f := bitsbloom.New(uint(len(keys)*bitsPerKey), uint(math.Ceil(math.Ln2*float64(bitsPerKey))))
	for _, key := range keys {
		f.Add(key)
	}
	return f.MarshalBinary()
}

// KeyMayMatch returns the answer for each key.
func (bitsAndBlooms) KeyMayMatch(filter []byte, keys [][]byte) ([]bool, error) {
	f := new(bitsbloom.BloomFilter)
	if err := f.UnmarshalBinary(filter); err != nil {
		return nil, err
	}
	answers := make([]bool, len(keys))
	for i, key := range keys {
		answers[i] = f.Test(key)
	}
	return answers, nil
}

// pebbleFilter builds and tests filters with Pebble's own code.
type pebbleFilter struct{ pebblebloom.Pebble }

func (p pebbleFilter) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	return p.Build(len(keys), func(i int) []byte { return keys[i] }, bitsPerKey), nil
}

func (p pebbleFilter) KeyMayMatch(filter []byte, keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	for i, key := range keys {
		answers[i] = p.MayContain(filter, key)
	}
	return answers, nil
}
