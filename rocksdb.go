package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayRocksDB(n uint64, k int) probes.Array {
	return probes.Array(probes.NewRocksDB(nil, n/512, k))
}

func bytesRocksDB(a probes.Array) uint64 { return 64 * a.N }

// addOneRocksDB sets the bits of one hash, and reports whether one was missing.
func (s *prober) addOneRocksDB(h uint64) (isNew bool) {
	if s.K <= maxHasProbes {
		if isNew, ok := addOneLine512(s.kernel, &s.Base, h); ok {
			return isNew
		}
	}
	return (*probes.RocksDB)(&s.Array).Add(h)
}

// addRocksDB is prober.setLines for this scheme.
func (s *prober) addRocksDB(h *hashes) {
	if len(h.h1) < minSetHashes || !setLine512(s, h, line512Factors.Of(s.K, 0)) {
		(*probes.RocksDB)(&s.Array).AddAll(h.h1)
		return
	}
	for done := 8; done < s.K; done += 8 {
		setLine512(s, h, line512Factors.Of(s.K, done))
	}
}

var line512Factors = probes.NewFactors(1, func(x uint32) uint32 { return x * probes.RocksDBMul })

// testRocksDB is prober.test for this scheme.
func (s *prober) testRocksDB(h *hashes, hits []uint64) {
	if !probeLine512(s, h, &hits[0], line512Factors.Of(s.K, 0)) {
		(*probes.RocksDB)(&s.Array).Test(h.h1, hits)
		return
	}
	for done := 8; done < s.K; done += 8 {
		var more [windowKeys / 64]uint64
		probeLine512(s, h, &more[0], line512Factors.Of(s.K, done))
		for i := range (len(h.h1) + 63) / 64 {
			hits[i] &= more[i]
		}
	}
}

// testPartRocksDB is scheme.testPart for RocksDB. The bits of a key in its line are the same in every
// array.
func testPartRocksDB(kernel Kernel, p *groupPart, hash Hash) (word uint64) {
	h := hash.h1
	d := (*probes.RocksDB)(&p.arrays[0])
	if p.blocks != nil {
		touched := uint64(0)
		if n := len(p.arrays); n <= touchFilters && uint64(n)*d.N >= farBytes/memory.CacheLine {
			touched = probes.TouchRocksDB(p.arrays, h)
		}
		if word, ok := groupLine512(kernel, &p.blocks[0].bases[0], len(p.arrays), h, line512Factors.Of(d.K, 0)); ok {
			word |= touched >> 32 // no bit
			for done := 8; done < d.K && word != 0; done += 8 {
				later, _ := groupLine512(kernel, &p.blocks[0].bases[0], len(p.arrays), h, line512Factors.Of(d.K, done))
				word &= later
			}
			return word
		}
	}
	return probes.TestRocksDB(p.arrays, h)
}

// hashRocksDB writes the hash of each row.
func (k *Keys) hashRocksDB(hashes []uint64) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = xxph3At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = xxph3At(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = keyhash.XXPH3Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = keyhash.XXPH3Uint64(key)
		}
	case fixedWidth:
		if k.width == 16 { // UUIDs: a call for each would take as long as its hash
			for i := range hashes {
				hashes[i] = keyhash.XXPH3Of16(unsafe.Pointer(&k.data[16*i]))
			}
			return
		}
		for i := range hashes {
			hashes[i] = xxph3At(unsafe.Pointer(&k.data[i*k.width]), k.width)
		}
	case offsets32:
		hashRocksDBBetween(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		hashRocksDBBetween(hashes, k.data, elements[int64](k, n+1))
	}
}

func hashRocksDBBetween[E int32 | int64](hashes []uint64, data []byte, offsets []E) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = xxph3At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
