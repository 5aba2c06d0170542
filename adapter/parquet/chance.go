package bloomparquet

import (
	"math"
	"math/bits"
)

// Chance is how many keys pass the filter of a row group though no row has them.
type Chance struct {
	// Tested is the number of keys that the filter was asked about: those within the bounds of the
	// row group.
	Tested int
	// Rate is the share, 0 to 1, of absent keys that pass, as the filter's set bits tell it.
	Rate float64
	// Expected is the number of keys that are expected to pass if the row group has none.
	Expected float64
	// Likely says that the count of the row group can be chance: it is at most three standard deviations above Expected. The row
	// group may have keys nevertheless.
	Likely bool
}

// Chance returns how many of the hits are to be expected by chance. It returns false if no filter was
// asked: there is none that can be read, or no key is within the bounds. It reads all
// bits of the filter, which takes about as long as to test some thousand keys. Call it
// before the loop goes on to the next row group.
func (r RowGroup) Chance() (Chance, bool) {
	if r.keys == nil || r.Err != nil {
		return Chance{}, false
	}
	c := Chance{Tested: r.keys.countWithin(r.span)}
	if index := r.Column.index; index != nil {
		c.Rate = index.rates[r.Index]
	} else {
		c.Rate = rateOf(r.blocks)
	}
	unsure := 0 // these pass every filter
	for _, word := range r.keys.unsure {
		unsure += bits.OnesCount64(word)
	}
	byFilter := float64(c.Tested-unsure) * c.Rate
	c.Expected = byFilter + float64(unsure)
	c.Likely = float64(r.Count) <= c.Expected+3*math.Sqrt(byFilter*(1-c.Rate))
	return c, true
}
