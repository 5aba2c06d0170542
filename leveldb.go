package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
)

func arrayLevelDB(n uint64, k int) probes.Array {
	return probes.Array(probes.NewLevelDB(nil, n/8, k))
}

func bytesLevelDB(a probes.Array) uint64 { return a.N }

// fitsLevelDB reports whether kernels take the array. They load aligned words, from the word in which the filter begins. The
// numbers of the bits from there must be below 2^32.
func fitsLevelDB(a probes.Array) bool {
	return a.N >= 2 && a.N+uint64(uintptr(unsafe.Pointer(a.Base))%4) <= 1<<29
}

// placeLevelDB is prober.place for this scheme.
func (s *prober) placeLevelDB(h *hashes, places []uint32) {
	done := 0
	if len(h.h32) >= leastHashes {
		done, _ = placeDouble32(s, h, &places[:len(h.h32)*s.K][0])
	}
	probes.LevelDB(s.Array).Place(h.h32[done:], places[done*s.K:])
}

// testLevelDB is prober.test for this scheme. AVX-512 gathers words. Where that takes longer than AVX2's loads, AVX2 tests.
func (s *prober) testLevelDB(h *hashes, hits []uint64, dense bool) {
	kernel := s.kernel
	if kernel == AVX512 && !gathers {
		kernel = AVX2
	}
	if !probeDouble32(kernel, s, h, &hits[0], dense || slowPDEP) {
		probes.LevelDB(s.Array).Test(h.h32, hits, dense)
	}
}

// hashLevelDB writes the hash of each row.
func (k *Keys) hashLevelDB(hashes []uint32, signs uint32) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = keyhash.LevelDB(unsafe.Pointer(unsafe.SliceData(key)), len(key), signs)
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = keyhash.LevelDB(unsafe.Pointer(unsafe.StringData(key)), len(key), signs)
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = keyhash.LevelDBUint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = keyhash.LevelDBUint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = keyhash.LevelDB(unsafe.Pointer(&k.data[i*k.width]), k.width, signs)
		}
	case offsets32:
		hashLevelDBBetween(hashes, k.data, elements[int32](k, n+1), signs)
	case offsets64:
		hashLevelDBBetween(hashes, k.data, elements[int64](k, n+1), signs)
	}
}

func hashLevelDBBetween[E int32 | int64](hashes []uint32, data []byte, offsets []E, signs uint32) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = keyhash.LevelDB(unsafe.Pointer(unsafe.SliceData(key)), len(key), signs)
	}
}
