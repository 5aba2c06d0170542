//go:build !purego

package bloom

import "unsafe"

// setSingles sets the functions of the singles: those of assembly, and the addresses of Go's.
func setSingles() {
	for walk := range singles[Generic] {
		singles[Generic][walk].setAddresses(0, noHash)
	}
	for walk, test := range keyTests {
		if test == nil {
			continue
		}
		for i, kernel := range []Kernel{AVX2, AVX512} {
			s := &singles[kernel][walk]
			s.setAddresses(2*walk-1+i, usualPairs[walk].hash())
			s.ofKey = ofKey(test)
		}
	}
}

// setAddresses sets the addresses to those of a row of singleAt, and to Go's for hashes of other kinds.
func (s *single) setAddresses(row int, hash hashKind) {
	_, inGo, _ := singleAt(0)
	for kind := range s.ofHash {
		s.ofHash[kind] = inGo
	}
	s.ofUint64, s.ofHash[hash], s.ofAdd = singleAt(row)
}

// keyTests has the tests of each walk's usual pair. Each function calls the kernel
// itself. Strings of 8 to 32 bytes in RocksDB's filters were 1.16 to 1.20 times as fast so on a Zen 5 as with a
// switch over the pairs.
var keyTests = [...]keyTest{
	walkDouble32: keyDouble32, walkDouble64: keyDouble64, walkSplit256: keySplit256, walkLine512: keyLine512, walkLine32: keyLine32,
}

func keyDouble32(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Double32AVX2(&s.base, load64(p, 0))
	}
	_, may := hasHashDouble32AVX2(&s.base, uint64(hash32At(p, n, unsignedBytes)))
	return may
}

func keyDouble64(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Double64AVX2(&s.base, load64(p, 0))
	}
	h := hash64At(p, n)
	_, may := hasHashDouble64AVX2(&s.base, h.h1, h.h2)
	return may
}

func keySplit256(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Split256AVX2(&s.base, load64(p, 0))
	}
	if n < shortKey {
		return probeShortSplit256AVX2(&s.base, (*byte)(p), n)
	}
	_, may := hasHashSplit256AVX2(&s.base, xxh64At(p, n))
	return may
}

func keyLine512(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Line512AVX2(&s.base, load64(p, 0))
	}
	if n <= shortXXPH3 {
		_, may := hasHashLine512AVX2(&s.base, xxph3Short(p, n))
		return may
	}
	_, may := hasHashLine512AVX2(&s.base, xxph3At(p, n))
	return may
}

func keyLine32(s *prober, p unsafe.Pointer, n int) bool {
	if n == 8 {
		return hasUint64Line32AVX2(&s.base, load64(p, 0))
	}
	_, may := hasHashLine32AVX2(&s.base, uint64(hash32At(p, n, signedBytes)))
	return may
}
