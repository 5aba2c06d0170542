package main

import (
	"fmt"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/lanebloom/bloom"
)

// pageTester tests the values of a column of a row group, page by page. It does not copy them.
type pageTester struct {
	wanted tester
	invert bool
	most   byte   // definition level of values that are not null
	keep   []bool // of each value

	dictionary parquet.Dictionary // the last one that was tested, and its hits
	found      []uint64
	hits       []uint64
}

// test tests the values of a page.
func (t *pageTester) test(page parquet.Page) error {
	values := int(page.NumValues() - page.NumNulls())
	if dictionary := page.Dictionary(); dictionary != nil {
		return t.testIndices(dictionary, page, values)
	}
	hits, err := t.hitsOf(page, t.hits)
	t.hits = hits
	t.add(page, values, func(i int) bool { return hits[i/64]>>(i%64)&1 != 0 })
	return err
}

// testIndices tests each value of a dictionary once.
func (t *pageTester) testIndices(dictionary parquet.Dictionary, page parquet.Page, values int) (err error) {
	if t.dictionary != dictionary {
		if t.found, err = t.hitsOf(dictionary.Page(), t.found); err != nil {
			return err
		}
		t.dictionary = dictionary
	}
	data := page.Data()
	indices, most := data.Int32(), dictionary.Len()
	t.add(page, values, func(i int) bool {
		index := int(indices[i])
		if index < 0 || index >= most {
			panic(fmt.Sprintf("value %d of a dictionary of %d", index, most)) // eachPage recovers
		}
		return t.found[index/64]>>(index%64)&1 != 0
	})
	return nil
}

// add says of each value of a page whether to keep it. in tells of those that are not null.
func (t *pageTester) add(page parquet.Page, values int, in func(i int) bool) {
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

// hitsOf returns which values of a page without nulls are wanted, in the memory of hits if there is room.
func (t *pageTester) hitsOf(page parquet.Page, hits []uint64) ([]uint64, error) {
	keys, err := plainKeys(page)
	if err != nil {
		return nil, err
	}
	words := (keys.Len() + 63) / 64
	if cap(hits) < words {
		hits = make([]uint64, words)
	}
	hits = hits[:words]
	t.wanted.MayContainBatch(keys, hits)
	return hits, nil
}

// plainKeys returns the values of a page that are not null.
func plainKeys(page parquet.Page) (keys bloom.Keys, err error) {
	data := page.Data()
	if data.Kind() != encoding.Boolean {
		return keysOf(data)
	}
	all := &pageKeys{values: make([]parquet.Value, page.NumValues())}
	err = all.read(page, func(k bloom.Keys) { keys = k })
	return keys, err
}

// asIntegers returns a slice of other elements of the same width.
func asIntegers[I int32 | uint32 | uint64, E uint32 | float32 | float64](s []E) []I {
	return unsafe.Slice((*I)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
