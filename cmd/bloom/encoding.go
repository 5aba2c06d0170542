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
