package bloom

// Walk spells out how a filter looks for one key: probe i, counted from 0, tests
// the bit (Hash + i·Delta) mod [Stats.Bits]. Sums are mod 2^HashBits.
type Walk struct {
	Hash, Delta uint64
	HashBits    int // width of Hash and Delta

	// Positions holds the bit of every probe, in order. It is empty if the
	// filter answers without a look at its bits.
	Positions []uint64
}

// Walk returns the walk of key. It is for explanations and follows the format
// letter by letter, as [Reference] does: to test keys, there is MayContain.
func (v *view) Walk(key []byte) Walk {
	if v.format == LevelDB {
		return walkLevelDB(v.data, key)
	}
	return walkNori(v.format, v.data, key)
}

// walkLevelDB returns the bits that referenceLevelDB tests, those after the
// first clear one included.
func walkLevelDB(filter, key []byte) Walk {
	h := referenceHash32(key)
	delta := h>>17 | h<<15
	w := Walk{Hash: uint64(h), Delta: uint64(delta), HashBits: 32}
	if len(filter) < 2 {
		return w
	}
	last := len(filter) - 1
	k := filter[last]
	if k > maxProbes {
		return w
	}
	for range k {
		w.Positions = append(w.Positions, uint64(h)%(8*uint64(last)))
		h += delta
	}
	return w
}

// walkNori returns the bits that referenceNori tests, those after the first clear
// one included.
func walkNori(f Format, filter, key []byte) Walk {
	h1, h2 := referenceHash64(key)
	w := Walk{Hash: h1, Delta: h2, HashBits: 64}
	nBits, k, _, ok := referenceHeaderNori(f, filter)
	if !ok || nBits == 0 {
		return w
	}
	for i := range k {
		w.Positions = append(w.Positions, (h1+i*h2)%nBits)
	}
	return w
}
