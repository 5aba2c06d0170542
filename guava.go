package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayGuava(n uint64, k int) probes.Array { return probes.Array(probes.NewGuava(nil, n, k)) }

var fullGuava = fullProbes{56, probes.Signless, fieldsOfTwo}

// placeGuava is prober.place for this scheme.
func (s *prober) placeGuava(h *hashes, places []uint32) {
	done := s.placeFull(&fullGuava, h, places)
	(*probes.Guava)(&s.Array).Place(h.h1[done:], h.h2[done:], places[done*s.K:])
}

// testGuava is prober.test for this scheme.
func (s *prober) testGuava(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullGuava, h, hits, dense) {
		(*probes.Guava)(&s.Array).Test(h.h1, h.h2, hits)
	}
}

// hashGuava writes the hash of each row.
func (k *Keys) hashGuava(h1, h2 []uint64) {
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
		hashGuavaBetween(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		hashGuavaBetween(h1, h2, k.data, elements[int64](k, len(h1)+1))
	}
}

func hashGuavaBetween[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		key := data[offsets[i]:offsets[i+1]]
		h1[i], h2[i] = keyhash.Murmur3(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
