package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayDouble64(n uint64, k int) probes.Array { return probes.Array(probes.NewNori(nil, n, k)) }

// oneDouble64 reports whether assembly tests one key: it needs the reciprocal.
func oneDouble64(a probes.Array) bool { return a.Recip != 0 }

// fractionBias is what assembly adds to the fraction of h/n, in units of 2^-64: all that it can be too small after the last
// probe. The sum is then less than 2^14 too large, which makes a difference from 2^50 bits on. asm/single.go has the proof.
const fractionBias = 2 + 2*encoding.MaxProbesCrate

var fullDouble64 = fullWalk{0, wholeSums, twoWords}

// placeDouble64 is prober.place for this walk.
func (s *prober) placeDouble64(h *hashes, places []uint32) {
	done := s.placeFull(&fullDouble64, h, places)
	(*probes.Nori)(&s.Array).Place(h.h1[done:], h.h2[done:], places[done*s.K:])
}

// testDouble64 is prober.test for this walk.
func (s *prober) testDouble64(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullDouble64, h, hits, dense) {
		(*probes.Nori)(&s.Array).Test(h.h1, h.h2, hits)
	}
}

func (k *Keys) hash64Generic(h1, h2 []uint64) {
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
		hash64Between(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		hash64Between(h1, h2, k.data, elements[int64](k, len(h1)+1))
	}
}

func hash64Between[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		key := data[offsets[i]:offsets[i+1]]
		h1[i], h2[i] = keyhash.XXH64x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
