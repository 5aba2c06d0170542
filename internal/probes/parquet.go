package probes

import (
	"encoding/binary"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/load"
)

// Parquet has the probes of one 64-bit hash through an array of n blocks of 256 bits, 1 to
// 2^31 - 1: Parquet's split block Bloom filter. The upper half of the hash chooses the
// block. In each of its eight words of 32 bits, little-endian, a product of the lower
// half chooses a bit. Bit b of the array is bit b%8 of byte b/8, as in the other formats.
type Parquet Array

// The factors for the words of a block (parquet-format, BloomFilter.md).
const (
	ParquetSalt0, ParquetSalt1, ParquetSalt2, ParquetSalt3 = 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d
	ParquetSalt4, ParquetSalt5, ParquetSalt6, ParquetSalt7 = 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
)

var ParquetSalts = [encoding.ParquetProbes]uint32{
	ParquetSalt0, ParquetSalt1, ParquetSalt2, ParquetSalt3, ParquetSalt4, ParquetSalt5, ParquetSalt6, ParquetSalt7,
}

// NewParquet returns the probes in n blocks, which begin where data does.
func NewParquet(data []byte, n uint64) Parquet {
	return Parquet{Base: unsafe.SliceData(data), N: n, K: encoding.ParquetProbes}
}

// Block returns the number of the block of a hash.
func (d *Parquet) Block(h uint64) uint64 {
	return (h >> 32) * d.N >> 32
}

// at returns the bytes of the block of a hash.
func (d *Parquet) at(h uint64) *[32]byte {
	return (*[32]byte)(unsafe.Add(unsafe.Pointer(d.Base), 32*d.Block(h)))
}

// Has reports whether the key of one hash may be in the filter. It reads every word, because
// all are in one block, and branches once.
func (d *Parquet) Has(h uint64) bool {
	block, low := unsafe.Pointer(d.at(h)), uint32(h)
	missing := missingPair(load.Uint64(block, 0), low*ParquetSalt0, low*ParquetSalt1)
	missing |= missingPair(load.Uint64(block, 8), low*ParquetSalt2, low*ParquetSalt3)
	missing |= missingPair(load.Uint64(block, 16), low*ParquetSalt4, low*ParquetSalt5)
	missing |= missingPair(load.Uint64(block, 24), low*ParquetSalt6, low*ParquetSalt7)
	return missing == 0
}

// missingPair returns the bits of two products, each in a half of the pair, that the pair lacks. That is in
// terms of instructions that set a bit: a shift by a variable takes three micro-operations on amd64.
func missingPair(pair uint64, first, second uint32) uint64 {
	return pair ^ (pair | 1<<(first>>27) | 1<<(second>>27|32))
}

// Add sets the bits of one hash, and reports whether one was missing.
func (d *Parquet) Add(h uint64) (isNew bool) {
	block, low := d.at(h), uint32(h)
	missing := setPair(block[0:], low*ParquetSalt0, low*ParquetSalt1)
	missing |= setPair(block[8:], low*ParquetSalt2, low*ParquetSalt3)
	missing |= setPair(block[16:], low*ParquetSalt4, low*ParquetSalt5)
	missing |= setPair(block[24:], low*ParquetSalt6, low*ParquetSalt7)
	return missing != 0
}

// setPair sets what missingPair returns, and returns it.
func setPair(words []byte, first, second uint32) (missing uint64) {
	pair := binary.LittleEndian.Uint64(words)
	missing = missingPair(pair, first, second)
	binary.LittleEndian.PutUint64(words, pair|missing)
	return missing
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (d *Parquet) Bits(h uint64, first int, to []uint64) {
	block, low := 256*d.Block(h), uint32(h)
	for i, salt := range ParquetSalts[first:][:len(to)] {
		to[i] = block + 32*uint64(first+i) + uint64(low*salt>>27)
	}
}

// Place writes the numbers of the bits of each hash to places. There must be at most 2^32
// bits.
func (d *Parquet) Place(hashes []uint64, places []uint32) {
	for _, h := range hashes {
		first, low := uint32(256*d.Block(h)), uint32(h)
		for i, salt := range ParquetSalts {
			places[i] = first + 32*uint32(i) + low*salt>>27
		}
		places = places[encoding.ParquetProbes:]
	}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
func (d *Parquet) Test(hashes, hits []uint64) {
	for i := range (len(hashes) + 63) / 64 {
		word, part := uint64(0), hashes[64*i:min(64*i+64, len(hashes))]
		for _, h := range part {
			word = word>>1 | OneIf(d.Has(h))<<63 // no branch: hits are not foreseen
		}
		hits[i] = word >> (64 - len(part))
	}
}

// TestParquet sets bit i if array i has the bits of a hash: they are the same in every array.
func TestParquet(arrays []Array, h uint64) (word uint64) {
	var bits [4]uint64
	for i, salt := range ParquetSalts {
		bits[i/2] |= 1 << (uint32(h)*salt>>27 + uint32(i%2)*32)
	}
	for i := range arrays {
		block := (*Parquet)(&arrays[i]).at(h)
		missing := bits[0] &^ binary.LittleEndian.Uint64(block[:])
		missing |= bits[1] &^ binary.LittleEndian.Uint64(block[8:])
		missing |= bits[2] &^ binary.LittleEndian.Uint64(block[16:])
		missing |= bits[3] &^ binary.LittleEndian.Uint64(block[24:])
		word |= isZero(missing) << (i % 64)
	}
	return word
}
