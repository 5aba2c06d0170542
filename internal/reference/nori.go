package reference

import "encoding/binary"

// Nori is the check of nori-sstable's documentation. The length of the filter tells which of two headers it has, the
// documented one or that of the code. For bytes that are not a filter, the answer is yes.
func Nori(filter, key []byte) bool { return nori(filter, key, false) }

// NoriCrate is Nori for the header of the code alone.
func NoriCrate(filter, key []byte) bool { return nori(filter, key, true) }

func nori(filter, key []byte, crate bool) bool {
	nBits, k, array, ok := noriHeader(filter, crate)
	if !ok {
		return true
	}
	if nBits == 0 {
		return false
	}
	h1, h2 := XXH64x2(key)
	for i := range k {
		bit := (h1 + i*h2) % nBits
		if array[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// noriHeader returns what the header says, and false if the bytes are not a filter.
func noriHeader(filter []byte, crate bool) (nBits, k uint64, array []byte, ok bool) {
	bytes := func(nBits uint64) uint64 { return nBits/8 + min(nBits%8, 1) }
	if !crate && len(filter) >= 16 {
		nBits, k = binary.LittleEndian.Uint64(filter), uint64(binary.LittleEndian.Uint32(filter[8:]))
		if array = filter[16:]; bytes(nBits) == uint64(len(array)) {
			return nBits, k, array, k >= 1 && k <= 30
		}
	}
	if len(filter) >= 12 {
		k, nBits = uint64(binary.LittleEndian.Uint32(filter)), binary.LittleEndian.Uint64(filter[4:])
		if array = filter[12:]; bytes(nBits) == uint64(len(array)) {
			return nBits, k, array, nBits == 0 && k == 0 || k >= 1 && k <= 4096
		}
	}
	return 0, 0, nil, false
}

// ExplainNori explains Nori.
func ExplainNori(filter, key []byte) Explanation { return explainNori(filter, key, false) }

// ExplainNoriCrate explains NoriCrate.
func ExplainNoriCrate(filter, key []byte) Explanation { return explainNori(filter, key, true) }

func explainNori(filter, key []byte, crate bool) Explanation {
	h1, h2 := XXH64x2(key)
	e := Explanation{
		Numbers: []Step{
			{"hash", "XXH64 of the key, seed 0", h1, 64},
			{"delta", "XXH64 of the key, seed 1", h2, 64},
		},
		Rule: "(hash + i·delta) mod 2^64 mod the number of bits",
	}
	nBits, k, _, ok := noriHeader(filter, crate)
	if !ok || nBits == 0 {
		return e
	}
	for i := range k {
		e.Positions = append(e.Positions, (h1+i*h2)%nBits)
	}
	return e
}
