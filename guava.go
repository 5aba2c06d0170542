package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/rates"
)

// double63 is the walk of two 64-bit hashes through an array of n bits, a multiple of 64: probe i tests bit
// (h1 + i·h2 mod 2^63) mod n. The bits are in big-endian words, as those of crossed64. The reciprocal is
// floor(2^72 / n), or 0 for up to 256 bits.
type double63 bitArray

// newDouble63 returns the walk of k probes through the first n bits of data, at least 64.
func newDouble63(data []byte, n uint64, k int) double63 {
	d := double63{base: unsafe.SliceData(data), n: n, k: k}
	if n > 256 {
		d.recip, _ = bits.Div64(1<<8, 0, n)
	}
	return d
}

func arrayDouble63(data []byte, n uint64, k int) bitArray { return bitArray(newDouble63(data, n, k)) }

// remainder returns the bit of a sum.
func (d *double63) remainder(sum uint64) uint64 {
	if d.recip == 0 {
		return sum & signless % d.n
	}
	return remainder64(sum&signless, d.n, d.recip)
}

// has reports whether the key of one hash may be in the filter. Its probes share branches as in double64.has.
func (d *double63) has(at, step uint64) bool {
	if d.recip == 0 || d.k < 3 {
		return d.hasSlow(at, step)
	}
	base, n, recip, k := unsafe.Pointer(d.base), d.n, d.recip, d.k-3
	x := remainder64(at&signless, n, recip)
	y := remainder64((at+step)&signless, n, recip)
	z := remainder64((at+2*step)&signless, n, recip)
	if crossedProbe(base, x)&crossedProbe(base, y)&crossedProbe(base, z) != 0xff {
		return false
	}
	at += 3 * step
	for ; k >= 2; k -= 2 {
		x := remainder64(at&signless, n, recip)
		y := remainder64((at+step)&signless, n, recip)
		if crossedProbe(base, x)&crossedProbe(base, y) != 0xff {
			return false
		}
		at += 2 * step
	}
	return k == 0 || crossedBit(base, remainder64(at&signless, n, recip))&1 != 0
}

// hasSlow is has for any array.
func (d *double63) hasSlow(at, step uint64) bool {
	for range d.k {
		if crossedBit(unsafe.Pointer(d.base), d.remainder(at))&1 == 0 {
			return false
		}
		at += step
	}
	return true
}

// add sets the bits of one hash, and reports whether one was missing.
func (d *double63) add(at, step uint64) (isNew bool) {
	missing := byte(0)
	for range d.k {
		bit := d.remainder(at) ^ 56
		missing |= setInByte((*byte)(unsafe.Add(unsafe.Pointer(d.base), bit/8)), uint32(bit))
		at += step
	}
	return missing != 0
}

// probes is prober.probes for this walk.
func (d *double63) probes(at, step uint64, first int, to []uint64) {
	at += uint64(first) * step
	for i := range to {
		to[i] = d.remainder(at) ^ 56
		at += step
	}
}

var fullDouble63 = fullWalk{56, signless, twoWords}

// placeDouble63 is prober.place for this walk.
func (s *prober) placeDouble63(h *hashes, places []uint32) {
	n, recip, k := s.n, s.recip, s.k // the compiler would read them again after each store
	done := s.placeFull(&fullDouble63, h, places)
	h1, h2, places := h.h1[done:], h.h2[done:], places[done*k:]
	h2 = h2[:len(h1)]
	for i, at := range h1 {
		step, of := h2[i], places[i*k:][:k]
		for j := range of {
			if recip == 0 {
				of[j] = uint32(at&signless%n) ^ 56
			} else {
				of[j] = uint32(remainder64(at&signless, n, recip)) ^ 56
			}
			at += step
		}
	}
}

// testDouble63 is prober.test for this walk.
func (s *prober) testDouble63(h *hashes, hits []uint64, dense bool) {
	if s.testFull(&fullDouble63, h, hits, dense) {
		return
	}
	clear(hits[:(len(h.h1)+63)/64])
	h2 := h.h2[:len(h.h1)]
	for i, first := range h.h1 {
		hits[i/64] |= oneIf((*double63)(&s.bitArray).has(first, h2[i])) << (i % 64)
	}
}

// murmur128Generic writes one digest of each row.
func (k *Keys) murmur128Generic(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = keyhash.Murmur3Uint64(key)
		}
	case fixedWidth:
		p := unsafe.Pointer(unsafe.SliceData(k.data))
		for i := range h1 {
			h1[i], h2[i] = keyhash.Murmur3(unsafe.Add(p, i*k.width), k.width)
		}
	case offsets32:
		murmur128Between(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		murmur128Between(h1, h2, k.data, elements[int64](k, len(h1)+1))
	}
}

