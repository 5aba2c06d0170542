package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

// The functions of this file test and set bits in encoded filters where these lie, without a Filter or a Set.

// MayContain reports whether key may be in the encoded filter. It is equivalent to calling
// [Format.MayContainHash] with the hash of key.
//
//gcassert:inline
//gcassert:noescape
func (f Format) MayContain(filter, key []byte) bool {
	return f.mayContain(filter, unsafe.Pointer(unsafe.SliceData(key)), len(key), 0, 0) // inlined
}

// MayContain calls [Format.MayContain]. It exists for interfaces such as LevelDB's FilterPolicy. The result
// does not depend on the policy's number of bits per key.
//
//gcassert:inline
//gcassert:noescape
func (p Policy) MayContain(filter, key []byte) bool { return p.Format.MayContain(filter, key) }

// MayContainHash reports whether the key whose [Hash] is h may be in the encoded filter. Each call decodes the
// shape of the filter, which takes a few nanoseconds and allocates nothing. To query a filter often, call
// [Open] once instead. If Open would return an error for the bytes, MayContainHash returns true, because a
// result of false could hide a key that was added. In this case, the call may allocate. MayContainHash panics
// if h was not computed with the hash function of f.
//
// Do not call MayContainHash if there is no filter, because the result for an empty slice depends on the
// format. In [RocksDB], [LevelDB] and [Pebble], an empty slice is the filter of no keys, so the result is
// false. In the other formats, an empty slice is not a filter, so the result is true.
//
//gcassert:noescape
func (f Format) MayContainHash(filter []byte, h Hash) bool {
	if f != BitsAndBlooms || h.scheme() != schemeBitsAndBlooms || len(filter) < encoding.HeaderBitsAndBlooms {
		f.mustTakeHash(h)
		return f.mayContain(filter, nil, hashed, h.h1, h.h2)
	}
	// The rest is for bits-and-blooms. It is no function of its own, since the call would take a tenth of the time of a small
	// filter (Zen 5).
	m, k, length := binary.BigEndian.Uint64(filter), binary.BigEndian.Uint64(filter[8:]), binary.BigEndian.Uint64(filter[16:])
	words := uint64(len(filter)-encoding.HeaderBitsAndBlooms) / 8
	if m-1 >= length || k-3 > encoding.MaxProbesBitsAndBlooms-3 || (length-1)/64 >= words { // m, k or length is 0, too
		return mayContainBitsAndBlooms(filter, h)
	}
	base := unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), encoding.HeaderBitsAndBlooms)
	i, step, next := uint64(3), h.h3, h.h4
	if m < reciprocalBelow {
		// Small filters lie in a near cache, where the CPU runs ahead to the next ones. A division for each probe would hold
		// it up, and so would a branch that it predicts wrongly: five probes share one.
		recip := math.MaxUint64 / m
		x, y, z := smallRemainder(h.h1, m, recip), smallRemainder(h.h2+h.h4, m, recip), smallRemainder(h.h1+2*h.h4, m, recip)
		v, w := x, x
		if k >= 5 {
			v, w = smallRemainder(h.h2+3*h.h3, m, recip), smallRemainder(h.h1+4*h.h3, m, recip)
			i, step, next = 5, next, step
		}
		if probes.BigEndianProbe(base, x)&probes.BigEndianProbe(base, y)&probes.BigEndianProbe(base, z)&probes.BigEndianProbe(base, v)&probes.BigEndianProbe(base, w) != 0xff {
			return false
		}
	} else if probes.BigEndianBit(base, h.h1%m)&probes.BigEndianBit(base, (h.h2+h.h4)%m)&probes.BigEndianBit(base, (h.h1+2*h.h4)%m)&1 == 0 {
		return false // the CPU divides for these three at once, in less time than a reciprocal takes
	}
	for ; i < k; i += 2 {
		if probes.BigEndianBit(base, (h.h2+i*step)%m)&1 == 0 || i+1 < k && probes.BigEndianBit(base, (h.h1+(i+1)*step)%m)&1 == 0 {
			return false
		}
		step, next = next, step
	}
	return true
}

// smallRemainder returns h mod n by recip, which is floor((2^64 - 1) / n). The quotient is at most 1 too small.
func smallRemainder(h, n, recip uint64) uint64 {
	q, _ := bits.Mul64(h, recip)
	r := h - q*n
	if r >= n {
		r -= n
	}
	return r
}

