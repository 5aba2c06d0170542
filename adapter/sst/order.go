package bloomsst

import (
	"bytes"
	"strconv"
	"strings"
)

// order is how the user keys of a table are compared, and how far that is known.
type order struct {
	compare   func(a, b []byte) int
	timestamp int // the number of bytes at the end of stored keys that are not compared: a timestamp
	trust     trust
}

// trust is how far an order is known.
type trust int

const (
	named   trust = iota // a comparator is given, or has a name that tells the order
	unnamed              // no name is known: the order is by bytes if enough keys are
	foreign              // the name is not known, so the keys may be in any order
)

// The names of comparators whose order is known. With the suffix, keys end in a timestamp of 8 bytes.
const (
	bytewise      = "leveldb.BytewiseComparator"
	reverse       = "rocksdb.ReverseBytewiseComparator"
	timestamps    = ".u64ts"
	timestampSize = 8
)

// orderOf returns the order of a comparator.
func orderOf(comparator string) (o order) {
	o.compare = bytes.Compare
	if name, cut := strings.CutSuffix(comparator, timestamps); cut {
		comparator, o.timestamp = name, timestampSize
	}
	switch comparator {
	case bytewise:
	case reverse:
		o.compare = func(a, b []byte) int { return bytes.Compare(b, a) }
	case "":
		o.trust = unnamed
	default:
		o.trust = foreign
	}
	return o
}

// user returns a user key that is stored without its timestamp.
func (o order) user(stored []byte) []byte { return stored[:max(len(stored)-o.timestamp, 0)] }

// extractorSplit returns the prefix of RocksDB's own extractors, as Split tells it, or nil for others.
func extractorSplit(name string) func(key []byte) int {
	if name == "rocksdb.Noop" {
		return func(key []byte) int { return len(key) }
	}
	kind, digits, _ := strings.Cut(strings.TrimPrefix(name, "rocksdb."), ".")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n < 0:
	case kind == "FixedPrefix":
		return func(key []byte) int {
			if len(key) < n {
				return -1
			}
			return n
		}
	case kind == "CappedPrefix":
		return func(key []byte) int { return min(len(key), n) }
	}
	return nil
}
