package bloom

import (
	"encoding/binary"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
)

// split256 is the walk of one 64-bit hash through an array of n blocks of 256 bits, 1 to
// 2^31 - 1: Parquet's split block Bloom filter. The upper half of the hash chooses the
// block. In each of its eight words of 32 bits, little-endian, a product of the lower
// half chooses a bit. Bit b of the array is bit b%8 of byte b/8, as in the other walks.
type split256 bitArray

// The factors for the words of a block (parquet-format, BloomFilter.md).
const (
	splitSalt0, splitSalt1, splitSalt2, splitSalt3 = 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d
	splitSalt4, splitSalt5, splitSalt6, splitSalt7 = 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
)

var splitSalts = [encoding.ParquetProbes]uint32{
	splitSalt0, splitSalt1, splitSalt2, splitSalt3, splitSalt4, splitSalt5, splitSalt6, splitSalt7,
}

// newSplit256 returns the walk through n blocks, which begin where data does.
func newSplit256(data []byte, n uint64) split256 {
	return split256{base: unsafe.SliceData(data), n: n, k: encoding.ParquetProbes}
}

func arraySplit256(n uint64, _ int) bitArray { return bitArray(newSplit256(nil, n/256)) }
func bytesSplit256(a bitArray) uint64        { return 32 * a.n }
func fitsSplit256(a bitArray) bool           { return a.n < maxKernelBlocks }

// block returns the number of the block of a hash.
func (d *split256) block(h uint64) uint64 {
	return (h >> 32) * d.n >> 32
}

// at returns the bytes of the block of a hash.
func (d *split256) at(h uint64) *[32]byte {
	return (*[32]byte)(unsafe.Add(unsafe.Pointer(d.base), 32*d.block(h)))
}

// has reports whether the key of one hash may be in the filter. It reads every word, because
// all are in one block, and branches once.
func (d *split256) has(h uint64) bool {
	block, low := unsafe.Pointer(d.at(h)), uint32(h)
	missing := missingPair(load.Uint64(block, 0), low*splitSalt0, low*splitSalt1)
	missing |= missingPair(load.Uint64(block, 8), low*splitSalt2, low*splitSalt3)
	missing |= missingPair(load.Uint64(block, 16), low*splitSalt4, low*splitSalt5)
	missing |= missingPair(load.Uint64(block, 24), low*splitSalt6, low*splitSalt7)
	return missing == 0
}

// addOne sets the bits of one hash, and reports whether one was missing.
func (d *split256) addOne(kernel Kernel, h uint64) (isNew bool) {
	if isNew, ok := addOneSplit256(kernel, &d.base, h); ok {
		return isNew
	}
	return d.add(h)
}

// missingPair returns the bits of two products, each in a half of the pair, that the pair lacks. That is in
// terms of instructions that set a bit: a shift by a variable takes three micro-operations on amd64.
func missingPair(pair uint64, first, second uint32) uint64 {
	return pair ^ (pair | 1<<(first>>27) | 1<<(second>>27|32))
}

// add is addOne in portable Go.
func (d *split256) add(h uint64) (isNew bool) {
	block, low := d.at(h), uint32(h)
	missing := setPair(block[0:], low*splitSalt0, low*splitSalt1)
	missing |= setPair(block[8:], low*splitSalt2, low*splitSalt3)
	missing |= setPair(block[16:], low*splitSalt4, low*splitSalt5)
	missing |= setPair(block[24:], low*splitSalt6, low*splitSalt7)
	return missing != 0
}

// addSplit256 is prober.setLines for this walk.
func (s *prober) addSplit256(h *hashes) {
	if len(h.h1) >= minSetHashes && setSplit256(s, h) {
		return
	}
	for _, h := range h.h1 {
		(*split256)(&s.bitArray).add(h)
	}
}

// setPair sets what missingPair returns, and returns it.
func setPair(words []byte, first, second uint32) (missing uint64) {
	pair := binary.LittleEndian.Uint64(words)
	missing = missingPair(pair, first, second)
	binary.LittleEndian.PutUint64(words, pair|missing)
	return missing
}

