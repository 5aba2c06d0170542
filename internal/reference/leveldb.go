package reference

// LevelDB is BloomFilterPolicy::KeyMayMatch of util/bloom.cc.
func LevelDB(filter, key []byte) bool {
	if len(filter) < 2 {
		return false
	}
	last := len(filter) - 1
	k := filter[last]
	if k > 30 {
		return true // reserved for future encodings
	}
	nBits := uint64(last) * 8
	h := Hash32(key)
	delta := h>>17 | h<<15
	for range k {
		bit := h
		if nBits < 1<<32 { // else the remainder of a 32-bit h is h
			bit = h % uint32(nBits)
		}
		if filter[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// ExplainLevelDB explains LevelDB.
func ExplainLevelDB(filter, key []byte) Explanation {
	h := Hash32(key)
	delta := h>>17 | h<<15
	e := Explanation{
		Numbers: []Step{
			{"hash", "LevelDB's 32-bit hash of the key", uint64(h), 32},
			{"delta", "the hash rotated right by 17 bits", uint64(delta), 32},
		},
		Rule: "(hash + i·delta) mod 2^32 mod the number of bits",
	}
	if len(filter) < 2 {
		return e
	}
	last := len(filter) - 1
	k := filter[last]
	if k > 30 {
		return e
	}
	for range k {
		e.Positions = append(e.Positions, uint64(h)%(8*uint64(last)))
		h += delta
	}
	return e
}
