package bloom

import (
	"math"
	"math/bits"
	"unsafe"
)

// double32 is the walk of one 32-bit hash through an array of n bytes, 1 to 2^29: probe
// i tests bit (h + i·rotr(h, 17)) mod 8n, with sums mod 2^32. The reciprocal is
// ceil(2^64 / 8n).
//
// The hot paths pass it by value, in registers.
type double32 bitArray

// newDouble32 returns the walk of k probes through bits, which must not be empty. The walk
// has at most 2^32 bits: modulo 2^32 or any larger number, a 32-bit hash is itself.
func newDouble32(bits []byte, k int) double32 {
	n := min(uint64(len(bits)), 1<<29)
	return double32{base: unsafe.SliceData(bits), n: n, recip: math.MaxUint64/(8*n) + 1, k: k}
}

func arrayDouble32(data []byte, n uint64, k int) bitArray {
	return bitArray(newDouble32(data[:n/8], k))
}
func bytesDouble32(a bitArray) uint64 { return a.n }

// fitsDouble32 reports whether kernels take the array. They load aligned words, from the word in which the filter begins. The
// numbers of the bits from there must be below 2^32.
func fitsDouble32(a bitArray) bool {
	return a.n >= 2 && a.n+uint64(uintptr(unsafe.Pointer(a.base))%4) <= 1<<29
}

// index returns the number of the byte that holds bit h mod 8·d.n. The bit's place in
// that byte is h%8, because the number of bits is a multiple of 8.
//
// This is Lemire's remainder without division. With b = 8·d.n ≤ 2^32 bits and
// recip = (2^64 + e) / b, 0 ≤ e < b, the low word of h·recip is
// (h mod b)·2^64/b + h·e/b, and the high word of its product with b/8 is
// floor((h mod b)/8 + h·e/2^67). The second term is below 1/8 and (h mod b)/8 is a whole
// number of eighths, so the floor is that of the first, and less than d.n.
func (d double32) index(h uint32) uint64 {
	i, _ := bits.Mul64(uint64(h)*d.recip, d.n)
	return i
}

func (d double32) at(h uint32) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(d.base), d.index(h)))
}

// probe returns 0xff if bit h mod 8·d.n is set, and otherwise a byte with one clear bit.
// Callers can join several probes with & and branch once.
func (d double32) probe(h uint32) byte { return *d.at(h) | clearMask[h%8] }

// isSet reports whether bit h mod 8·d.n is set.
func (d double32) isSet(h uint32) bool { return uint32(*d.at(h))&(1<<(h%8)) != 0 }

