package main

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// exactKeys is a set of keys. A filter of them drops most others, many at a time, and the set decides.
type exactKeys struct {
	filter *bloom.Filter
	set    map[string]struct{}
	isNaN  func(key []byte) bool // nil unless NaN is a key: NaN has many encodings
	key    []byte
}

// newExactKeys returns the set of PLAIN bytes of values of a type.
func newExactKeys(t bloomparquet.Type, values [][]byte) *exactKeys {
	e := &exactKeys{set: make(map[string]struct{}, len(values))}
	for _, value := range values {
		e.set[string(value)] = struct{}{}
		if nan := nanOf(t); nan != nil && nan(value) {
			e.isNaN = nan
		}
	}
	e.filter = bloom.Policy{Format: bloom.Default, BitsPerKey: 16}.NewFilter(bloom.Bytes(values))
	return e
}

// MayContainBatch is exact, and else like that of [bloom.Filter].
func (e *exactKeys) MayContainBatch(keys bloom.Keys, hits []uint64) (n int) {
	e.filter.MayContainBatch(keys, hits)
	for i, word := range hits {
		for rest := word; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros64(rest)
			e.key, _ = keys.AppendKey(e.key[:0], 64*i+bit)
			if _, in := e.set[string(e.key)]; in {
				n++
			} else {
				hits[i] &^= 1 << bit
			}
		}
	}
	if e.isNaN == nil {
		return n
	}
	for row := range keys.Len() {
		var valid bool
		if e.key, valid = keys.AppendKey(e.key[:0], row); valid && e.isNaN(e.key) && hits[row/64]>>(row%64)&1 == 0 {
			hits[row/64] |= 1 << (row % 64)
			n++
		}
	}
	return n
}

// nanOf returns a function that reports whether a value of a type is NaN, or nil if none is.
func nanOf(t bloomparquet.Type) func(value []byte) bool {
	switch {
	case t.Physical == bloomparquet.Float:
		return func(v []byte) bool { return math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))) }
	case t.Physical == bloomparquet.Double:
		return func(v []byte) bool { return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(v))) }
	case t.Logical == bloomparquet.Float16:
		return func(v []byte) bool { return binary.LittleEndian.Uint16(v)&^(1<<15) > 0x7c00 }
	}
	return nil
}

// withBothZeros adds the other zero of a floating-point type, if one of them is a value: they are equal, and
// have other bytes.
func withBothZeros(t bloomparquet.Type, values [][]byte) [][]byte {
	if nanOf(t) == nil {
		return values
	}
	for _, value := range values {
		sign := len(value) - 1
		zero := value[sign]&0x7f == 0
		for _, b := range value[:sign] {
			zero = zero && b == 0
		}
		if zero {
			plus, minus := make([]byte, len(value)), make([]byte, len(value))
			minus[sign] = 0x80
			return append(values, plus, minus)
		}
	}
	return values
}
