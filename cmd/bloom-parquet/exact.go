package main

import (
	"bytes"
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
	if slices.ContainsFunc(values, func(value []byte) bool { return isNaN(t, value) }) {
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
	of     bloomparquet.Type
	values [][]byte // both zeros, both NaN, or all four
	key    []byte
}

// note adds values that are equal to some keys: the other zero, or the usual NaN, so that those who look for either
// find all of them.
func (e *equals) note(keys bloom.Keys) {
	if !isFloat(e.of) {
		return
	}
	for row := 0; row < keys.Len() && len(e.values) < 4; row++ {
		var valid bool
		if e.key, valid = keys.AppendKey(e.key[:0], row); !valid {
			continue
		}
		equal := e.of.Equal(e.key)
		if equal != nil && !slices.ContainsFunc(e.values, func(value []byte) bool { return bytes.Equal(value, equal[0]) }) {
			e.values = append(e.values, equal...)
		}
	}
}

// isFloat reports whether values are floating-point numbers.
func isFloat(t bloomparquet.Type) bool {
	return t.Physical == bloomparquet.Float || t.Physical == bloomparquet.Double || t.Logical == bloomparquet.Float16
}

// isNaN reports whether a value is NaN: of zeros, which other bytes are equal to, too, the first one has no
// bit set.
func isNaN(t bloomparquet.Type, value []byte) bool {
	equal := t.Equal(value)
	return equal != nil && len(bytes.Trim(equal[0], "\x00")) > 0
}

// floatTester is a tester of floating-point numbers, in which a zero is either zero, and NaN is any of the
// usual ones.
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
