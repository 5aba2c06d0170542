package bloom

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// bytesOf returns how many bytes an array takes that has at least so many bits.
func (w scheme) bytesOf(bits uint64) int {
	word := schemes[w].word
	return int((bits/word + min(bits%word, 1)) * (word / 8))
}

// swap returns what the number of a bit is XORed with to find it in the bytes: not 0 if words of 64 bits are big-endian.
func (w scheme) swap() uint64 {
	if schemes[w].word == 64 {
		return 56
	}
	return 0
}

// mostBytes is the largest number of bytes that the bits of a filter may take when it is
// built. No sum of such sizes overflows an int.
const mostBytes = 1 << (10 * (3 + math.MaxUint>>63))

// bitArray is the bits that a walk goes through, with what it derives from their number.
// It has four words because the compiler keeps that many in registers.
type bitArray struct {
	base  *byte  // bit i is bit i%8, least significant first, of byte i/8
	n     uint64 // size, in the unit of the walk
	recip uint64 // a reciprocal of n, if the walk has one
	k     int    // probes, at least 1
}

// The masks of probeFull: all bits of a sum, and all but its sign.
const (
	wholeSums = 1<<64 - 1
	signless  = 1<<63 - 1
)

// probeFull tests hashes, at least one, in assembly, if there is one: probe i tests bit (h + i·d & mask) mod n, in
// which h is of h1 if i is even, and else of h2, and d is of d1 if i mod 4 is 0 or 3, and else of d2. mask has the
// lower 32 bits. Bit i of the array is bit i^swap of the bytes. If dense is set, it makes all probes of each hash at once. It returns false, and
// does nothing, if there is none.
func (b *bitArray) probeFull(kernel Kernel, swap uint32, mask uint64, dense bool, h1, h2, d1, d2, hits []uint64) bool {
	first := min(firstFullProbes, b.k)
	if dense {
		first = b.k
	}
	n, inverse, few, inverse32 := b.full()
	return probeFull64(kernel, b.base, n, inverse, few, inverse32, swap, mask, b.k, first, &h1[0], &h2[0], &d1[0], &d2[0], len(h1), &hits[0], slowGather())
}

// placeFull writes the numbers of the bits of the first hashes, which the probes of probeFull set, to places, and
// returns how many hashes.
func (b *bitArray) placeFull(kernel Kernel, swap uint32, mask uint64, h1, h2, d1, d2 []uint64, places []uint32) (done int) {
	if len(h1) < singleKeys {
		return 0
	}
	n, inverse, few, inverse32 := b.full()
	done, _ = placeFull64(kernel, n, inverse, few, inverse32, swap, mask, b.k, &h1[0], &h2[0], &d1[0], &d2[0], len(h1), &places[:len(h1)*b.k][0])
	return done
}

// full returns what kernels compute remainders by, of an array of up to maxKernelBits bits: a multiple of their number,
// and an inverse, a float64. If there are few, it also returns their number and its inverse, a float32.
func (b *bitArray) full() (n uint32, inverse uint64, few, inverse32 uint32) {
	multiple := b.n
	if b.n < minReduceBitsFull {
		few, inverse32 = uint32(b.n), math.Float32bits(1/float32(b.n))-2
		multiple <<= bits.LeadingZeros64(b.n) - bits.LeadingZeros64(minReduceBitsFull)
	}
	return uint32(multiple), math.Float64bits(1/float64(multiple)) - 4, few, inverse32
}

// part is the arrays of some filters of a group, 1 to 64 that are alike: testPart may
// take them together. Their hits are in one word.
type part struct {
	first  int // the number of the first filter
	arrays []bitArray
	blocks []octet // the same arrays for assembly, if there is any
}

// octet is the fields of 8 arrays, side by side for vectors. Past the last array of a part, the
// last array is there again.
type octet struct {
	bases                 [blockArrays]*byte
	units, recips, shifts [blockArrays]uint64 // what these are depends on the walk
}

const blockArrays = 8

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

// oneIf returns 1 if yes is set, and otherwise 0. The compiler makes no branch of it.
func oneIf(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// isZero returns 1 if x is 0, and otherwise 0, without a branch.
func isZero(x uint64) uint64 { return (x|-x)>>63 ^ 1 }

// maxProbes is the largest k that LevelDB's format and RocksDB's allow. Larger bytes are reserved, and readers
// answer yes to them.
const maxProbes = 30

// A filter that answers without testing its bits is decoded as one probe of one of these. They
// are as long as a line of the formats that have lines.
var (
	nothing    = make([]byte, 64)
	everything = bytes.Repeat([]byte{0xff}, 64)
)
