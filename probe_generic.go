package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"
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
	if f == LevelDB {
		return referenceLevelDB(filter, key)
	}
	return referenceNori(f, filter, key)
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

// referenceNori is the check of nori-sstable's documentation, for the layout that
// the format and the length of the filter say. Bytes that are no filter may hold
// every key.
func referenceNori(f Format, filter, key []byte) bool {
	nBits, k, array, ok := referenceHeaderNori(f, filter)
	if !ok {
		return true
	}
	if nBits == 0 {
		return false
	}
	h1, h2 := referenceHash64(key)
	for i := range k {
		bit := (h1 + i*h2) % nBits
		if array[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

func referenceHeaderNori(f Format, filter []byte) (nBits, k uint64, array []byte, ok bool) {
	if f == Nori && len(filter) >= 16 {
		nBits, k = binary.LittleEndian.Uint64(filter), uint64(binary.LittleEndian.Uint32(filter[8:]))
		if array = filter[16:]; fits(nBits, array) {
			return nBits, k, array, k >= 1 && k <= 30
		}
	}
	if len(filter) >= 12 {
		k, nBits = uint64(binary.LittleEndian.Uint32(filter)), binary.LittleEndian.Uint64(filter[4:])
		if array = filter[12:]; fits(nBits, array) {
			return nBits, k, array, k >= 1 && k <= maxProbesCrate
		}
	}
	return 0, 0, nil, false
}

// referenceCreateNori is the construction of nori-sstable's documentation or, for
// NoriCrate, of its code.
func referenceCreateNori(f Format, keys [][]byte, bitsPerKey int) []byte {
	bitsPerKey = max(bitsPerKey, 1)
	nBits := uint64(len(keys)) * uint64(bitsPerKey)
	k := max(uint64(math.Ceil(0.693*float64(bitsPerKey))), 1)
	var filter []byte
	if f == Nori {
		k = min(k, 30)
		filter = binary.LittleEndian.AppendUint64(filter, nBits)
		filter = binary.LittleEndian.AppendUint32(filter, uint32(k))
		filter = binary.LittleEndian.AppendUint32(filter, uint32(bitsPerKey))
	} else {
		for nBits&(nBits-1) != 0 {
			nBits += nBits & -nBits // ends at the next power of two
		}
		filter = binary.LittleEndian.AppendUint32(filter, uint32(k))
		filter = binary.LittleEndian.AppendUint64(filter, nBits)
	}
	header := len(filter)
	filter = append(filter, make([]byte, (nBits+7)/8)...)
	for _, key := range keys {
		h1, h2 := referenceHash64(key)
		for i := range k {
			bit := (h1 + i*h2) % nBits
			filter[header+int(bit/8)] |= 1 << (bit % 8)
		}
	}
	return filter
}

// referenceHash64 is XXH64 with the seeds 0 and 1.
func referenceHash64(key []byte) (h1, h2 uint64) {
	digest := xxhash.NewWithSeed(1)
	_, _ = digest.Write(key) // never fails
	return xxhash.Sum64(key), digest.Sum64()
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

// test hashes the n bytes at p and walks the probes of the result: from the start h,
// if hashes have 32 bits. Hash and walk are one function, and a caller that has such
// a hash passes no bytes, because a second call would cost a sixth of the whole. For
// the same reason the choice of the walk is here: callers are inlined.
//
// The first three probes share a branch: one absent key in eight passes it
// where one in two would pass the first probe, and a mispredicted branch costs
// more than two probes. Keys that pass are mostly present, so each further
// probe has a branch of its own, which predicts well.
func (s *scheme) test(h uint32, p unsafe.Pointer, n int) bool {
	if s.isWide() {
		return s.wide.test(hash64At(p, n))
	}
	d := &s.double32
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

// remainder returns h mod d.bits.
func (d *double64) remainder(h uint64) uint64 {
	if d.recip == 0 {
		return h % d.bits
	}
	return remainder64(h, d.bits, d.recip)
}

// remainder64 returns h mod n, for recip = floor(2^72/n) and n of at least 512.
//
// The product h·recip / 2^72 is not above h/n, and below it by less than 2^64/2^72. So
// its floor is that of h/n or, one time in 512, one less, and what is left is below
// 2n. A product of 2^64/n would save the shift, but then the branch would be a coin
// toss.
func remainder64(h, n, recip uint64) uint64 {
	q, _ := bits.Mul64(h, recip)
	r := h - q>>8*n
	if r >= n {
		r -= n
	}
	return r
}

// reduceGeneric writes the remainders of hashes by the number of bits, which is at
// most 2^32.
func (d *double64) reduceGeneric(hashes []uint64, remainders []uint32) {
	n, recip := d.bits, d.recip
	if recip == 0 {
		for i, h := range hashes {
			remainders[i] = uint32(h % n)
		}
		return
	}
	for i, h := range hashes {
		remainders[i] = uint32(remainder64(h, n, recip))
	}
}

func (d *double64) at(bit uint64) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(d.base), bit/8))
}

// test tests one hash, the first three probes with one branch: see that of double32.
// What it reads of d is in variables, because the compiler would read it again for
// each probe.
func (d *double64) test(h Hash) bool {
	if d.recip == 0 {
		return d.testSmall(h)
	}
	base, n, recip := unsafe.Pointer(d.base), d.bits, d.recip
	at, k := h.h1, d.k
	if k >= 3 {
		x := remainder64(at, n, recip)
		y := remainder64(at+h.h2, n, recip)
		z := remainder64(at+2*h.h2, n, recip)
		if probe64(base, x)&probe64(base, y)&probe64(base, z) != 0xff {
			return false
		}
		at += 3 * h.h2
		k -= 3
	}
	for ; k >= 2; k -= 2 {
		x := remainder64(at, n, recip)
		y := remainder64(at+h.h2, n, recip)
		if !has64(base, x) || !has64(base, y) {
			return false
		}
		at += 2 * h.h2
	}
	return k == 0 || has64(base, remainder64(at, n, recip))
}

// testSmall is test for filters of which the remainders are no better without division.
func (d *double64) testSmall(h Hash) bool {
	at := h.h1
	for range d.k {
		if !has64(unsafe.Pointer(d.base), at%d.bits) {
			return false
		}
		at += h.h2
	}
	return true
}

// has64 reports whether the filter has the bit.
func has64(base unsafe.Pointer, bit uint64) bool {
	return uint32(*(*byte)(unsafe.Add(base, bit/8)))&(1<<(bit%8)) != 0
}

// probe64 returns 0xff if the filter has the bit, else a byte with a clear bit.
func probe64(base unsafe.Pointer, bit uint64) byte {
	return *(*byte)(unsafe.Add(base, bit/8)) | clearMask[bit%8]
}

// add sets the bits of one hash.
func (d *double64) add(h Hash) {
	at := h.h1
	for range d.k {
		bit := d.remainder(at)
		*d.at(bit) |= 1 << (bit % 8)
		at += h.h2
	}
}

// placeGeneric writes the numbers of the k bits of each hash to places. There must
// be at most 2^32 bits.
func (d *double64) placeGeneric(h1, h2 []uint64, places []uint32) {
	for i, at := range h1 {
		for j := range d.k {
			places[i*d.k+j] = uint32(d.remainder(at))
			at += h2[i]
		}
	}
}

// testGeneric is testBatch in portable Go.
func (d *double64) testGeneric(h1, h2 []uint64, hits []uint64) {
	clear(hits[:(len(h1)+63)/64])
	for i := range h1 {
		if d.test(Hash{h1[i], h2[i]}) {
			hits[i/64] |= 1 << (i % 64)
		}
	}
}