func murmur128Between[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		key := data[offsets[i]:offsets[i+1]]
		h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}

// encodingGuava is what BloomFilter.writeTo of Java's com.google.common.hash writes:
//
//	strategy  int8, 1: MURMUR128_MITZ_64
//	k         uint8, the number of probes, at least 1
//	longs     int32, big-endian: the number of words, at least 1
//	words     int64, big-endian; bit b is bit b%64, least significant first, of word b/64
//
// So bit b of a filter is bit b ^ 56 of the bytes after the header. Bytes after the words are ignored: they are what
// follows the filter in a stream.
type encodingGuava struct{}

const (
	headerGuava     = 6
	strategyGuava   = 1
	maxProbesGuava  = math.MaxUint8
	mostPerKeyGuava = 368 // bits of a key, of a filter with so many probes
)

// shape has bitsPerKey bits for each key, at least 1, in whole words, and ln 2 · bitsPerKey probes, rounded, as
// create has for the rate that takes so many bits. A filter of no keys has room for one, as create has it.
func (encodingGuava) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = max(bitsPerKey, 1)
	if n == 0 {
		n, bitsPerKey = 1, min(bitsPerKey, mostPerKeyGuava)
	}
	hi, m := bits.Mul64(uint64(n), uint64(bitsPerKey))
	longs := m/64 + min(m%64, 1)
	if hi != 0 || longs > schemes[schemeGuava].most {
		return shape{}, false
	}
	k := min(max(math.Round(math.Ln2*float64(bitsPerKey)), 1), maxProbesGuava)
	return shape{64 * longs, int(k)}, true
}

func (e encodingGuava) frame(s shape, _ int) frame {
	f := frame{bytes: [24]byte{strategyGuava, byte(s.probes)}, before: headerGuava}
	e.reshape(f.bytes[:], s)
	return f
}

func (encodingGuava) reshape(encoded []byte, s shape) {
	binary.BigEndian.PutUint32(encoded[2:], uint32(s.bits/64))
}

// header returns the numbers of probes and of words, or no words if the bytes are not a filter.
func (encodingGuava) header(data []byte) (k int, longs uint64) {
	if len(data) < headerGuava || data[0] != strategyGuava || data[1] == 0 {
		return 0, 0
	}
	longs = uint64(binary.BigEndian.Uint32(data[2:]))
	if longs > math.MaxInt32 || longs > uint64(len(data)-headerGuava)/8 {
		return 0, 0
	}
	return int(data[1]), longs
}

func (e encodingGuava) parse(data []byte) ([]byte, shape, error) {
	k, longs := e.header(data)
	if longs == 0 {
		return nil, shape{}, e.refuse(data)
	}
	return data[headerGuava:][:8*longs], shape{64 * longs, k}, nil
}

// refuse returns the error for bytes that header refuses.
func (encodingGuava) refuse(data []byte) error {
	if len(data) < headerGuava {
		return fmt.Errorf("%w: %d bytes are shorter than the header of %v", ErrEncoding, len(data), Guava)
	}
	strategy, k, longs := int8(data[0]), data[1], int32(binary.BigEndian.Uint32(data[2:]))
	switch {
	case strategy == 0:
		return fmt.Errorf("%w: the filter is of Guava's strategy 0, MURMUR128_MITZ_32, which has other bits; %v is strategy 1, MURMUR128_MITZ_64", ErrEncoding, Guava)
	case strategy != strategyGuava:
		return fmt.Errorf("%w: the header of %v says strategy %d, which is unknown", ErrEncoding, Guava, strategy)
	case k == 0:
		return fmt.Errorf("%w: the header of %v says 0 probes", ErrEncoding, Guava)
	case longs <= 0:
		return fmt.Errorf("%w: the header of %v says %d words of bits", ErrEncoding, Guava, longs)
	}
	return fmt.Errorf("%w: the header of %v says %d words of bits, but only %d bytes follow", ErrEncoding, Guava, longs, len(data)-headerGuava)
}

func (e encodingGuava) decode(data []byte) (bitArray, error) {
	k, longs := e.header(data)
	if longs == 0 {
		return bitArray{}, e.refuse(data)
	}
	return bitArray(newDouble63(data[headerGuava:], 64*longs, k)), nil
}

func (e encodingGuava) size(n, bitsPerKey int) (m float64, k int) {
	s, _ := e.shape(0, bitsPerKey)
	return 64 * math.Ceil(float64(n)*float64(max(bitsPerKey, 1))/64), s.probes
}

func (encodingGuava) rate(n, m float64, k int) float64 {
	return rates.DoubleHashing(n, m, min(k, maxProbesGuava)) // no filter has more
}

func (encodingGuava) expectedSet(s shape, n float64) float64 {
	return rates.IndependentSet(n, float64(s.bits), s.probes)
}
