package bloomsst

import (
	"bytes"

	"github.com/lanebloom/bloom"
)

// A name in a file does not prove what the filter has: engines and programs gave other filters, hashes, prefixes and orders the names
// that LevelDB's, RocksDB's and Pebble's have. So a table's own keys are looked up in its filter before a no is believed: those of
// the first data block, of the last one and, if these are not enough, of one in the middle.

// proof is what the keys of a table say about it.
type proof struct {
	keys    int                   // different keys that the filter was asked for, and has
	denied  error                 // why the filter is not asked, or nil
	unread  error                 // what could not be read, or nil
	tails   tails                 // the hash of the filter
	ordered bool                  // compare is the order of the table
	compare func(a, b []byte) int // of user keys
	chance  float64               // that a filter of other keys would have the keys

	filter *bloom.Filter // that alone answers for whole keys, or nil

	// The range of the user keys, if the order is proved; nil if a bound is not known.
	first, last []byte
}

// outside reports whether a key is outside of the range.
func (p *proof) outside(key []byte) bool {
	if p.first != nil && p.compare(key, p.first) < 0 {
		// RocksDB lets a comparator with timestamps have the name of one without: the first key may have one.
		return len(key)+timestampSize != len(p.first) || !bytes.HasPrefix(p.first, key)
	}
	return p.last != nil && p.compare(key, p.last) > 0
}

// doubtful is a chance that is too high: a filter of other keys may have had all keys that were looked up.
const doubtful = 1e-6
