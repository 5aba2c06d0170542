package bloom

// Walk spells out how a filter looks for one key: the numbers that lead from the key to its
// bits, and the bits.
type Walk struct {
	Numbers []WalkNumber // the key's hash first

	// Rule is a formula in words for the bit that probe i tests, counted from 0. It uses
	// the names of the numbers.
	Rule string

	// Positions holds the number of the bit that each probe tests, in order. It is empty if
	// the filter answers without testing its bits.
	Positions []uint64
}

// WalkNumber is a number that a format computes on the way from a key to its bits.
type WalkNumber struct {
	Name    string // such as "hash"
	Meaning string // such as "XXH64 of the key, seed 0"
	Value   uint64
	Bits    int // its width
}

// Walk returns the walk of key. It follows the format letter by letter, as [Reference] does.
// It is for explanations; to test keys, call MayContain.
func (v *view) Walk(key []byte) Walk { return formats[v.format].explain(v.data, key) }
