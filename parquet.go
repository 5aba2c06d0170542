package bloom

import (
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayParquet(n uint64, _ int) probes.Array { return probes.Array(probes.NewParquet(nil, n/256)) }
func bytesParquet(a probes.Array) uint64        { return 32 * a.N }
func fitsParquet(a probes.Array) bool           { return a.N < maxLinesBytes/32 }

// addOneParquet sets the bits of one hash, and reports whether one was missing.
func (s *prober) addOneParquet(h uint64) (isNew bool) {
	if isNew, ok := addOneSplit256(s.kernel, &s.Base, h); ok {
		return isNew
	}
	return (*probes.Parquet)(&s.Array).Add(h)
}

// addParquet is prober.setLines for this scheme.
func (s *prober) addParquet(h *hashes) {
	if len(h.h1) >= minSetHashes && setSplit256(s, h) {
		return
	}
	for _, h := range h.h1 {
		(*probes.Parquet)(&s.Array).Add(h)
	}
}

// testParquet is prober.test for this scheme.
func (s *prober) testParquet(h *hashes, hits []uint64) {
	if !probeSplit256(s, h, &hits[0]) {
		(*probes.Parquet)(&s.Array).Test(h.h1, hits)
	}
}

// testPartParquet is scheme.testPart for Parquet. The bits of a key in its block are the same in
// every array.
func testPartParquet(kernel Kernel, p *groupPart, hash Hash) (word uint64) {
	h := hash.h1
	if p.blocks != nil {
		if word, ok := groupSplit256(kernel, &p.blocks[0].bases[0], len(p.arrays), h); ok {
			return word
		}
	}
	return probes.TestParquet(p.arrays, h)
}

// hashParquet writes the hash of each row.
func (k *Keys) hashParquet(hashes []uint64) {
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
		hashParquetBetween(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		hashParquetBetween(hashes, k.data, elements[int64](k, n+1))
	}
}

func hashParquetBetween[E int32 | int64](hashes []uint64, data []byte, offsets []E) {
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
