// Package encoding has the bytes of each format: how large a filter is, what stands before and after its bits, and what
// those bytes may say.
package encoding

import (
	"errors"
	"fmt"
	"math"
)

// Err is the error for bytes that are no filter of a format.
var Err = errors.New("bloom: malformed filter")

// Format is a format of package bloom, by the same number.
type Format uint8

// The formats, in the order of package bloom.
const (
	RocksDB Format = iota
	LevelDB
	Pebble
	Parquet
	Nori
	NoriCrate
	BitsAndBlooms
	Guava
)

// row describes a format. What takes a filter is a switch below, because the arguments of function values escape to the heap.
type row struct {
	text          string // what ParseFormat reads
	before, after int    // the bytes around the bits, as this library writes them

	leastPerKey, mostPerKey int // a smaller or larger number of bits per key counts as this one; 0 if there is no most

	probes func(bitsPerKey int) int
	bits   func(n, bitsPerKey float64) float64 // of a filter of n keys, which may be far too large for one
	most   uint64                              // bits that the keys may ask for: their number times the bits per key
}

var rows = [...]row{
	RocksDB: rocksDB, LevelDB: levelDB, Pebble: pebble, Parquet: parquet,
	Nori: nori, NoriCrate: noriCrate, BitsAndBlooms: bitsAndBlooms, Guava: guava,
}

// Put writes what a filter of a shape has before and after its bits, which are zeros.
func (f Format) Put(encoded []byte, s Shape, bitsPerKey int) {
	switch f {
	case RocksDB:
		putRocksDB(encoded, s)
	case LevelDB:
		encoded[len(encoded)-1] = byte(s.Probes)
	case Pebble:
		putPebble(encoded, s)
	case Nori:
		putNori(encoded, s, bitsPerKey)
	case NoriCrate:
		putNoriCrate(encoded, s)
	case BitsAndBlooms:
		putBitsAndBlooms(encoded, s)
	case Guava:
		putGuava(encoded, s)
	}
}

// Resize writes another number of bits to the header of a filter, if it has that.
func (f Format) Resize(encoded []byte, bits uint64) {
	switch f {
	case Nori, NoriCrate:
		resizeNori(encoded, bits)
	case BitsAndBlooms:
		resizeBitsAndBlooms(encoded, bits)
	case Guava:
		resizeGuava(encoded, bits)
	}
}

// Parse writes what an encoded filter says to e, which is zero before. It returns Err if the bytes are no filter. A result
// in place of e would take as long as all the rest: its words would be stored one by one, and loaded two at a time. A slice in
// e would escape to the heap.
func (f Format) Parse(data []byte, e *Filter) error {
	switch f {
	case RocksDB:
		return parseRocksDB(data, e)
	case LevelDB:
		parseLevelDB(data, e)
		return nil
	case Pebble:
		return parsePebble(data, e)
	case Parquet:
		return parseParquet(data, e)
	case Nori, NoriCrate:
		return parseNori(data, f, e)
	case BitsAndBlooms:
		return parseBitsAndBlooms(data, e)
	case Guava:
		return parseGuava(data, e)
	}
	panic("no such format")
}

// String returns the short name of the format, such as "leveldb".
func (f Format) String() string { return rows[f].text }

// Around returns how many bytes a filter that this library writes has before and after its bits.
func (f Format) Around() (before, after int) { return rows[f].before, rows[f].after }

// Shape is the geometry of a filter.
type Shape struct {
	Bits   uint64 // length of the array of bits, 0 if it holds nothing
	Probes int    // 0 if it answers yes to every key
}

// Filter is what an encoded filter says.
type Filter struct {
	From, To int // the bytes of the encoded filter that are its bits
	Shape
	All         bool // it answers yes to every key
	StoresFewer bool // it has fewer bits than its hashes reach: see BitsAndBlooms
	Doublings   int  // its lines have 64 bytes, doubled so often: see Pebble
}

// MostBytes is the largest number of bytes that the bits of a filter may take when it is built. With the
// bytes around the bits, it does not overflow an int.
const MostBytes = 1 << (10 * (3 + math.MaxUint>>63))

// MaxProbes is the largest number of probes that the formats of LevelDB and RocksDB allow. Larger bytes are reserved, and
// readers answer yes to them.
const MaxProbes = 30

// Size returns the numbers of bits and of probes of a filter of n keys, which may be far too large for a Shape.
func (f Format) Size(n, bitsPerKey int) (bits float64, probes int) {
	perKey := f.perKey(bitsPerKey)
	return rows[f].bits(float64(n), float64(perKey)), rows[f].probes(perKey)
}

// Shape returns the shape of a filter of n keys. Its bits may be 0 only if n is 0. It returns false if the bits take more
// than MostBytes, or more than the format allows.
func (f Format) Shape(n, bitsPerKey int) (Shape, bool) {
	bits, probes := f.Size(n, bitsPerKey)
	if float64(n)*float64(f.perKey(bitsPerKey)) > float64(rows[f].most) { // exact up to 2^53
		return Shape{}, false
	}
	return Shape{uint64(bits), probes}, true
}

func (f Format) perKey(bitsPerKey int) int {
	r := &rows[f]
	if r.mostPerKey > 0 {
		bitsPerKey = min(bitsPerKey, r.mostPerKey)
	}
	return max(bitsPerKey, r.leastPerKey)
}

// roundUp returns a number of bits, rounded up to units.
func roundUp(bits, unit float64) float64 { return unit * math.Ceil(bits/unit) }

// bytesOf returns the number of bytes that hold the given bits.
func bytesOf(bits uint64) uint64 { return bits/8 + min(bits%8, 1) }

// malformed returns an Err with details.
func malformed(format string, details ...any) error {
	return fmt.Errorf("%w: %s", Err, fmt.Sprintf(format, details...))
}
