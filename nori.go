package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayNori(n uint64, k int) probes.Array { return probes.Array(probes.NewNori(nil, n, k)) }

// oneNori reports whether assembly tests one key: it needs the reciprocal.
func oneNori(a probes.Array) bool { return a.Recip != 0 }

var fullNori = fullProbes{0, wholeSums, fieldsOfTwo}

// placeNori is prober.place for this scheme.
func (s *prober) placeNori(h *hashes, places []uint32) {
	done := s.placeFull(&fullNori, h, places)
	(*probes.Nori)(&s.Array).Place(h.h1[done:], h.h2[done:], places[done*s.K:])
}

// testNori is prober.test for this scheme.
func (s *prober) testNori(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullNori, h, hits, dense) {
		(*probes.Nori)(&s.Array).Test(h.h1, h.h2, hits)
	}
}

// hashNori writes the hash of each row.
func (k *Keys) hashNori(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = keyhash.XXH64x2Uint64(key)
		}
	case fixedWidth:
		for i := range h1 {
			h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(&k.data[i*k.width]), k.width)
		}
	case offsets32:
		hashNoriBetween(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		hashNoriBetween(h1, h2, k.data, elements[int64](k, len(h1)+1))
	}
}

func hashNoriBetween[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		key := data[offsets[i]:offsets[i+1]]
		h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
