// Package theirs gets the tests of bits-and-blooms beside this file: see TestTheirTests. They call functions that are
// not exported there; these stand in for them, by what both packages export.
package theirs

import (
	lanebloom "github.com/lanebloom/bloom"
	. "github.com/lanebloom/bloom/adapter/bitsandblooms"
)

func baseHashes(key []byte) []uint64 { return Locations(key, 8) }

func location(f *BloomFilter, locations []uint64, i uint) uint {
	return uint(locations[i] % uint64(f.Cap()))
}

type digest128 struct{}

func (*digest128) sum256(key []byte) (h1, h2, h3, h4 uint64) {
	h := lanebloom.BitsAndBlooms.Hash(key).Words()
	return h[0], h[1], h[2], h[3]
}
