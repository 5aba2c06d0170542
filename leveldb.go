package bloom

import (
	"math/rand/v2"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/rates"
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
	if len(h.h32) >= singleKeys {
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
	if len(h.h32) < singleKeys || !probeDouble32(kernel, s, h, &hits[0], dense || slowPDEP) {
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

// wholeWords reports whether the layout says that every row is a multiple of 4 bytes long.
// Then hashRows takes LevelDB's hash, which is the same.
func (k *Keys) wholeWords() bool {
	return k.layout == uint32s || k.layout == uint64s || k.layout == fixedWidth && k.width%4 == 0
}

// rateLevelDB is that of random hashes. Keys that differ in the last byte of a whole word have hashes that
// differ in two bytes only, and a higher rate: docs/false-positives.md.
func rateLevelDB(n, m float64, k int) float64 { return rates.LevelDB(n, m, k, measureLevelDB) }

// measureLevelDB returns the share of random hashes that pass filters of n random hashes. The
// filters have some 2^17 hashes in all, because small ones differ.
func measureLevelDB(n, m, k, queries int) float64 {
	data := append(make([]byte, m/8, m/8+1), byte(k))
	v, _ := openView(LevelDB, data) // never fails
	random := rand.NewPCG(1, 2)     // the same at every call
	var hashes [windowKeys]uint32
	column := func(n int) Keys {
		for i := range hashes[:n] {
			hashes[i] = uint32(random.Uint64())
		}
		return LevelDB.Hashes32(hashes[:n])
	}
	var hits [windowKeys / 64]uint64
	filters := max(1<<17/n, 1)
	windows, yes := max(queries/filters/windowKeys, 1), 0
	for range filters {
		clear(data[:m/8])
		for i := 0; i < n; i += windowKeys {
			v.addColumn(column(min(windowKeys, n-i)))
		}
		for range windows {
			yes += v.MayContainBatch(column(windowKeys), hits[:])
		}
	}
	return float64(yes) / float64(filters*windows*windowKeys)
}
