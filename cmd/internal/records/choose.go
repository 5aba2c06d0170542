package records

import (
	"math/bits"
	"slices"
)

// WordsFor returns words for the bits of n keys, the old ones if they are enough.
func WordsFor(words []uint64, n int) []uint64 {
	n = (n + 63) / 64
	return slices.Grow(words[:0], n)[:n]
}

// Choose finds the records that pass, by the bits of their keys in Hits: a record passes if one of its keys
// hits or, if all is set, if every key hits. invert chooses the other records. Records without a key that are
// in the chunk always pass.
func (c *Chunk) Choose(all, invert bool) {
	n := c.Len()
	c.Chosen = WordsFor(c.Chosen, n)
	if len(c.ends) == 0 {
		copy(c.Chosen, c.Hits)
	} else {
		c.chooseByKeys(all)
	}
	if invert {
		for i := range c.Chosen {
			c.Chosen[i] = ^c.Chosen[i] << (64 - min(64, n-64*i)) >> (64 - min(64, n-64*i))
		}
	}
	for _, i := range c.Certain {
		c.Chosen[i/64] |= 1 << (i % 64)
	}
	c.Passed = 0
	for _, word := range c.Chosen {
		c.Passed += bits.OnesCount64(word)
	}
}

// chooseByKeys sets the bits of the records with one key that hits, or whose keys all hit.
func (c *Chunk) chooseByKeys(all bool) {
	clear(c.Chosen)
	key := 0
	for i, end := range c.ends {
		passes := all
		for ; key < end; key++ {
			if hit := c.Hits[key/64]>>(key%64)&1 != 0; hit != all {
				passes = hit
			}
		}
		if passes {
			c.Chosen[i/64] |= 1 << (i % 64)
		}
	}
}

// Gather moves the records that pass to the front of data.
func (c *Chunk) Gather(delimiter byte) {
	out := c.data[:0] // no record moves beyond where one is still to be read
	for i, word := range c.Chosen {
		for ; word != 0; word &= word - 1 {
			out = append(out, c.Record(64*i+bits.TrailingZeros64(word), delimiter)...)
		}
	}
	c.Out = out
}