// probes is prober.probes for this walk.
func (d *split256) probes(h uint64, first int, to []uint64) {
	block, low := 256*d.block(h), uint32(h)
	for i, salt := range splitSalts[first:][:len(to)] {
		to[i] = block + 32*uint64(first+i) + uint64(low*salt>>27)
	}
}

// place writes the numbers of the bits of each hash to places. There must be at most 2^32
// bits.
func (d *split256) place(hashes []uint64, places []uint32) {
	for _, h := range hashes {
		first, low := uint32(256*d.block(h)), uint32(h)
		for i, salt := range splitSalts {
			places[i] = first + 32*uint32(i) + low*salt>>27
		}
		places = places[encoding.ParquetProbes:]
	}
}

// testSplit256 is prober.test for this walk.
func (s *prober) testSplit256(h *hashes, hits []uint64) {
	if len(h.h1) < singleKeys || !probeSplit256(s, h, &hits[0]) {
		(*split256)(&s.bitArray).probeGeneric(h.h1, hits)
	}
}

// probeGeneric is prober.test in portable Go.
func (d *split256) probeGeneric(hashes, hits []uint64) {
	for i := range (len(hashes) + 63) / 64 {
		word, part := uint64(0), hashes[64*i:min(64*i+64, len(hashes))]
		for _, h := range part {
			word = word>>1 | oneIf(d.has(h))<<63 // no branch: hits are not foreseen
		}
		hits[i] = word >> (64 - len(part))
	}
}

// probePartSplit256 is partTest for this walk. The bits of a key in its block are the same in
// every array.
func probePartSplit256(kernel Kernel, p *part, hash Hash) (word uint64) {
	h := hash.h1
	if p.blocks != nil {
		if word, ok := groupSplit256(kernel, &p.blocks[0].bases[0], len(p.arrays), h); ok {
			return word
		}
	}
	return partSplit256(p.arrays, h)
}

// partSplit256 sets bit i if array i has the bits of a hash: they are the same in every array.
func partSplit256(arrays []bitArray, h uint64) (word uint64) {
	var bits [4]uint64
	for i, salt := range splitSalts {
		bits[i/2] |= 1 << (uint32(h)*salt>>27 + uint32(i%2)*32)
	}
	for i := range arrays {
		block := (*split256)(&arrays[i]).at(h)
		missing := bits[0] &^ binary.LittleEndian.Uint64(block[:])
		missing |= bits[1] &^ binary.LittleEndian.Uint64(block[8:])
		missing |= bits[2] &^ binary.LittleEndian.Uint64(block[16:])
		missing |= bits[3] &^ binary.LittleEndian.Uint64(block[24:])
		word |= isZero(missing) << (i % 64)
	}
	return word
}

// xxh64Generic writes the hash of each row.
func (k *Keys) xxh64Generic(hashes []uint64) {
	n, before := len(hashes), 0
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			if p, n := unsafe.Pointer(unsafe.SliceData(key)), len(key); keyhash.IsMixed(n, before) {
				hashes[i] = keyhash.XXH64Mixed(p, n)
			} else {
				hashes[i] = keyhash.XXH64(p, n)
			}
			before = len(key)
		}
	case strs:
		for i, key := range elements[string](k, n) {
			if p, n := unsafe.Pointer(unsafe.StringData(key)), len(key); keyhash.IsMixed(n, before) {
				hashes[i] = keyhash.XXH64Mixed(p, n)
			} else {
				hashes[i] = keyhash.XXH64(p, n)
			}
			before = len(key)
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = keyhash.XXH64Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = keyhash.XXH64Uint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = xxhash.Sum64(k.data[i*k.width : (i+1)*k.width])
		}
	case offsets32:
		xxh64Between(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		xxh64Between(hashes, k.data, elements[int64](k, n+1))
	}
}

func xxh64Between[E int32 | int64](hashes []uint64, data []byte, offsets []E) {
	before := 0
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		if keyhash.IsMixed(len(key), before) {
			hashes[i] = keyhash.XXH64Mixed(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		} else {
			hashes[i] = xxhash.Sum64(key)
		}
		before = len(key)
	}
}
