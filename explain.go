package bloom

// Explanation says how a filter looks for one key: the numbers that lead from the key to its
// bits, and the bits.
type Explanation struct {
	Numbers []Step // the key's hash first

	// Rule is a formula in words for the bit that probe i tests, counted from 0. It uses
	// the names of the numbers.
	Rule string

	// Positions holds the number of the bit that each probe tests, in order. It is empty if
	// the filter answers without testing its bits.
	Positions []uint64
}

// Step is a number that a format computes on the way from a key to its bits.
type Step struct {
	Name    string // such as "hash"
	Meaning string // such as "XXH64 of the key, seed 0"
	Value   uint64
	Bits    int // the width of Value
}

// Explain returns the steps from key to the bits that the filter tests. It follows the format
// letter by letter, as [Reference] does. To test keys, call MayContain.
func (v *view) Explain(key []byte) Explanation { return formats[v.format].explain(v.data, key) }
