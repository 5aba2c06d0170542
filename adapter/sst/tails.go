package bloomsst

import (
	"github.com/lanebloom/bloom"
)

// tails is how the hash of a filter takes the last n mod 4 bytes of a key of n bytes: LevelDB's hash takes them as unsigned, and took
// them as signed until 2014. RocksDB and Pebble take them as signed; Pebble took them as unsigned until 2020. Names of policies do not
// tell the one from the other. The hash is the same unless one of these bytes is 0x80 or more.
type tails uint8

const (
	ownTails    tails = 1 << iota // as the hash of the filter's format
	otherTails                    // the other way
	eitherTails = ownTails | otherTails
)

// kinds returns the single ones.
func (v tails) kinds() (kinds []tails) {
	for _, kind := range []tails{ownTails, otherTails} {
		if v&kind != 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// bothOf returns what stands for all kinds.
func bothOf(kinds []tails) (v tails) {
	for _, kind := range kinds {
		v |= kind
	}
	return v
}

// otherHash returns the hash of a key with the tails of the other kind, as a hash of the format.
func otherHash(f bloom.Format, key []byte) bloom.Hash {
	other := bloom.LevelDB
	if f == bloom.LevelDB {
		other = bloom.Pebble
	}
	return f.HashFrom(other.Hash(key).Words()[0])
}

// mayContain tests a filter.
func (v tails) mayContain(f *bloom.Filter, key []byte) bool {
	return v&ownTails != 0 && f.MayContain(key) || v&otherTails != 0 && f.MayContainHash(otherHash(f.Format(), key))
}

// mayContainEncoded tests an encoded filter.
func (v tails) mayContainEncoded(f bloom.Format, filter, key []byte) bool {
	return v&ownTails != 0 && f.MayContain(filter, key) || v&otherTails != 0 && f.MayContainHash(filter, otherHash(f, key))
}
