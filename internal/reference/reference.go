// Package reference reads filters as the documents and the code of their writers do, one key at a time and by the
// letter. The tests compare all other code of this module with it.
//
// Each format has two functions. One reports whether a key may be in an encoded filter. The other one explains the bits
// that it tests, without stopping at a clear one. It takes filters that bloom.Open accepts, and no bytes at all.
package reference

// Explanation says how a filter looks for one key. The package bloom has the same type, and describes it.
type Explanation struct {
	Numbers   []Step
	Rule      string
	Positions []uint64
}

// Step is a number on the way from a key to its bits.
type Step struct {
	Name    string
	Meaning string
	Value   uint64
	Bits    int
}