// AddHash adds the key whose [Hash] is h to the encoded filter, and reports whether the key was certainly
// new. It modifies the filter in place and allocates nothing. To add many keys, use [OpenSet] instead.
//
// The error is [ErrFormat] if the format is unknown, and [ErrEncoding] if [OpenSet] would return ErrEncoding
// for the bytes. On error, the bytes do not change. AddHash panics if h was not computed with the hash
// function of f.
//
//gcassert:noescape
func (f Format) AddHash(filter []byte, h Hash) (isNew bool, err error) {
	if !f.valid() {
		return false, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	f.mustTakeHash(h)
	s := prober{scheme: formats[f].scheme, kernel: kernels[0]}
	if s.Array, err = f.decode(filter); err != nil {
		return false, err
	}
	if s.Base == unsafe.SliceData(allZeros) || s.Base == unsafe.SliceData(allOnes) || s.storesFewer() {
		return false, fmt.Errorf("%w: the filter of %d bytes has no bits for a new key", ErrEncoding, len(filter))
	}
	return s.addHash(h), nil
}

// mustTakeHash panics if f has another hash, or is no format.
func (f Format) mustTakeHash(h Hash) {
	f.mustBe()
	if !formats[f].scheme.made(h) {
		panicOtherHash(h, f.scheme())
	}
}

// hashed is the length that tells mayContain that there is a hash and no key.
const hashed = -1

// mayContain is Format.MayContain for the key of n bytes at p. If n is hashed, it is MayContainHash for a hash whose
// words are h1 and h2. It is one function for both, because passing a Hash from one call to the next would take a tenth
// to a quarter of the time of a test. A function for each format would take 5 to 22 % longer (both on a Zen 5).
func (f Format) mayContain(filter []byte, p unsafe.Pointer, n int, h1, h2 uint64) bool {
	// Usual filters are decoded here, since the calls of decode delay the test. For all others, decode tells what they are.
	//
	// The compiler stores an array word by word. A whole prober it would copy by vectors of
	// two words, and the load of a vector waits until both words are stored.
	size := len(filter) - encoding.Trailer
	switch f {
	case LevelDB:
		if last := len(filter) - 1; last > 0 && uint(filter[last]-1) < encoding.MaxProbes {
			if n != hashed {
				h1 = uint64(keyhash.LevelDB(p, n, keyhash.UnsignedBytes))
			}
			return probes.NewLevelDB(filter, uint64(last), int(filter[last])).Has(uint32(h1))
		}
	case Parquet:
		if encoding.WholeBlocks(len(filter)) {
			var s prober
			s.Base, s.N, s.K = &filter[0], uint64(len(filter)/32), encoding.ParquetProbes
			if uint(n) < keyhash.ShortXXH64 {
				if may, ok := probeShortSplit256(kernels[0], &s.Base, (*byte)(p), n); ok {
					return may
				}
			}
			if n != hashed {
				h1 = keyhash.XXH64(p, n)
			}
			s.setFastest(schemeParquet)
			return probeHash(&s.Base, h1, 0, 0, uint64(schemeParquet))
		}
	case RocksDB:
		if size <= 0 || size%64 != 0 || uint64(size) > 64*encoding.RocksDBMostLines {
			break
		}
		if k := encoding.RocksDBProbes(filter[size:]); k > 0 && k <= maxHasProbes {
			if uint(n) <= keyhash.ShortXXPH3 {
				h1 = keyhash.XXPH3Short(p, n)
			} else if n != hashed {
				h1 = xxph3At(p, n)
			}
			var s prober
			s.Base, s.N, s.K = &filter[0], uint64(size/64), k
			s.setFastest(schemeRocksDB)
			return probeHash(&s.Base, h1, 0, 0, uint64(schemeRocksDB))
		}
	case Pebble:
		if size <= 0 || size > encoding.PebbleMostBytes {
			break
		}
		k, lines := int(int8(filter[size])), binary.LittleEndian.Uint32(filter[size+1:])
		if uint64(lines)*64 != uint64(size) {
			break
		}
		if k < 1 {
			return true
		}
		if k > maxHasProbes {
			break
		}
		if n != hashed {
			h1 = uint64(keyhash.LevelDB(p, n, keyhash.SignedBytes))
		}
		// The remainder for one line costs less than the reciprocal, which is for many. What
		// is left is a filter of that line alone.
		var s prober
		s.Base, s.N, s.K = &filter[64*(uint32(h1)%lines)], 1, k
		s.setFastest(schemePebble)
		return probeHash(&s.Base, h1, 0, 0, uint64(schemePebble))
	case Nori, NoriCrate:
		if from, bits, k := encoding.NoriHeader(filter, f == NoriCrate); bits > 0 && k > 0 {
			if n != hashed {
				h1, h2 = keyhash.XXH64x2(p, n)
			}
			d := probes.NewNori(filter[from:], bits, k)
			return d.Has(h1, h2)
		}
	case BitsAndBlooms:
		if n != hashed {
			return f.MayContainHash(filter, fourWords(keyhash.Murmur3x2(p, n)))
		}
	case Guava:
		if k, longs := encoding.GuavaHeader(filter); longs > 0 {
			if n != hashed {
				h1, h2 = keyhash.Murmur3(p, n)
			}
			d := probes.Guava{Base: &filter[encoding.HeaderGuava], N: 64 * longs, K: k}
			return d.HasSlow(h1, h2) // divisions take less time than a reciprocal
		}
	}
	return f.mayContainUnusual(filter, p, n, h1, h2)
}

// mayContainUnusual is mayContain for any filter. It is a function of its own, so that mayContain keeps little on the stack.
//
//go:noinline
func (f Format) mayContainUnusual(filter []byte, p unsafe.Pointer, n int, h1, h2 uint64) bool {
	f.mustBe()
	a, err := f.decode(filter)
	if err != nil {
		return true
	}
	h := shortHash(h1, h2, f.scheme())
	if n != hashed {
		h = f.scheme().hashKey(p, n)
	}
	s := prober{Array: a, scheme: formats[f].scheme}
	return mayContainHash(&s.Base, h.h1, h.h2, h.h3, h.h4)
}
