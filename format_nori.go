package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// The formats of nori-sstable: a header, little-endian, and then an array of bits.
// The walk is double64 of XXH64 with the seeds 0 and 1.
//
//	Nori       documented: num_bits uint64, num_hashes uint32, bits_per_key uint32
//	NoriCrate  as its code writes it: num_hashes uint32, num_bits uint64
//
// The array of the documented one has n·bits_per_key bits. The code's has the next
// power of two, and had as many as the documented one in older files. A filter of
// no keys has no bits and holds nothing.
//
// [Reference] reads the same formats letter by letter.
const (
	headerNori      = 16
	headerNoriCrate = 12
)

// maxProbesCrate is the most probes that a filter of NoriCrate may ask for here. Its
// code has no limit, but 4,096 probes are those of 5,910 bits per key; a header
// with more is not a filter's.
const maxProbesCrate = placesOnce

// arrayNori returns the bit array in an encoded filter, how many bits it has, and
// the number of probes. In the format NoriCrate the header is that of the code, in
// Nori either: the length tells which.
func arrayNori(f Format, data []byte) (array []byte, bits uint64, k int, err error) {
	if f == Nori && len(data) >= headerNori {
		bits, k := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint32(data[8:])
		if array := data[headerNori:]; fits(bits, array) {
			return checkNori(f, array, bits, k, maxProbes)
		}
	}
	if len(data) >= headerNoriCrate {
		k, bits := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint64(data[4:])
		if array := data[headerNoriCrate:]; fits(bits, array) {
			return checkNori(NoriCrate, array, bits, k, maxProbesCrate)
		}
	}
	return nil, 0, 0, fmt.Errorf("%w: no header of %v says that there are %d bytes", ErrEncoding, f, len(data))
}

func checkNori(f Format, array []byte, bits uint64, k, most uint32) ([]byte, uint64, int, error) {
	if k < 1 || k > most {
		return nil, 0, 0, fmt.Errorf("%w: %d probes in a header of %v", ErrEncoding, k, f)
	}
	return array, bits, int(k), nil
}

// decodeNori returns the walk through an encoded filter.
func decodeNori(f Format, data []byte) (double64, error) {
	array, bits, k, err := arrayNori(f, data)
	if err != nil {
		return double64{}, err
	}
	return newDouble64(array, bits, k), nil
}

// fits reports whether the array has just the bytes for so many bits.
func fits(bits uint64, array []byte) bool {
	return bits/8+min(bits%8, 1) == uint64(len(array))
}

// probesNori returns k for a number of bits per key: ceil(0.693·bits), at least 1
// and, as documented, at most 30. Numbers below 1 count as 1: they would make a
// filter without bits, which would deny its keys.
func probesNori(f Format, bitsPerKey int) int {
	k := max(math.Ceil(0.693*float64(max(bitsPerKey, 1))), 1)
	if f == Nori {
		return int(min(k, maxProbes))
	}
	return int(min(k, maxProbesCrate))
}

// bitsNori returns the length of the bit array for n keys, and false if it does not
// fit memory together with a header.
func bitsNori(f Format, n, bitsPerKey int) (uint64, bool) {
	hi, size := bits.Mul64(uint64(n), uint64(max(bitsPerKey, 1)))
	if hi != 0 || size > 1<<62 {
		return 0, false
	}
	if f == NoriCrate && size > 1 {
		size = 1 << bits.Len64(size-1)
	}
	return size, size/8 < math.MaxInt-headerNori
}

// appendHeaderNori appends the header of a filter.
func appendHeaderNori(dst []byte, f Format, bits uint64, bitsPerKey int) []byte {
	k := uint32(probesNori(f, bitsPerKey))
	if f == NoriCrate {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(dst, k), bits)
	}
	dst = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(dst, bits), k)
	return binary.LittleEndian.AppendUint32(dst, uint32(min(uint64(max(bitsPerKey, 1)), math.MaxUint32)))
}

