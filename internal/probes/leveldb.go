package probes

import (
	"math"
	"math/bits"
	"unsafe"
)

// LevelDB has the probes of one 32-bit hash through an array of n bytes, 1 to 2^29: probe
// i tests bit (h + i·rotr(h, 17)) mod 8n, with sums mod 2^32. The reciprocal is
// ceil(2^64 / 8n).
//
// The hot paths pass it by value, in registers.
type LevelDB Array

// NewLevelDB returns k probes in the first n bytes of data, at least 1. There are
// at most 2^32 bits: modulo 2^32 or any larger number, a 32-bit hash is itself.
func NewLevelDB(data []byte, n uint64, k int) LevelDB {
	n = min(n, 1<<29)
	return LevelDB{Base: unsafe.SliceData(data), N: n, Recip: math.MaxUint64/(8*n) + 1, K: k}
}

// Index returns the number of the byte that holds bit h mod 8·d.N. The bit's place in
// that byte is h%8, because the number of bits is a multiple of 8.
//
// This is Lemire's remainder without division. With b = 8·d.N ≤ 2^32 bits and recip = (2^64 + e) / b for an e
// of 0 to b - 1, the low word of h·recip is (h mod b)·2^64/b + h·e/b, and the high word of its product with
// b/8 is floor((h mod b)/8 + h·e/2^67). The second term is below 1/8 and (h mod b)/8 is a whole number of
// eighths, so the floor is floor((h mod b)/8), and less than d.N.
func (d LevelDB) Index(h uint32) uint64 {
	i, _ := bits.Mul64(uint64(h)*d.Recip, d.N)
	return i
}

func (d LevelDB) at(h uint32) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(d.Base), d.Index(h)))
}

// probe returns 0xff if bit h mod 8·d.N is set, and otherwise a byte with one clear bit.
// Callers can join several probes with & and branch once.
func (d LevelDB) probe(h uint32) byte { return *d.at(h) | clearMask[h%8] }

// isSet reports whether bit h mod 8·d.N is set.
func (d LevelDB) isSet(h uint32) bool { return uint32(*d.at(h))&(1<<(h%8)) != 0 }

// Has reports whether the key whose hash is h may be in the filter.
//
// The first three probes share a branch. One absent key in eight passes it, while one in two
// would pass a branch after the first probe, and a mispredicted branch costs more than two
// probes.
func (d LevelDB) Has(h uint32) bool {
	delta := bits.RotateLeft32(h, -17)
	k := d.K
	if k >= 3 {
		if d.probe(h)&d.probe(h+delta)&d.probe(h+2*delta) != 0xff {
			return false
		}
		h += 3 * delta
		k -= 3
	}
	for ; k >= 2; k -= 2 {
		if d.probe(h)&d.probe(h+delta) != 0xff {
			return false
		}
		h += 2 * delta
	}
	return k == 0 || d.isSet(h)
}

// Add sets the bits of one hash, and reports whether one was missing.
func (d LevelDB) Add(h uint32) (isNew bool) {
	delta, missing := bits.RotateLeft32(h, -17), byte(0)
	k := d.K
	for ; k >= 2; k -= 2 {
		missing |= setInByte(d.at(h), h) | setInByte(d.at(h+delta), h+delta)
		h += 2 * delta
	}
	if k > 0 {
		missing |= setInByte(d.at(h), h)
	}
	return missing != 0
}

// Bits writes the numbers of the bits of one hash, from that of probe first on.
func (d LevelDB) Bits(h uint32, first int, to []uint64) {
	delta := bits.RotateLeft32(h, -17)
	h += uint32(first) * delta
	for i := range to {
		to[i] = 8*d.Index(h) + uint64(h%8)
		h += delta
	}
}

// Place writes the numbers of the k bits of each hash to places.
func (d LevelDB) Place(hashes, places []uint32) {
	for i, h := range hashes {
		delta := bits.RotateLeft32(h, -17)
		for j := range d.K {
			places[i*d.K+j] = uint32(8*d.Index(h)) + h%8
			h += delta
		}
	}
}

// Divisor returns what kernels divide the bytes' numbers with: the reciprocal ceil(2^(31+log)/n), of 32 bits, and the shift
// log + 2, where log is the binary logarithm of n, rounded up.
func (d LevelDB) Divisor() [2]uint64 {
	log := bits.Len64(d.N - 1)
	// d.Recip is 2^64/8n, rounded up. After the shift it must be rounded up again.
	return [2]uint64{(d.Recip-1)>>(30-log) + 1, uint64(log + 2)}
}

// Test sets bit i of hits if hash i may be in the filter, and clears the others of those words.
//
// It takes 64 hashes, a word of hits, at a time. After a word with many hits it tests one
// hash after the other; after any other word it tests in stages. Only speed depends on this
// choice.
func (d LevelDB) Test(hashes []uint32, hits []uint64, dense bool) {
	for i := 0; len(hashes) > 0; i++ {
		n := min(64, len(hashes))
		if dense {
			hits[i] = d.probeEach(hashes[:n])
		} else {
			hits[i] = d.probeStaged(hashes[:n])
		}
		dense = 256*bits.OnesCount64(hits[i]) >= DensePer256*n
		hashes = hashes[n:]
	}
}

// probeEach tests up to 64 hashes one after the other.
func (d LevelDB) probeEach(hashes []uint32) (word uint64) {
next:
	for i, h := range hashes {
		delta := bits.RotateLeft32(h, -17)
		k := d.K
		for ; k >= 3; k -= 3 {
			if d.probe(h)&d.probe(h+delta)&d.probe(h+2*delta) != 0xff {
				continue next
			}
			h += 3 * delta
		}
		for ; k > 0; k-- {
			if !d.isSet(h) {
				continue next
			}
			h += delta
		}
		word |= 1 << (i % 64)
	}
	return word
}

// probeStaged tests up to 64 hashes in stages. A stage makes two probes of every hash that
// passed the stages before. No branch depends on the outcome of one probe, and the loads of
// a stage do not wait for each other. If k is odd, the last stage makes its probe twice.
func (d LevelDB) probeStaged(hashes []uint32) (word uint64) {
	second := min(1, d.K-1)
	for i, h := range hashes {
		word |= d.pair(h, 0, second) << (i % 64)
	}
	for first := 2; first < d.K; first += 2 {
		second = min(first+1, d.K-1)
		for rest := word; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			word ^= (d.pair(hashes[i], first, second) ^ 1) << i
		}
	}
	return word
}

// pair returns 1 if the filter has the bits of probes i and j of hash h, and otherwise 0. It
// is not inlined, because the loops around it would run out of registers.
//
//go:noinline
func (d LevelDB) pair(h uint32, i, j int) uint64 {
	delta := bits.RotateLeft32(h, -17)
	a, b := h+uint32(i)*delta, h+uint32(j)*delta
	return uint64(*d.at(a)>>(a%8)&(*d.at(b)>>(b%8))) & 1
}
