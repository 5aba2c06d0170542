package answers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// bitsOf returns the number of bits of a filter that is made for a number of keys, or the largest uint64 if the filter would be too large.
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

// layout describes the encoded filters of a format.
type layout struct {
	order   binary.ByteOrder
	headers [][]field // the fields, in order: of each header that the format reads
}

// layouts has the formats whose filters have a header or a trailer. The probes of other formats cannot be chosen.
var layouts = map[bloom.Format]layout{
	bloom.BitsAndBlooms: {binary.BigEndian, [][]field{{{partCount, 8}, {partProbes, 8}, {"stored bits", 8}, bitsField}}},
	bloom.Guava:         {binary.BigEndian, [][]field{{{"strategy", 1}, {partProbes, 1}, {"number of words", 4}, bitsField}}},
	bloom.LevelDB:       {binary.LittleEndian, [][]field{{bitsField, {partProbes, 1}}}},
	bloom.Nori:          {binary.LittleEndian, [][]field{{{partCount, 8}, {partProbes, 4}, {"bits per key", 4}, bitsField}, crateFields}},
	bloom.NoriCrate:     {binary.LittleEndian, [][]field{crateFields}},
	bloom.Pebble:        {binary.LittleEndian, [][]field{{bitsField, {partProbes, 1}, {"number of lines", 4}}}},
	bloom.RocksDB:       {binary.LittleEndian, [][]field{{bitsField, {"marker", 1}, {"implementation", 1}, {partProbes, 1}, {"reserved", 2}}}},
}

var crateFields = []field{{partProbes, 4}, {partCount, 8}, bitsField}

// put writes a number of at most 8 bytes.
func (l layout) put(data []byte, n uint64) {
	const size = 8
	var number [size]byte
	l.order.PutUint64(number[:], n)
	if l.order == binary.BigEndian {
		copy(data, number[size-len(data):])
	} else {
		copy(data, number[:])
	}
}

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
	for _, fields := range layouts[f].headers {
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

// lay returns where the fields lie in a filter whose array has this number of bytes.
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

// choosesProbes reports whether filters of a format contain their number of probes.
func choosesProbes(f bloom.Format) bool {
	for _, fields := range layouts[f].headers {
		for _, field := range fields {
			if field.name == partProbes {
				return true
			}
		}
	}
	return false
}

// setProbes writes k into an encoded filter. It returns an error if the format does not accept it.
func setProbes(f bloom.Format, filter *bloom.Filter, data []byte, k int) error {
	if !choosesProbes(f) {
		return errOwnProbes(f)
	}
	p := partOf(partsOf(f, filter, data), partProbes)
	layouts[f].put(data[p.From:p.To], uint64(k))
	if opened, err := bloom.Open(f, data); err != nil || len(opened.Explain(nil).Positions) != k {
		return fmt.Errorf("filters of %v cannot have %d probes", f, k)
	}
	return nil
}

func errOwnProbes(f bloom.Format) error {
	return fmt.Errorf("the number of probes of %v filters cannot be chosen", f)
}
