package bloomsst

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom"
)

// Ribbon is a Ribbon filter of RocksDB (NewRibbonFilterPolicy). Dillinger and Walzer describe such filters in
// "Ribbon filter: practically smaller than Bloom and Xor" (2021). RocksDB uses the standard form, with
// ribbons of 128 bits. A Ribbon filter needs about 30 % less space than a Bloom filter with the same rate. A
// Ribbon is safe for concurrent use.
//
// A Ribbon filter is the solution of a system of linear equations over bits, with one equation for each key
// and column. The hash of a key determines 128 coefficients (the ribbon), the slot where the ribbon begins,
// and one result for each column. To test a column, AND the coefficients with the column's 128 bits that
// begin at that slot. Then compare the parity of the AND with the key's result for the column. The key is a
// hit if the two are equal in every column, so each column halves the rate.
//
// The solution consists of blocks of 128 slots. A block has a segment of 16 bytes for each column, and bit i
// of a segment belongs to slot i. The first blocks may have one column fewer than the others, so that a
// filter can have any number of segments.
type Ribbon struct {
	data    []byte // the segments
	seed    uint64 // of the hash
	blocks  uint64 // of slots
	columns uint64 // of the last blocks
	fewer   uint64 // how many blocks in front have a column less
}

const (
	ribbonBits    = 128            // coefficients of a key, and slots of a block
	segmentSize   = ribbonBits / 8 // bytes
	mostColumns   = 32             // segments of a block that are used
	ribbonTrailer = 5              // bytes after the segments: the marker, the seed, and the number of blocks in three
	ribbonMarker  = 0xfe           // the first byte of the trailer
	leastBlocks   = 2              // that RocksDB reads
)

// isRibbon reports whether a filter of RocksDB has the marker of Ribbon filters.
func isRibbon(filter []byte) bool {
	return len(filter) > ribbonTrailer && filter[len(filter)-ribbonTrailer] == ribbonMarker
}

// openRibbon opens a filter that has the marker. The filter keeps the bytes.
func openRibbon(filter []byte) (*Ribbon, error) {
	end := len(filter) - ribbonTrailer
	trailer := filter[end:]
	r := &Ribbon{
		data:   filter[:end:end],
		seed:   ribbonSeed(trailer[1]),
		blocks: uint64(trailer[2]) | uint64(trailer[3])<<8 | uint64(trailer[4])<<16,
	}
	if r.blocks < leastBlocks {
		return nil, fmt.Errorf("%w: its number of blocks is %d", ErrRibbon, r.blocks)
	}
	segments := uint64(end / segmentSize)
	r.columns = (segments + r.blocks - 1) / r.blocks
	r.fewer = r.columns*r.blocks - segments
	if r.columns > mostColumns {
		r.columns, r.fewer = mostColumns, 0
	}
	return r, nil
}

// Bytes returns the bytes of the filter without the trailer. Do not modify them.
func (r *Ribbon) Bytes() []byte { return r.data }

// MayContain reports whether the filter may contain a key. False is certain.
func (r *Ribbon) MayContain(key []byte) bool {
	return r.mayContainHash(bloom.RocksDB.Hash(key).Words()[0])
}

// mayContainHash tests the filter for the hash of a key, which is the hash of the format RocksDB.
func (r *Ribbon) mayContainHash(hash uint64) bool {
	hash = (hash ^ r.seed) * 0x6193d459236a3a0d
	slot, _ := bits.Mul64(hash, r.starts())
	block, shift := slot/ribbonBits, uint(slot%ribbonBits)
	segment := block*r.columns - min(block, r.fewer)
	columns := r.columns
	if block < r.fewer {
		columns--
	}
	here, next, results := ribbonOf(hash, shift)
	for i := range columns {
		parity := here.parity(r.data, segment+i)
		if shift != 0 { // the last block has the first slot of a ribbon alone
			parity ^= next.parity(r.data, segment+columns+i)
		}
		if parity != results>>i&1 {
			return false
		}
	}
	return true
}

// starts returns the number of slots where a ribbon can begin.
func (r *Ribbon) starts() uint64 { return (r.blocks-1)*ribbonBits + 1 }

// coefficients are the coefficients of a key in a block.
type coefficients struct{ low, high uint64 }

// parity returns the parity of the coefficients with the bits of a segment.
func (c coefficients) parity(data []byte, segment uint64) uint32 {
	at := data[segment*segmentSize:][:segmentSize]
	both := c.low&binary.LittleEndian.Uint64(at) ^ c.high&binary.LittleEndian.Uint64(at[8:])
	return uint32(bits.OnesCount64(both) & 1)
}

// ribbonOf returns the coefficients of a hash in the block where its ribbon begins, at a shift, and in the next, and its results. The
// coefficient of the first slot is 1.
func ribbonOf(hash uint64, shift uint) (here, next coefficients, results uint32) {
	mixed := hash * 0xc28f82822b650bed
	low, high := mixed^0xc367844a6e52731d|1, mixed
	switch { // a shift by 64 and more gives 0
	case shift < 64:
		here = coefficients{low << shift, high<<shift | low>>(64-shift)}
		next = coefficients{high >> (64 - shift), 0}
	default:
		here = coefficients{0, low << (shift - 64)}
		next = coefficients{low>>(128-shift) | high<<(shift-64), high >> (128 - shift)}
	}
	return here, next, uint32(bits.ReverseBytes64(mixed))
}

// ribbonSeed returns what a filter's hashes are changed by: from one of 256 numbers, 32 bits.
func ribbonSeed(number byte) uint64 {
	const upperHalves = 0xf0f0f0f0f0f0f0f0
	seed := uint64(number) * 0xc78219a23eeadd03
	return uint64(uint32(seed ^ seed&upperHalves>>4))
}

// FalsePositiveRate returns the false-positive rate, between 0 and 1. The number of columns determines the
// rate.
func (r *Ribbon) FalsePositiveRate() float64 {
	fewer := float64(r.fewer*ribbonBits) / float64(r.starts())
	least := math.Ldexp(1, -int(r.columns))
	return min(1, fewer*2*least+(1-fewer)*least)
}

// MeasureRate tests a million random hashes and returns the fraction of hits.
func (r *Ribbon) MeasureRate() float64 {
	const hashes = 1 << 20
	passed := 0
	for i := range uint64(hashes) {
		if r.mayContainHash(scrambled(i)) {
			passed++
		}
	}
	return float64(passed) / hashes
}

// scrambled returns a random number for each i: SplitMix64's.
func scrambled(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
