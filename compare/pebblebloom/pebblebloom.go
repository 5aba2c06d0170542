// Package pebblebloom makes and reads the Bloom filters of Pebble's tables with Pebble's own
// code.
package pebblebloom

import "github.com/cockroachdb/pebble/v2/bloom"

// Module is the path of the module.
const Module = "github.com/cockroachdb/pebble/v2"

// tableFilter is pebble.TableFilter, the only type of filter. The package pebble takes long to
// compile.
const tableFilter = 0

// Pebble builds and tests filters.
type Pebble struct{}

// Build returns the filter of n keys.
func (Pebble) Build(n int, key func(i int) []byte, bitsPerKey int) []byte {
	w := bloom.FilterPolicy(bitsPerKey).NewWriter(tableFilter)
	for i := range n {
		w.AddKey(key(i))
	}
	return w.Finish(nil)
}

// MayContain returns the answer for a key.
func (Pebble) MayContain(filter, key []byte) bool {
	return bloom.FilterPolicy(10).MayContain(tableFilter, filter, key)
}
