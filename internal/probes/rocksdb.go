package probes

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/load"
)

// RocksDB has the probes of one 64-bit hash through an array of n lines of 512 bits, 1 to
// 2^26: RocksDB's FastLocalBloom. The lower half of the hash chooses the line. The upper half
// chooses a bit in it by its highest 9 bits, and for each further probe it is multiplied
// by RocksDBMul.
type RocksDB Array

// RocksDBMul is 2^32 divided by the golden ratio, rounded to an odd number.
const RocksDBMul = 0x9e3779b9

// NewRocksDB returns k probes in n lines, which begin where data does.
func NewRocksDB(data []byte, n uint64, k int) RocksDB {
	return RocksDB{Base: unsafe.SliceData(data), N: n, K: k}
}

// Line returns the number of the line of a hash.
func (d *RocksDB) Line(h uint64) uint64 { return uint64(uint32(h)) * d.N >> 32 }

// at returns the bytes of the line of a hash.
func (d *RocksDB) at(h uint64) *[64]byte {
	return (*[64]byte)(unsafe.Add(unsafe.Pointer(d.Base), 64*d.Line(h)))
}

// Has reports whether the key of one hash may be in the filter. All probes are in one line, so
// it joins them and makes no branch that depends on the key: to predict that badly costs more than
// the probes. With more than 8 probes, it returns after four if one of them finds a clear bit.
func (d *RocksDB) Has(h uint64) bool {
	line, x := d.at(h), uint32(h>>32)
	const mul2 = RocksDBMul * RocksDBMul & 0xffffffff
	missing, exit := uint32(0), d.K > 8
	k := d.K
	for ; k >= 4; k -= 4 {
		const mul3 = mul2 * RocksDBMul & 0xffffffff
		const mul4 = mul3 * RocksDBMul & 0xffffffff
		missing |= missingBit(line, x) | missingBit(line, x*RocksDBMul) | missingBit(line, x*mul2) | missingBit(line, x*mul3)
		if exit && missing != 0 {
			return false
		}
		x *= mul4
	}
	if k >= 2 {
		missing |= missingBit(line, x) | missingBit(line, x*RocksDBMul)
		x *= mul2
	}
	if k%2 != 0 {
		missing |= missingBit(line, x)
	}
	return missing == 0
}

// missingBit returns 0 if the line has the bit of a probe, its highest 9 bits. amd64 sets a bit of a
// word by one instruction, while a shift by a variable takes three micro-operations: with shifts,
// present keys took longer than the plain loop.
func missingBit(line *[64]byte, probe uint32) uint32 {
	word := load.Uint32(unsafe.Pointer(line), 4*int(probe>>28))
	return word ^ (word | 1<<(probe>>23%32))
}

// Add sets the bits of one hash, and reports whether one was missing.
func (d *RocksDB) Add(h uint64) (isNew bool) {
	line, x, missing := d.at(h), uint32(h>>32), byte(0)
	k := d.K
	for ; k >= 2; k -= 2 {
		y := x * RocksDBMul
		missing |= setInByte(&line[x>>26], x>>23) | setInByte(&line[y>>26], y>>23)
		x = y * RocksDBMul
	}
	if k > 0 {
		missing |= setInByte(&line[x>>26], x>>23)
	}
	return missing != 0
}

// AddAll sets the bits of all hashes.
func (d *RocksDB) AddAll(hashes []uint64) {
	base, n, k := unsafe.Pointer(d.Base), d.N, d.K
	for _, h := range hashes {
		line, x := (*[64]byte)(unsafe.Add(base, 64*(uint64(uint32(h))*n>>32))), uint32(h>>32) // as in Line
		for range k {
			setInLine(line, x>>23)
			x *= RocksDBMul
		}
	}
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (d *RocksDB) Bits(h uint64, first int, to []uint64) {
	line, x := 512*d.Line(h), uint32(h>>32)
	for range first {
		x *= RocksDBMul
	}
	for i := range to {
		to[i] = line + uint64(x>>23)
		x *= RocksDBMul
	}
}

// Place writes the numbers of the k bits of each hash to places. There must be at most 2^32
// bits.
func (d *RocksDB) Place(hashes []uint64, places []uint32) {
	for i, h := range hashes {
		first, x := uint32(512*d.Line(h)), uint32(h>>32)
		for j := range d.K {
			places[i*d.K+j] = first + x>>23
			x *= RocksDBMul
		}
	}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
func (d *RocksDB) Test(hashes, hits []uint64) {
	for i := range (len(hashes) + 63) / 64 {
		word := uint64(0)
		for j, h := range hashes[64*i : min(64*i+64, len(hashes))] {
			if d.Has(h) {
				word |= bits.RotateLeft64(1, j)
			}
		}
		hits[i] = word
	}
}

// TestRocksDB sets bit i if array i has the bits of a hash: they are the same in every array.
func TestRocksDB(arrays []Array, h uint64) (word uint64) {
	var bits lineBits
	x := uint32(h >> 32)
	for range arrays[0].K {
		bits[x>>29] |= 1 << (x >> 23 % 64)
		x *= RocksDBMul
	}
	for i := range arrays {
		word |= bits.in((*RocksDB)(&arrays[i]).at(h)) << (i % 64)
	}
	return word
}

// TouchRocksDB loads a byte of the line of a hash in every array, and returns their sum. No load waits for another. Without it,
// the kernel waits for the lines of 8 arrays before it loads those of the next 8.
func TouchRocksDB(arrays []Array, h uint64) (sum uint64) {
	for i := range arrays {
		sum += uint64((*RocksDB)(&arrays[i]).at(h)[0])
	}
	return sum
}

// lineBits is the bits of a key in a line of 512 bits.
type lineBits [8]uint64

// in returns 1 if the line has all bits, and otherwise 0.
func (b *lineBits) in(line *[64]byte) uint64 {
	missing := b[0] &^ binary.LittleEndian.Uint64(line[0:])
	missing |= b[1] &^ binary.LittleEndian.Uint64(line[8:])
	missing |= b[2] &^ binary.LittleEndian.Uint64(line[16:])
	missing |= b[3] &^ binary.LittleEndian.Uint64(line[24:])
	missing |= b[4] &^ binary.LittleEndian.Uint64(line[32:])
	missing |= b[5] &^ binary.LittleEndian.Uint64(line[40:])
	missing |= b[6] &^ binary.LittleEndian.Uint64(line[48:])
	missing |= b[7] &^ binary.LittleEndian.Uint64(line[56:])
	return isZero(missing)
}
