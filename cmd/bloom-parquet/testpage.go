package main

import (
	"github.com/lanebloom/bloom"
)

// pageTester tests the values of a column of a row group, page by page. It does not copy them.
type pageTester struct {
	wanted tester
	invert bool
	most   byte   // definition level of values that are not null
	keep   []bool // of each value

	found, hits []uint64 // of the keys of a dictionary, and of others
}

// test tests the values of a page, and each value of a dictionary once.
func (t *pageTester) test(page *keyPage) error {
	if !page.hasDictionary() {
		t.hits = t.hitsOf(page.keys, t.hits)
		t.add(page, page.keys.Len(), func(i int) bool { return t.hits[i/64]>>(i%64)&1 != 0 })
		return nil
	}
	if page.isNew {
		t.found = t.hitsOf(page.keys, t.found)
	}
	t.add(page, len(page.indices), func(i int) bool {
		index := page.indices[i]
		return t.found[index/64]>>(index%64)&1 != 0
	})
	return nil
}

// add says of each value of a page whether to keep it. in tells of those that are not null.
func (t *pageTester) add(page *keyPage, values int, in func(i int) bool) {
	levels := page.DefinitionLevels()
	if len(levels) == 0 {
		for i := range values {
			t.keep = append(t.keep, in(i) != t.invert)
		}
		return
	}
	next := 0
	for _, level := range levels {
		is := level == t.most
		if is {
			is = in(next)
			next++
		}
		t.keep = append(t.keep, is != t.invert)
	}
}

// hitsOf returns which keys are wanted, in the memory of hits if there is room.
func (t *pageTester) hitsOf(keys bloom.Keys, hits []uint64) []uint64 {
	words := (keys.Len() + 63) / 64
	if cap(hits) < words {
		hits = make([]uint64, words)
	}
	hits = hits[:words]
	t.wanted.MayContainBatch(keys, hits)
	return hits
}
