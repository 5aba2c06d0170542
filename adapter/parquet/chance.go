package bloomparquet

import (
	"math"
	"math/bits"
)

// chance is how many keys pass the filter of a row group though no row has them.
type chance struct {
	tested   int     // the number of keys that the filter was asked about: those within the bounds of the row group
	rate     float64 // the share of absent keys that pass, as the filter's set bits tell it
	expected float64 // the number of keys that pass if the row group has none
	likely   bool
}

// Chance returns the number of hits to expect if the row group has none of the keys. The second result,
// likely, is true if the actual number of hits is at most three standard deviations above the expected
// number. False positives alone can then explain the hits, but the row group may still have some of the
// keys. The third result, known, is false if no filter was used, either because no filter can be read or
// because no key is within the bounds.
//
// Chance reads all bits of the filter, which takes about as long as testing a few thousand keys. Call
// Chance before the loop over [Keys.Prune] continues with the next row group.
func (r RowGroup) Chance() (expected float64, likely, known bool) {
	c, known := r.chance()
	return c.expected, c.likely, known
}

func (r RowGroup) chance() (c chance, known bool) {
	if r.keys == nil || r.Err != nil {
		return chance{}, false
	}
	c = chance{tested: r.keys.countWithin(r.span)}
	if index := r.Column.index; index != nil {
		c.rate = index.rates[r.Index]
	} else {
		c.rate = rateOf(r.blocks)
	}
	unsure := 0 // these pass every filter
	for _, word := range r.keys.unsure {
		unsure += bits.OnesCount64(word)
	}
	byFilter := float64(c.tested-unsure) * c.rate
	c.expected = byFilter + float64(unsure)
	c.likely = float64(r.Count) <= c.expected+3*math.Sqrt(byFilter*(1-c.rate))
	return c, true
}
