package bloom

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/rates"
)

// double32 is the walk of one 32-bit hash through an array of n bytes, 1 to 2^29: probe
// i tests bit (h + i·rotr(h, 17)) mod 8n, with sums mod 2^32. The reciprocal is
// ceil(2^64 / 8n).
//
// The hot paths pass it by value, in registers.
type double32 bitArray

// newDouble32 returns the walk of k probes through the first n bytes of data, at least 1. The walk
// has at most 2^32 bits: modulo 2^32 or any larger number, a 32-bit hash is itself.
func newDouble32(data []byte, n uint64, k int) double32 {
	n = min(n, 1<<29)
	return double32{base: unsafe.SliceData(data), n: n, recip: math.MaxUint64/(8*n) + 1, k: k}
}

func arrayDouble32(n uint64, k int) bitArray {
	return bitArray(newDouble32(nil, n/8, k))
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
// probes.
func (d double32) has(h uint32) bool {
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

// placeDouble32 is prober.place for this walk.
func (s *prober) placeDouble32(h *hashes, places []uint32) {
	done := 0
	if len(h.h32) >= singleKeys {
		done, _ = placeDouble32(s, h, &places[:len(h.h32)*s.k][0])
	}
	double32(s.bitArray).placeGeneric(h.h32[done:], places[done*s.k:])
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

// divisor returns what kernels divide the bytes' numbers with: the reciprocal ceil(2^(31+log)/n), of 32 bits, and the shift
// log + 2, where log is the binary logarithm of n, rounded up.
func (d double32) divisor() [2]uint64 {
	log := bits.Len64(d.n - 1)
	// d.recip is 2^64/8n, rounded up. After the shift it must be rounded up again.
	return [2]uint64{(d.recip-1)>>(30-log) + 1, uint64(log + 2)}
}

// testDouble32 is prober.test for this walk. AVX-512 gathers words. Where that takes longer than AVX2's loads, AVX2 tests.
func (s *prober) testDouble32(h *hashes, hits []uint64, dense bool) {
	kernel := s.kernel
	if kernel == AVX512 && !gathers {
		kernel = AVX2
	}
	if len(h.h32) < singleKeys || !probeDouble32(kernel, s, h, &hits[0], dense || slowPDEP) {
		double32(s.bitArray).probeGeneric(h.h32, hits, dense)
	}
}

// probeGeneric is prober.test in portable Go.
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
		dense = 256*bits.OnesCount64(hits[i]) >= densePer256*n
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

// hash32Generic writes the hash of each row.
func (k *Keys) hash32Generic(hashes []uint32, signs uint32) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = keyhash.LevelDB(unsafe.Pointer(unsafe.SliceData(key)), len(key), signs)
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = keyhash.LevelDB(unsafe.Pointer(unsafe.StringData(key)), len(key), signs)
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = keyhash.LevelDBUint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = keyhash.LevelDBUint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = keyhash.LevelDB(unsafe.Pointer(&k.data[i*k.width]), k.width, signs)
		}
	case offsets32:
		hash32Between(hashes, k.data, elements[int32](k, n+1), signs)
	case offsets64:
		hash32Between(hashes, k.data, elements[int64](k, n+1), signs)
	}
}

func hash32Between[E int32 | int64](hashes []uint32, data []byte, offsets []E, signs uint32) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = keyhash.LevelDB(unsafe.Pointer(unsafe.SliceData(key)), len(key), signs)
	}
}

// wholeWords reports whether the layout says that every row is a multiple of 4 bytes long.
// Then hashRows takes LevelDB's hash, which is the same.
func (k *Keys) wholeWords() bool {
	return k.layout == uint32s || k.layout == uint64s || k.layout == fixedWidth && k.width%4 == 0
}

// rateLevelDB is that of random hashes. Keys that differ in the last byte of a whole word have hashes that
// differ in two bytes only, and a higher rate: docs/false-positives.md.
func rateLevelDB(n, m float64, k int) float64 { return rates.LevelDB(n, m, k, measureLevelDB) }

// measureLevelDB returns the share of random hashes that pass filters of n random hashes. The
// filters have some 2^17 hashes in all, because small ones differ.
func measureLevelDB(n, m, k, queries int) float64 {
	data := append(make([]byte, m/8, m/8+1), byte(k))
	v, _ := openView(LevelDB, data) // never fails
	random := rand.NewPCG(1, 2)     // the same at every call
	var hashes [windowKeys]uint32
	column := func(n int) Keys {
		for i := range hashes[:n] {
			hashes[i] = uint32(random.Uint64())
		}
		return LevelDB.Hashes32(hashes[:n])
	}
	var hits [windowKeys / 64]uint64
	filters := max(1<<17/n, 1)
	windows, yes := max(queries/filters/windowKeys, 1), 0
	for range filters {
		clear(data[:m/8])
		for i := 0; i < n; i += windowKeys {
			v.addColumn(column(min(windowKeys, n-i)))
		}
		for range windows {
			yes += v.MayContainBatch(column(windowKeys), hits[:])
		}
	}
	return float64(yes) / float64(filters*windows*windowKeys)
}
