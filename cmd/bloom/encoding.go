package main

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lanebloom/bloom"
)

// encoding says where the parts of a format's filters lie, which the library does not.
type encoding struct {
	format bloom.Format
	parts  func(data []byte) []part // in order; none if data is no array of bits

	// size returns how many bits a filter has that is made for so many keys.
	size func(keys, bitsPerKey int) uint64
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

// encodings has an entry for every format that the command knows.
var encodings = []encoding{
	{
		format: bloom.LevelDB,
		parts: func(data []byte) []part {
			n := len(data)
			if n < 2 {
				return nil
			}
			return []part{{partBits, 0, n - 1}, {partProbes, n - 1, n}}
		},
		size: func(keys, bitsPerKey int) uint64 { return (max(64, uint64(keys)*uint64(bitsPerKey)) + 7) &^ 7 },
	},
	{
		format: bloom.Nori,
		parts: func(data []byte) []part {
			if n := len(data); isDocumented(data) {
				return []part{{partCount, 0, 8}, {partProbes, 8, 12}, {"bits per key", 12, 16}, {partBits, 16, n}}
			}
			return partsNoriCrate(data)
		},
		size: func(keys, bitsPerKey int) uint64 { return uint64(keys) * uint64(bitsPerKey) },
	},
	{
		format: bloom.NoriCrate,
		parts:  partsNoriCrate,
		size:   func(keys, bitsPerKey int) uint64 { return 1 << bits.Len64(uint64(keys)*uint64(bitsPerKey)-1) },
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

// parseFormat returns the format of the given name, if the command knows it.
func parseFormat(name string) (bloom.Format, error) {
	f, err := bloom.ParseFormat(name)
	if err == nil && !slices.ContainsFunc(encodings, func(e encoding) bool { return e.format == f }) {
		err = fmt.Errorf("%w %q to this command; the library has it", bloom.ErrFormat, name)
	}
	return f, err
}

// encodingOf returns the entry of a format that parseFormat returned.
func encodingOf(f bloom.Format) encoding {
	return encodings[slices.IndexFunc(encodings, func(e encoding) bool { return e.format == f })]
}

// part returns the bytes of the named part of a filter. It returns none if the filter has no
// such part.
func (e encoding) part(data []byte, name string) []byte {
	for _, p := range e.parts(data) {
		if p.Name == name {
			return data[p.From:p.To]
		}
	}
	return nil
}

// bytes returns how many bytes the bits take of a filter that is made for so many keys.
func (e encoding) bytes(keys, bitsPerKey int) uint64 {
	size := e.size(keys, bitsPerKey)
	return size/8 + min(size%8, 1)
}

// setProbes writes k into an encoded filter.
func (e encoding) setProbes(data []byte, k int) {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(k))
	copy(e.part(data, partProbes), number[:])
}
