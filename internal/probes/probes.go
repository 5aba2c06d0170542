// Package probes has the bits of a hash in each format, and tests and sets them in portable Go.
//
// Each format has a type: an Array, and what it makes of a hash. Has reports whether the key of a hash may be in the filter. Add
// sets its bits, and reports whether one was missing. Bits writes the numbers of some of its bits, from the given probe on. Test
// sets bit i of hits if hash i may be in the filter, and writes a word for every 64 hashes. Place writes the numbers of the bits of
// many hashes, all of each in a row; there must be at most 2^32 bits.
//
// Assembly names a format by the shape of its bits: Double32 is LevelDB, Full64 is Nori, Guava and BitsAndBlooms, Split256 is
// Parquet, Line512 is RocksDB and Line32 is Pebble.
package probes

import "encoding/binary"

// Alike reports whether TestRocksDB and TestPebble may take two arrays together.
func (a *Array) Alike(b *Array) bool { return a.K == b.K && a.N>>32 == b.N>>32 }

// Array is the bits of a filter, with what it derives from their number.
// It has four words because the compiler keeps that many in registers.
type Array struct {
	Base  *byte  // bit i is bit i%8, least significant first, of byte i/8
	N     uint64 // size, in the unit of the format
	Recip uint64 // a reciprocal of N, if the format has one
	K     int    // probes, at least 1
}

// setInLine sets the bit of a line, 0 to 511. The compiler has an instruction for words of 64 bits.
func setInLine(line *[64]byte, bit uint32) {
	word := line[bit/8&56:]
	binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|1<<(bit%64))
}

// setInByte sets bit number bit%8 of a byte, and returns 0 if it was set.
func setInByte(p *byte, bit uint32) (missing byte) {
	before := *p
	*p = before | 1<<(bit%8)
	return *p ^ before
}

// clearMask has every bit set but bit i.
var clearMask = [8]byte{0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f}

// OneIf returns 1 if yes is set, and otherwise 0. The compiler makes no branch of it.
func OneIf(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// isZero returns 1 if x is 0, and otherwise 0, without a branch.
func isZero(x uint64) uint64 { return (x|-x)>>63 ^ 1 }

// Window is the most hashes that a Test takes.
const Window = 1024

// DensePer256 is how many hashes of 256 may pass before a test makes all probes of each at once.
const DensePer256 = 192
