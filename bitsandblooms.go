package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayBitsAndBlooms(n uint64, k int) probes.Array {
	return probes.Array(probes.NewBitsAndBlooms(nil, n, k))
}
func bytesBitsAndBlooms(a probes.Array) uint64 {
	return ((*probes.BitsAndBlooms)(&a).Stored() + 63) / 64 * 8
}
func fitsBitsAndBlooms(a probes.Array) bool { return a.Recip != probes.FewerStored && fitsFull(a) }

// storesFewer reports whether an array stores fewer bits than its probes reach.
func (s *prober) storesFewer() bool {
	return s.scheme == schemeBitsAndBlooms && s.Recip == probes.FewerStored
}

var fullBitsAndBlooms = fullProbes{56, wholeSums, [4]uintptr{
	unsafe.Offsetof(hashes{}.h1), unsafe.Offsetof(hashes{}.h2), unsafe.Offsetof(hashes{}.h3), unsafe.Offsetof(hashes{}.h4),
}}

// placeBitsAndBlooms is prober.place for this scheme.
func (s *prober) placeBitsAndBlooms(h *hashes, places []uint32) {
	done := s.placeFull(&fullBitsAndBlooms, h, places)
	(*probes.BitsAndBlooms)(&s.Array).Place(h.h1[done:], h.h2[done:], h.h3[done:], h.h4[done:], places[done*s.K:])
}

// testBitsAndBlooms is prober.test for this scheme.
func (s *prober) testBitsAndBlooms(h *hashes, hits []uint64, dense bool) {
	if !s.testFull(&fullBitsAndBlooms, h, hits, dense) {
		(*probes.BitsAndBlooms)(&s.Array).Test(h.h1, h.h2, h.h3, h.h4, hits, dense)
	}
}

// hashBitsAndBlooms writes the hash of each row.
func (k *Keys) hashBitsAndBlooms(h *hashes) {
	n := h.len()
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Pointer(unsafe.StringData(key)), len(key))))
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2Uint32(key)))
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			h.set256(i, fourWords(keyhash.Murmur3x2Uint64(key)))
		}
	case fixedWidth:
		k.hashBitsAndBloomsOfWidth(h)
	case offsets32:
		hashBitsAndBloomsBetween(h, k.data, elements[int32](k, n+1))
	case offsets64:
		hashBitsAndBloomsBetween(h, k.data, elements[int64](k, n+1))
	}
}

// hashBitsAndBloomsOfWidth is hashBitsAndBlooms for keys of one width.
func (k *Keys) hashBitsAndBloomsOfWidth(h *hashes) {
	p := unsafe.Pointer(unsafe.SliceData(k.data))
	switch k.width {
	case 16:
		keyhash.Murmur3x2Of16(p, h.h1, h.h2, h.h3, h.h4)
	case 8:
		for i := range h.h1 {
			h.set256(i, fourWords(keyhash.Murmur3x2Uint64(load.Uint64(p, 8*i))))
		}
	default:
		for i := range h.h1 {
			h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Add(p, i*k.width), k.width)))
		}
	}
}

func hashBitsAndBloomsBetween[E int32 | int64](h *hashes, data []byte, offsets []E) {
	for i := range h.h1 {
		key := data[offsets[i]:offsets[i+1]]
		h.set256(i, fourWords(keyhash.Murmur3x2(unsafe.Pointer(unsafe.SliceData(key)), len(key))))
	}
}

// mayContainBitsAndBlooms is Format.MayContainHash for bytes that are damaged, that store fewer bits than the probes reach, or that
// have fewer than three probes.
func mayContainBitsAndBlooms(filter []byte, h Hash) bool {
	m, k, length, ok := encoding.BitsAndBloomsHeader(filter)
	if !ok || k == 0 || length == 0 {
		return !ok || k == 0
	}
	c := probes.BitsAndBlooms{Base: &filter[encoding.HeaderBitsAndBlooms], N: m, Recip: probes.FewerStored, K: int(k)} // HasSlow reads the length
	return c.HasSlow(h.h1, h.h2, h.h3, h.h4)
}
