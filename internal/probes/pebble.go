package probes

import (
	"math"
	"math/bits"
	"unsafe"
)

// Pebble has the probes of one 32-bit hash h through lines of 64, 128 or 256 bytes: the filters
// of Pebble, and of RocksDB before its format_version 5. h mod the number of lines chooses the
// line. Probe i tests bit (h + i·rotr(h, 17)) mod the bits of a line, with sums mod 2^32.
//
// The lower half of n is the number of lines, at least 1, and its upper half says how
// long they are: 64·2^(n>>32) bytes. So n is the number of lines alone if they have 64 bytes, as
// in every filter that this library builds. The reciprocal is ceil(2^64 / lines).
type Pebble Array

// NewPebble returns k probes in lines of 64<<log bytes, which begin where
// data does.
func NewPebble(data []byte, lines uint32, log, k int) Pebble {
	return Pebble{
		Base:  unsafe.SliceData(data),
		N:     uint64(lines) | uint64(log)<<32,
		Recip: math.MaxUint64/uint64(lines) + 1, // 0 for one line, which gives the remainder 0
		K:     k,
	}
}

// lines returns the number of lines.
func (d *Pebble) lines() uint64 { return d.N & math.MaxUint32 }

// Doublings returns how often the 64 bytes of a line are doubled.
func (d *Pebble) Doublings() int { return int(d.N >> 32) }

// Bytes returns the number of bytes of all lines.
func (d *Pebble) Bytes() uint64 { return 64 * d.lines() << d.Doublings() }

// Line returns the number of the line of a hash. It is Lemire's remainder, as in
// LevelDB.Index: the low word of h·recip is (h mod lines)·2^64/lines and less than
// 2^64/lines more.
func (d *Pebble) Line(h uint32) uint64 {
	i, _ := bits.Mul64(uint64(h)*d.Recip, d.lines())
	return i
}

// at returns the address of the line of a hash. A probe's sum, masked, is the number of a bit in
// the line.
func (d *Pebble) at(h uint32) (line unsafe.Pointer, mask uint32) {
	log := d.Doublings()
	return unsafe.Add(unsafe.Pointer(d.Base), 64*d.Line(h)<<log), 512<<log - 1
}

// Has reports whether the key of one hash may be in the filter. It joins three probes
// before it branches, as LevelDB.Has does.
func (d *Pebble) Has(h uint32) bool {
	line, mask := d.at(h)
	delta := bits.RotateLeft32(h, -17)
	has := func(h uint32) uint32 {
		bit := h & mask
		return uint32(*(*byte)(unsafe.Add(line, bit/8))) >> (bit % 8)
	}
	k := d.K
	for ; k >= 3; k -= 3 {
		if has(h)&has(h+delta)&has(h+2*delta)&1 == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		if has(h)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

// Add sets the bits of one hash, and reports whether one was missing.
func (d *Pebble) Add(h uint32) (isNew bool) {
	line, mask := d.at(h)
	delta, missing := bits.RotateLeft32(h, -17), byte(0)
	set := func(h uint32) byte { return setInByte((*byte)(unsafe.Add(line, h&mask/8)), h) }
	k := d.K
	for ; k >= 2; k -= 2 {
		missing |= set(h) | set(h+delta)
		h += 2 * delta
	}
	if k > 0 {
		missing |= set(h)
	}
	return missing != 0
}

// AddAll sets the bits of all hashes, in lines of 64 bytes.
func (d *Pebble) AddAll(hashes []uint32) {
	base, lines, recip, k := unsafe.Pointer(d.Base), d.lines(), d.Recip, d.K
	for _, h := range hashes {
		i, _ := bits.Mul64(uint64(h)*recip, lines) // as in Line
		line, delta := (*[64]byte)(unsafe.Add(base, 64*i)), bits.RotateLeft32(h, -17)
		for range k {
			setInLine(line, h%512)
			h += delta
		}
	}
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (d *Pebble) Bits(h uint32, first int, to []uint64) {
	log := d.Doublings()
	line, delta := 512*d.Line(h)<<log, bits.RotateLeft32(h, -17)
	h += uint32(first) * delta
	for i := range to {
		to[i] = line + uint64(h&(512<<log-1))
		h += delta
	}
}

// Place writes the numbers of the k bits of each hash to places. There must be at most 2^32
// bits.
func (d *Pebble) Place(hashes, places []uint32) {
	log := d.Doublings()
	for i, h := range hashes {
		first, delta := uint32(512*d.Line(h)<<log), bits.RotateLeft32(h, -17)
		for j := range d.K {
			places[i*d.K+j] = first + h&(512<<log-1)
			h += delta
		}
	}
}

// Divisor returns what kernels divide by the number of lines with, in lines of 64 bytes: a reciprocal and a shift. If 2^log is the
// largest power of two up to the number, the reciprocal is floor(2^(32+log)/lines), or 1 less for 2^log lines, and
// the shift is 32+log.
func (d *Pebble) Divisor() [2]uint64 {
	log := bits.Len64(d.N) - 1
	return [2]uint64{min(1<<(32+log)/d.N, math.MaxUint32), uint64(32 + log)}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
func (d *Pebble) Test(hashes []uint32, hits []uint64) {
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

// TestPebble sets bit i if array i has the bits of a hash. In lines of 64 bytes, they are the same in every array.
func TestPebble(arrays []Array, h uint32) (word uint64) {
	d := (*Pebble)(&arrays[0])
	if d.Doublings() > 0 {
		for i := range arrays {
			if (*Pebble)(&arrays[i]).Has(h) {
				word |= 1 << i
			}
		}
		return word
	}
	var line lineBits
	for i, probe := 0, h; i < d.K; i++ {
		line[probe/64%8] |= 1 << (probe % 64)
		probe += bits.RotateLeft32(h, -17)
	}
	for i := range arrays {
		at, _ := (*Pebble)(&arrays[i]).at(h)
		word |= line.in((*[64]byte)(at)) << (i % 64)
	}
	return word
}
