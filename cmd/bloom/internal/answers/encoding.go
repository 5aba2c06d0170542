package answers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// bitsOf returns how many bits a filter has that is made for so many keys: more than there can
// be if it would be too large.
func bitsOf(f bloom.Format, keys, bitsPerKey int) uint64 {
	bits, _, err := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.Size(keys)
	if err != nil {
		return math.MaxUint64
	}
	return bits
}

// bytesOf returns how many bytes those bits take.
func bytesOf(f bloom.Format, keys, bitsPerKey int) uint64 {
	size := bitsOf(f, keys, bitsPerKey)
	if f == bloom.BitsAndBlooms { // whole words
		return 8 * (size/64 + min(size%64, 1))
	}
	return size/8 + min(size%8, 1)
}

// field is a number in an encoded filter, in the order of the format's bytes, or its array of bits.
type field struct {
	name string
	size int // in bytes; 0 for the bits
}

// The names of the fields that the command reads or writes.
const (
	partBits   = "bits" // bit i is bit i%8, least significant first, of byte i/8
	partProbes = "probes"
	partCount  = "number of bits"
)

var bitsField = field{partBits, 0}

// layouts names the fields of a format, in order: of each of its headers, if it reads several.
// A format that is not here has a header, bits and a trailer, and its probes cannot be chosen.
var layouts = map[string][][]field{
	"bits-and-blooms": {{{partCount, 8}, {partProbes, 8}, {"stored bits", 8}, bitsField}},
	"guava":           {{{"strategy", 1}, {partProbes, 1}, {"number of words", 4}, bitsField}},

	"leveldb":    {{bitsField, {partProbes, 1}}},
	"nori":       {{{partCount, 8}, {partProbes, 4}, {"bits per key", 4}, bitsField}, crateFields},
	"nori-crate": {crateFields},
	"pebble":     {{bitsField, {partProbes, 1}, {"number of lines", 4}}},
	"rocksdb":    {{bitsField, {"marker", 1}, {"implementation", 1}, {partProbes, 1}, {"reserved", 2}}},
}

var crateFields = []field{{partProbes, 4}, {partCount, 8}, bitsField}

// part is a run of bytes of an encoded filter: data[From:To].
type part struct {
	Name string `json:"name"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// partsOf returns the parts of an encoded filter, in order: none if it is no array of bits.
func partsOf(f bloom.Format, filter *bloom.Filter, data []byte) []part {
	from, to := filter.BitRange()
	if len(data) < 2 {
		return nil // no key, to LevelDB
	}
	for _, fields := range layouts[f.String()] {
		if parts := lay(fields, to-from); parts[len(parts)-1].To == len(data) && partOf(parts, partBits).From == from {
			return parts
		}
	}
	var parts []part
	for _, p := range []part{{"header", 0, from}, {partBits, from, to}, {"trailer", to, len(data)}} {
		if p.From < p.To || p.Name == partBits {
			parts = append(parts, p)
		}
	}
	return parts
}

// lay returns where the fields lie around so many bytes of bits.
func lay(fields []field, bits int) (parts []part) {
	at := 0
	for _, f := range fields {
		size := f.size
		if f == bitsField {
			size = bits
		}
		parts = append(parts, part{f.name, at, at + size})
		at += size
	}
	return parts
}

// partOf returns the part of a name, or an empty one.
func partOf(parts []part, name string) part {
	for _, p := range parts {
		if p.Name == name {
			return p
		}
	}
	return part{Name: name}
}

// choosesProbes reports whether a filter of a format says its number of probes.
func choosesProbes(f bloom.Format) bool {
	for _, fields := range layouts[f.String()] {
		for _, field := range fields {
			if field.name == partProbes {
				return true
			}
		}
	}
	return false
}

// orderOf returns the order of the bytes of a format's numbers. Those of a big-endian one have 8 bytes.
func orderOf(f bloom.Format) binary.ByteOrder {
	if f == bloom.BitsAndBlooms {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// setProbes writes k into an encoded filter. It returns an error if the format does not take it.
func setProbes(f bloom.Format, filter *bloom.Filter, data []byte, k int) error {
	if !choosesProbes(f) {
		return errOwnProbes(f)
	}
	var number [8]byte
	orderOf(f).PutUint64(number[:], uint64(k))
	p := partOf(partsOf(f, filter, data), partProbes)
	copy(data[p.From:p.To], number[:])
	if opened, err := bloom.Open(f, data); err != nil || len(opened.Explain(nil).Positions) != k {
		return fmt.Errorf("filters of %v cannot have %d probes", f, k)
	}
	return nil
}

func errOwnProbes(f bloom.Format) error {
	return fmt.Errorf("filters of %v have their own number of probes, and no other can be chosen", f)
}