// The primes of XXH64 (xxHash specification 0.1.1).
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	prime5 = 0x27d4eb2f165667c5
)

// hash64 returns XXH64 of key with the seeds 0 and 1.
func hash64(key []byte) Hash {
	return hash64At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

func hash64String(key string) Hash {
	return hash64At(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// hash64At hashes the n bytes at p, which it reads once: what is done to them before
// they meet a seed is done for both. No pointer is made past their end, where
// another allocation may begin.
func hash64At(p unsafe.Pointer, n int) Hash {
	h1, h2 := uint64(prime5)+uint64(n), uint64(prime5+1)+uint64(n)
	i := 0
	if n >= 32 {
		i = n &^ 31
		h := stripes64(p, i)
		h1, h2 = h.h1+uint64(n), h.h2+uint64(n)
	}
	h := Hash{h1, h2}
	for i += 8; i <= n; i += 8 {
		h = h.mixLong(load64(p, i-8))
	}
	i -= 8
	if n&7 != 0 {
		if n&4 != 0 {
			h = h.mixWord(load32(p, i))
			i += 4
		}
		for ; i < n; i++ {
			h = h.mixByte(*(*byte)(unsafe.Add(p, i)))
		}
	}
	return h.finish()
}

// hash64Uint32 and hash64Uint64 return the hashes of a key's little-endian bytes.

func hash64Uint32(key uint32) Hash {
	h := Hash{prime5 + 4, prime5 + 1 + 4}
	return h.mixWord(key).finish()
}

func hash64Uint64(key uint64) Hash {
	h := Hash{prime5 + 8, prime5 + 1 + 8}
	return h.mixLong(key).finish()
}

func (h Hash) mixLong(x uint64) Hash {
	x = round64(x * prime2)
	return Hash{
		bits.RotateLeft64(h.h1^x, 27)*prime1 + prime4,
		bits.RotateLeft64(h.h2^x, 27)*prime1 + prime4,
	}
}

func (h Hash) mixWord(word uint32) Hash {
	x := uint64(word) * prime1
	return Hash{
		bits.RotateLeft64(h.h1^x, 23)*prime2 + prime3,
		bits.RotateLeft64(h.h2^x, 23)*prime2 + prime3,
	}
}

func (h Hash) mixByte(b byte) Hash {
	x := uint64(b) * prime5
	return Hash{
		bits.RotateLeft64(h.h1^x, 11) * prime1,
		bits.RotateLeft64(h.h2^x, 11) * prime1,
	}
}

func (h Hash) finish() Hash { return Hash{avalanche64(h.h1), avalanche64(h.h2)} }

func avalanche64(h uint64) uint64 {
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

// stripes64 hashes n bytes, a multiple of 32.
func stripes64(p unsafe.Pointer, n int) Hash {
	a, b := seededStripes(0), seededStripes(1)
	for i := 0; i < n; i += 32 {
		w, x := load64(p, i)*prime2, load64(p, i+8)*prime2
		y, z := load64(p, i+16)*prime2, load64(p, i+24)*prime2
		a = stripes{round64(a.w + w), round64(a.x + x), round64(a.y + y), round64(a.z + z)}
		b = stripes{round64(b.w + w), round64(b.x + x), round64(b.y + y), round64(b.z + z)}
	}
	return Hash{a.merge(), b.merge()}
}

// stripes are the accumulators of XXH64, one for each 8 bytes of 32.
type stripes struct{ w, x, y, z uint64 }

func seededStripes(seed uint64) stripes {
	return stripes{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}
}

func round64(x uint64) uint64 { return bits.RotateLeft64(x, 31) * prime1 }

func (s stripes) merge() uint64 {
	h := bits.RotateLeft64(s.w, 1) + bits.RotateLeft64(s.x, 7) + bits.RotateLeft64(s.y, 12) + bits.RotateLeft64(s.z, 18)
	for _, x := range [4]uint64{s.w, s.x, s.y, s.z} {
		h = (h^round64(x*prime2))*prime1 + prime4
	}
	return h
}

func load64(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}
