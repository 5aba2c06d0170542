package main

import (
	"math/bits"
	"slices"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// tester tells which keys of a column are wanted, as a [bloom.Filter] does.
type tester interface {
	MayContain(key []byte) bool
	MayContainBatch(keys bloom.Keys, hits []uint64) int
}

// exactKeys is a set of keys. A filter of them drops most others, many at a time, and the set decides.
type exactKeys struct {
	filter *bloom.Filter
	set    map[string]struct{}
}

// newExactKeys returns the set of PLAIN bytes of values of a type, and of those that are equal to them.
func newExactKeys(t bloomparquet.Type, values [][]byte) tester {
	e := &exactKeys{set: make(map[string]struct{}, len(values))}
	for _, value := range values {
		e.set[string(value)] = struct{}{}
	}
	e.filter = bloom.Policy{Format: bloom.Default, BitsPerKey: 16}.NewFilter(bloom.Bytes(values))
	if slices.ContainsFunc(values, t.IsNaN) {
		return &floatTester{e, t}
	}
	return e // the set has both zeros
}

// MayContain is exact.
func (e *exactKeys) MayContain(key []byte) bool {
	_, in := e.set[string(key)]
	return in
}

// MayContainBatch is exact, and else like that of [bloom.Filter].
func (e *exactKeys) MayContainBatch(keys bloom.Keys, hits []uint64) (n int) {
	var key []byte
	e.filter.MayContainBatch(keys, hits)
	for i, word := range hits {
		for rest := word; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros64(rest)
			key, _ = keys.AppendKey(key[:0], 64*i+bit)
			if e.MayContain(key) {
				n++
			} else {
				hits[i] &^= 1 << bit
			}
		}
	}
	return n
}

// withEqual adds the values that are equal to some values of a type, and have other bytes.
func withEqual(t bloomparquet.Type, values [][]byte) [][]byte {
	e := &equals{of: t}
	e.note(bloom.Bytes(values))
	return append(values, e.values...)
}

// equals are values that are equal to others, and have other bytes.
type equals struct {
	of        bloomparquet.Type
	values    [][]byte
	zero, nan bool // whether values has those
	key       []byte
}

// note adds values that are equal to some keys: the other zero, or the usual NaN, so that those who look for either
// find all of them.
func (e *equals) note(keys bloom.Keys) {
	if !e.of.IsFloat() || e.zero && e.nan {
		return
	}
	for row := range keys.Len() {
		var valid bool
		if e.key, valid = keys.AppendKey(e.key[:0], row); !valid {
			continue
		}
		zero, nan := !e.zero && e.of.IsZero(e.key), !e.nan && e.of.IsNaN(e.key)
		if zero || nan {
			e.values, e.zero, e.nan = append(e.values, e.of.Equal(e.key)...), e.zero || zero, e.nan || nan
		}
	}
}

// floatTester is a tester of floating-point numbers, in which a zero is either zero, and NaN is any of the usual ones.
type floatTester struct {
	tester
	of bloomparquet.Type
}

// MayContainBatch is like that of [bloom.Filter].
func (f *floatTester) MayContainBatch(keys bloom.Keys, hits []uint64) (n int) {
	var key []byte
	n = f.tester.MayContainBatch(keys, hits)
	for row := range keys.Len() {
		if hits[row/64]>>(row%64)&1 != 0 {
			continue
		}
		var valid bool
		if key, valid = keys.AppendKey(key[:0], row); !valid {
			continue
		}
		if slices.ContainsFunc(f.of.Equal(key), f.MayContain) {
			hits[row/64] |= 1 << (row % 64)
			n++
		}
	}
	return n
}
