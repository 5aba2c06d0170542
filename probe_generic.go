package bloom

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// This file defines what a filter answers, and answers it in portable Go.
//
// The reference comes first: the formats read letter by letter, one key at a
// time, with a division a probe. It is compiled into every build, because all
// else is tested against it. The Generic kernel follows: the same bits, faster.

// Reference answers whether key may be in the encoded filter by the letter of
// the format, with none of this library's shortcuts: it is the definition that
// every kernel is tested against, and the loop that ports of LevelDB run. It
// is exported for comparisons; [Policy.MayContain] gives the same answers.
func Reference(f Format, filter, key []byte) bool {
	_ = formats[f]
	return referenceLevelDB(filter, key)
}

// referenceLevelDB is BloomFilterPolicy::KeyMayMatch.
func referenceLevelDB(filter, key []byte) bool {
	if len(filter) < 2 {
		return false
	}
	last := len(filter) - 1
	k := filter[last]
	if k > 30 {
		return true // reserved for encodings yet to come
	}
	nBits := uint64(last) * 8
	h := referenceHash32(key)
	delta := h>>17 | h<<15
	for range k {
		bit := h
		if nBits < 1<<32 { // else the remainder of a 32-bit h is h
			bit = h % uint32(nBits)
		}
		if filter[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// referenceCreateLevelDB is BloomFilterPolicy::CreateFilter.
func referenceCreateLevelDB(keys [][]byte, bitsPerKey int) []byte {
	bitsPerKey = max(bitsPerKey, 0)
	k := min(max(int(float64(bitsPerKey)*0.69), 1), 30)
	nBytes := (max(64, len(keys)*bitsPerKey) + 7) / 8
	nBits := uint64(nBytes) * 8
	filter := make([]byte, nBytes, nBytes+1)
	for _, key := range keys {
		h := referenceHash32(key)
		delta := h>>17 | h<<15
		for range k {
			bit := uint64(h) % nBits
			filter[bit/8] |= 1 << (bit % 8)
			h += delta
		}
	}
	return append(filter, byte(k))
}

// referenceHash32 is LevelDB's Hash with the seed of its Bloom filter.
func referenceHash32(key []byte) uint32 {
	const seed, m = 0xbc9f1d34, 0xc6a4a793
	h := seed ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= m
		h ^= h >> 16
	}
	switch len(key) {
	case 3:
		h += uint32(key[2]) << 16
		fallthrough
	case 2:
		h += uint32(key[1]) << 8
		fallthrough
	case 1:
		h += uint32(key[0])
		h *= m
		h ^= h >> 24
	}
	return h
}

// index returns the number of the byte that holds bit h mod 8·d.size. The bit's
// place in that byte is h%8, since the number of bits is a multiple of 8.
//
// This is Lemire's remainder without division. With n = 8·size ≤ 2^32 bits and
// recip = (2^64 + e) / n, 0 ≤ e < n, the low word of h·recip is
// (h mod n)·2^64/n + h·e/n, and the high word of its product with n/8 is
// floor((h mod n)/8 + h·e/2^67). The second term is below 1/8 and (h mod n)/8
// is a whole number of eighths, so the floor is that of the first: below size.
func (d double32) index(h uint32) uint64 {
	i, _ := bits.Mul64(uint64(h)*d.recip, uint64(d.size))
	return i
}

func (d double32) at(h uint32) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(d.base), d.index(h)))
}

// clearMask has every bit set but bit i.
var clearMask = [8]byte{0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f}

// probe returns 0xff if the filter has bit h, else a byte with a clear bit, so
// that probes can be joined with & ahead of one branch.
func (d double32) probe(h uint32) byte { return *d.at(h) | clearMask[h%8] }

// has reports whether the filter has bit h.
func (d double32) has(h uint32) bool { return uint32(*d.at(h))&(1<<(h%8)) != 0 }

// test hashes the n bytes at p on top of h and walks the probes of the result.
// Hash and walk are one function, and a caller that has the hash passes no
// bytes, because a second call would cost a sixth of the whole.
//
// The first three probes share a branch: one absent key in eight passes it
// where one in two would pass the first probe, and a mispredicted branch costs
// more than two probes. Keys that pass are mostly present, so each further
// probe has a branch of its own, which predicts well.
func (d *double32) test(h uint32, p unsafe.Pointer, n int) bool {
	h = hash32Pairs(h, p, n)
	if n%8 != 0 {
		h = hash32Tail(h, p, n)
	}
	delta := bits.RotateLeft32(h, -17)
	k := d.k
	if k >= 3 {
		if d.probe(h)&d.probe(h+delta)&d.probe(h+2*delta) != 0xff {
			return false
		}
		h += 3 * delta
		k -= 3
	}
	for ; k >= 2; k -= 2 {
		if !d.has(h) || !d.has(h+delta) {
			return false
		}
		h += 2 * delta
	}
	return k == 0 || d.has(h)
}

// add sets the bits of one hash.
func (d double32) add(h uint32) {
	delta := bits.RotateLeft32(h, -17)
	for range d.k {
		*d.at(h) |= 1 << (h % 8)
		h += delta
	}
}

// placeGeneric writes the numbers of the k bits of each hash to places.
func (d double32) placeGeneric(hashes, places []uint32) {
	for i, h := range hashes {
		delta := bits.RotateLeft32(h, -17)
		for j := range d.k {
			places[i*d.k+j] = uint32(8*d.index(h)) + h%8
			h += delta
		}
	}
}

// testGeneric is testBatch in portable Go.
//
// Words that follow a word of hits are tested hash by hash, others in stages.
// That is a choice for speed alone.
func (d double32) testGeneric(hashes []uint32, hits []uint64, dense bool) {
	for i := 0; len(hashes) > 0; i++ {
		n := min(64, len(hashes))
		if dense {
			hits[i] = d.testEach(hashes[:n])
		} else {
			hits[i] = d.testStaged(hashes[:n])
		}
		dense = isDense(bits.OnesCount64(hits[i]), n)
		hashes = hashes[n:]
	}
}

// testEach tests up to 64 hashes one after the other.
func (d double32) testEach(hashes []uint32) (word uint64) {
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
			if !d.has(h) {
				continue next
			}
			h += delta
		}
		word |= 1 << (i % 64)
	}
	return word
}

// testStaged tests up to 64 hashes two probes at a time, each pair of probes
// for all the hashes that passed the pairs before. No branch depends on a
// probe, and the loads of a stage do not wait for each other. A last stage of
// one probe makes that probe twice.
func (d double32) testStaged(hashes []uint32) (word uint64) {
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

// pair returns 1 if the filter has the bits of probes i and j of hash h, else
// 0. It is a call because the loops around it, with it inside, run out of
// registers.
//
//go:noinline
func (d double32) pair(h uint32, i, j int) uint64 {
	delta := bits.RotateLeft32(h, -17)
	a, b := h+uint32(i)*delta, h+uint32(j)*delta
	return uint64(*d.at(a)>>(a%8)&(*d.at(b)>>(b%8))) & 1
}
