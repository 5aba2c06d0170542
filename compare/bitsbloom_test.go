package compare

import (
	"math"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
)

const bitsAndBloomsModule = "github.com/bits-and-blooms/bloom/v3"

// bitsAndBlooms builds and tests filters with github.com/bits-and-blooms/bloom.
type bitsAndBlooms struct{}

// CreateFilter returns the filter of keys, of New(m, k) with so many bits for each key and the k of
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