// has reports whether the key whose hash is h may be in the filter.
//
// The first three probes share a branch. One absent key in eight passes it, while one in two
// would pass a branch after the first probe, and a mispredicted branch costs more than two
// probes. In a filter of pairBytes, which does not fit the nearer caches, a load costs as much
// as such a branch. There, two probes share one: an absent key takes 2.7 loads instead of 3.2.
func (d double32) has(h uint32) bool {
	delta := bits.RotateLeft32(h, -17)
	k := d.k
	if k >= 3 && d.n < pairBytes {
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

// add sets the bits of one hash, and reports whether one was missing.
func (d double32) add(h uint32) (isNew bool) {
	delta, missing := bits.RotateLeft32(h, -17), byte(0)
	k := d.k
	for ; k >= 2; k -= 2 {
		missing |= setInByte(d.at(h), h) | setInByte(d.at(h+delta), h+delta)
		h += 2 * delta
	}
	if k > 0 {
		missing |= setInByte(d.at(h), h)
	}
	return missing != 0
}

// probes is prober.probes for this walk.
func (d double32) probes(h uint32, first int, to []uint64) {
	delta := bits.RotateLeft32(h, -17)
	h += uint32(first) * delta
	for i := range to {
		to[i] = 8*d.index(h) + uint64(h%8)
		h += delta
	}
}

// place writes the numbers of the k bits of each hash to places, in any order.
func (d double32) place(kernel Kernel, hashes, places []uint32) {
	done := 0
	if len(hashes) >= singleKeys && kernel != Generic {
		recip, shift := d.vectorWalk()
		done, _ = placeDouble32(kernel, d.n, recip, shift, d.k, &hashes[0], len(hashes), &places[:len(hashes)*d.k][0])
	}
	d.placeGeneric(hashes[done:], places[done*d.k:])
}

// placeGeneric is place in portable Go.
func (d double32) placeGeneric(hashes, places []uint32) {
	for i, h := range hashes {
		delta := bits.RotateLeft32(h, -17)
		for j := range d.k {
			places[i*d.k+j] = uint32(8*d.index(h)) + h%8
			h += delta
		}
	}
}

// vectorWalk returns what kernels divide the bytes' numbers with. recip is ceil(2^(31+log)/n) and shift is
// log + 2, where log is the binary logarithm of n, rounded up.
func (d double32) vectorWalk() (recip, shift uint32) {
	log := bits.Len64(d.n - 1)
	// d.recip is 2^64/8n, rounded up. After the shift it must be rounded up again.
	return uint32((d.recip-1)>>(30-log) + 1), uint32(log + 2)
}

// probeBatch is probeHashes for this walk.
func (d double32) probeBatch(kernel Kernel, hashes []uint32, hits []uint64, wasDense bool) {
	f := &staged
	if wasDense {
		f = &dense
	}
	if len(hashes) < singleKeys || !d.probeForm(kernel, hashes, hits, f) {
		d.probeGeneric(hashes, hits, wasDense)
	}
}

// probeForm is probeGeneric in assembly, for at least one hash. It returns false, and does nothing, if Go
// must test the hashes.
func (d double32) probeForm(kernel Kernel, hashes []uint32, hits []uint64, f *form) bool {
	recip, shift := d.vectorWalk()
	below := f.denseBelow
	if d.n >= farBytes {
		below = f.denseBelowFar
	}
	if f.isOfLoads(kernel, d.n) {
		return probeDouble32Loads(kernel, d.base, d.n, recip, shift, d.k, &hashes[0], len(hashes), &hits[0], 0, below, f.densePer256)
	}
	return probeDouble32(kernel, d.base, d.n, recip, shift, d.k, &hashes[0], len(hashes), &hits[0], min(f.first, d.k), below, f.densePer256)
}

// probeGeneric is probeBatch in portable Go.
//
// It takes 64 hashes, a word of hits, at a time. After a word with many hits it tests one
// hash after the other; after any other word it tests in stages. Only speed depends on this
// choice.
func (d double32) probeGeneric(hashes []uint32, hits []uint64, dense bool) {
	for i := 0; len(hashes) > 0; i++ {
		n := min(64, len(hashes))
		if dense {
			hits[i] = d.probeEach(hashes[:n])
		} else {
			hits[i] = d.probeStaged(hashes[:n])
		}
		dense = schemeLevelDB.isDense(bits.OnesCount64(hits[i]), n)
		hashes = hashes[n:]
	}
}

// probeEach tests up to 64 hashes one after the other.
func (d double32) probeEach(hashes []uint32) (word uint64) {
next:
	for i, h := range hashes {
		delta := bits.RotateLeft32(h, -17)
		k := d.k
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
func (d double32) probeStaged(hashes []uint32) (word uint64) {
	second := min(1, d.k-1)
	for i, h := range hashes {
		word |= d.pair(h, 0, second) << (i % 64)
	}
	for first := 2; first < d.k; first += 2 {
		second = min(first+1, d.k-1)
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
func (d double32) pair(h uint32, i, j int) uint64 {
	delta := bits.RotateLeft32(h, -17)
	a, b := h+uint32(i)*delta, h+uint32(j)*delta
	return uint64(*d.at(a)>>(a%8)&(*d.at(b)>>(b%8))) & 1
}
