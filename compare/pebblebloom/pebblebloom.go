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

// CreateFilter returns the filter of keys.
func (Pebble) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	w := bloom.FilterPolicy(bitsPerKey).NewWriter(tableFilter)
	for _, key := range keys {
		w.AddKey(key)
	}
	return w.Finish(nil), nil
}

// KeyMayMatch returns the answer for each key.
func (Pebble) KeyMayMatch(filter []byte, keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	for i, key := range keys {
		answers[i] = bloom.FilterPolicy(10).MayContain(tableFilter, filter, key)
	}
	return answers, nil
}
