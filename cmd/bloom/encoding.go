package main

import (
	"encoding/binary"

	"github.com/lanebloom/bloom"
)

// encoding tells what explaining a format takes beyond what the library says of
// all: how its hash is made, in words, and where the parts of its filters lie.
type encoding struct {
	format bloom.Format
	hash   string
	delta  string
	parts  func(data []byte) []part // in order; none if data is no array of bits
	bits   func(data []byte) uint64 // how many there are, of a filter with parts
}

// part is a run of bytes of an encoded filter: data[From:To].
type part struct {
	Name string `json:"name"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// The parts that every format has. All numbers are little-endian.
const (
	partBits   = "bits"   // bit i is bit i%8, least significant first, of byte i/8
	partProbes = "probes" // k
)

// encodings has an entry for every format of the library.
var encodings = []encoding{
	{
		format: bloom.LevelDB,
		hash:   "LevelDB's 32-bit hash of the key",
		delta:  "the hash rotated right by 17 bits",
		parts: func(data []byte) []part {
			n := len(data)
			if n < 2 {
				return nil
			}
			return []part{{partBits, 0, n - 1}, {partProbes, n - 1, n}}
		},
		bits: func(data []byte) uint64 { return 8 * uint64(len(data)-1) },
	},
	{
		format: bloom.Nori,
		hash:   "XXH64 of the key, seed 0",
		delta:  "XXH64 of the key, seed 1",
		parts: func(data []byte) []part {
			if n := len(data); isDocumented(data) {
				return []part{{partCount, 0, 8}, {partProbes, 8, 12}, {"bits per key", 12, 16}, {partBits, 16, n}}
			}
			return partsNoriCrate(data)
		},
		bits: func(data []byte) uint64 {
			if isDocumented(data) {
				return binary.LittleEndian.Uint64(data)
			}
			return binary.LittleEndian.Uint64(data[4:])
		},
	},
	{
		format: bloom.NoriCrate,
		hash:   "XXH64 of the key, seed 0",
		delta:  "XXH64 of the key, seed 1",
		parts:  partsNoriCrate,
		bits:   func(data []byte) uint64 { return binary.LittleEndian.Uint64(data[4:]) },
	},
}

// partCount is the number of bits, in the formats that say it.
const partCount = "number of bits"

// isDocumented reports whether a filter of nori-sstable has the header that its
// documentation says, and not that of its code: the number of bits tells.
func isDocumented(data []byte) bool {
	if len(data) < 16 {
		return false
	}
	n := binary.LittleEndian.Uint64(data)
	return n/8+min(n%8, 1) == uint64(len(data)-16)
}

func partsNoriCrate(data []byte) []part {
	if len(data) < 12 {
		return nil
	}
	return []part{{partProbes, 0, 4}, {partCount, 4, 12}, {partBits, 12, len(data)}}
}

// encodingOf returns the entry of a format.
func encodingOf(f bloom.Format) encoding {
	for _, e := range encodings {
		if e.format == f {
			return e
		}
	}
	panic("no encoding for format " + f.String())
}

// part returns the bytes of the named part of a filter, which are none if it
// has no such part.
func (e encoding) part(data []byte, name string) []byte {
	for _, p := range e.parts(data) {
		if p.Name == name {
			return data[p.From:p.To]
		}
	}
	return nil
}

// setProbes writes k into an encoded filter.
func (e encoding) setProbes(data []byte, k int) {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(k))
	copy(e.part(data, partProbes), number[:])
}
