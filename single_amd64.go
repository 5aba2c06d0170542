//go:build !purego

package bloom

import (
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
)

// setOneKeys sets the functions of oneKeys that are assembly, and the addresses of Go's.
func setOneKeys() {
	for kernel := range oneKeys {
		for i := range oneKeys[kernel] {
			oneKeys[kernel][i].setAddresses(0, noScheme)
		}
	}
	for i, test := range keyTests {
		if test == nil {
			continue
		}
		for j, kernel := range []Kernel{AVX2, AVX512} {
			s := &oneKeys[kernel][i]
			s.setAddresses(2*i+j, scheme(i))
			s.ofKey = eraseKey(test)
		}
	}
}

// setAddresses sets the addresses to those of a row of oneKeyAt, and to Go's for hashes of other schemes.
func (s *oneKey) setAddresses(row int, of scheme) {
	_, inGo, _ := oneKeyAt(0)
	for i := range s.ofHash {
		s.ofHash[i] = inGo
	}
	s.ofUint64, s.ofHash[of], s.ofAdd = oneKeyAt(row)
}

// keyTests has the tests of each scheme that has assembly for one key. Each function calls the kernel
// itself. Strings of 8 to 32 bytes in RocksDB's filters were 1.16 to 1.20 times as fast so on a Zen 5 as with a
// switch over the schemes.
var keyTests = [...]keyTest{
	schemeLevelDB: keyLevelDB, schemeNori: keyNori, schemeParquet: keyParquet, schemeRocksDB: keyRocksDB, schemePebble: keyPebble,
}

func keyLevelDB(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Double32AVX2(&s.Base, load.Uint64(p, 0))
	}
	_, may := hasHashDouble32AVX2(&s.Base, uint64(keyhash.LevelDB(p, n, keyhash.UnsignedBytes)))
	return may
}

func keyNori(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Double64AVX2(&s.Base, load.Uint64(p, 0))
	}
	h1, h2 := keyhash.XXH64x2(p, n)
	_, may := hasHashDouble64AVX2(&s.Base, h1, h2)
	return may
}

func keyParquet(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Split256AVX2(&s.Base, load.Uint64(p, 0))
	}
	if n < keyhash.ShortXXH64 {
		return probeShortSplit256AVX2(&s.Base, (*byte)(p), n)
	}
	_, may := hasHashSplit256AVX2(&s.Base, keyhash.XXH64(p, n))
	return may
}

func keyRocksDB(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Line512AVX2(&s.Base, load.Uint64(p, 0))
	}
	if n <= keyhash.ShortXXPH3 {
		_, may := hasHashLine512AVX2(&s.Base, keyhash.XXPH3Short(p, n))
		return may
	}
	_, may := hasHashLine512AVX2(&s.Base, xxph3At(p, n))
	return may
}

func keyPebble(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Line32AVX2(&s.Base, load.Uint64(p, 0))
	}
	_, may := hasHashLine32AVX2(&s.Base, uint64(keyhash.LevelDB(p, n, keyhash.SignedBytes)))
	return may
}
