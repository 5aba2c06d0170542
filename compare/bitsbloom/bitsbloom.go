// Package bitsbloom makes and reads Bloom filters with github.com/bits-and-blooms/bloom.
package bitsbloom

import (
	"math"

	"github.com/bits-and-blooms/bloom/v3"
)

// Module is the path of the module.
const Module = "github.com/bits-and-blooms/bloom/v3"

// BitsAndBlooms builds and tests filters.
type BitsAndBlooms struct{}

// CreateFilter returns the filter of keys, of New(m, k) with so many bits for each key and the k of
// EstimateParameters.
func (BitsAndBlooms) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	f := bloom.New(uint(len(keys)*bitsPerKey), uint(math.Ceil(math.Ln2*float64(bitsPerKey))))
	for _, key := range keys {
		f.Add(key)
	}
	return f.MarshalBinary()
}

// KeyMayMatch returns the answer for each key.
func (BitsAndBlooms) KeyMayMatch(filter []byte, keys [][]byte) ([]bool, error) {
	f := new(bloom.BloomFilter)
	if err := f.UnmarshalBinary(filter); err != nil {
		return nil, err
	}
	answers := make([]bool, len(keys))
	for i, key := range keys {
		answers[i] = f.Test(key)
	}
	return answers, nil
}
