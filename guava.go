package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayDouble63(n uint64, k int) probes.Array { return probes.Array(probes.NewGuava(nil, n, k)) }

var fullDouble63 = fullWalk{56, probes.Signless, twoWords}

// placeDouble63 is prober.place for this walk.
func (s *prober) placeDouble63(h *hashes, places []uint32) {
	done := s.placeFull(&fullDouble63, h, places)
	(*probes.Guava)(&s.Array).Place(h.h1[done:], h.h2[done:], places[done*s.K:])
}

// testDouble63 is prober.test for this walk.
func (s *prober) testDouble63(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullDouble63, h, hits, dense) {
		(*probes.Guava)(&s.Array).Test(h.h1, h.h2, hits)
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
