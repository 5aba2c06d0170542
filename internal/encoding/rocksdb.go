package encoding

import (
	"encoding/binary"
	"math"
)

// rocksDB is the filter of RocksDB's tables of format_version 5 and later (util/bloom_impl.h and
// table/block_based/filter_policy.cc, FastLocalBloom): lines of 64 bytes, and then five bytes. These are a marker, the number
// of an implementation, the number of probes in the lower five bits with the size of a line in the upper three, and two bytes
// of zero.
//
// It has the smallest number of lines with n·bitsPerKey bits, and none for no keys. For more than 2^35 bits, RocksDB makes a
// filter of RocksDBMostLines.
var rocksDB = row{
	text: "rocksdb", after: Trailer, leastPerKey: 1, mostPerKey: RocksDBMostPerKey,
	probes: probesRocksDB,
	bits:   func(n, bitsPerKey float64) float64 { return min(roundUp(n*bitsPerKey, 512), 512*RocksDBMostLines) },
	most:   8 * MostBytes,
}

const (
	RocksDBMostPerKey = 100                 // bits; RocksDB replaces larger numbers by this one
	RocksDBMostLines  = math.MaxUint32 / 64 // RocksDB makes no more, however many keys there are
)

// Trailer is the number of bytes after the lines, in the formats of RocksDB and Pebble.
const Trailer = 5

// The markers: the first byte after the lines. A positive one is the number of probes in a filter of the older format, which
// is Pebble's.
const (
	markerYes    = 0  // a filter that answers yes to every key
	markerBloom  = -1 // FastLocalBloom
	markerRibbon = -2
)

// rocksProbes has the most thousandths of a bit per key for 1 probe, 2 probes and so on
// (FastLocalBloomImpl::ChooseNumProbes).
var rocksProbes = [...]int{2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501}

func probesRocksDB(bitsPerKey int) int {
	millibits := 1000 * bitsPerKey
	for i, most := range rocksProbes {
		if millibits <= most {
			return i + 1
		}
	}
	if millibits > 50000 {
		return 24
	}
	return (millibits-1)/2000 - 1
}

func putRocksDB(encoded []byte, s Shape) {
	end, marker := encoded[len(encoded)-Trailer:], int8(markerBloom)
	end[0], end[2] = byte(marker), byte(s.Probes)
}

// parseRocksDB follows BuiltinFilterPolicy::GetFilterBitsReader. Up to five bytes hold no key. A filter whose encoding
// FastLocalBloom reserves answers yes to every key. What is no FastLocalBloom is an error.
func parseRocksDB(data []byte, e *Filter) error {
	n := len(data) - Trailer
	if n <= 0 {
		return nil
	}
	end := data[n:]
	k := int(end[2])
	switch marker := int8(end[0]); {
	case marker > 0:
		return malformed("the filter is of RocksDB before format_version 5, or of Pebble: open it as %v", Pebble)
	case marker != markerYes && marker != markerBloom:
		return otherMarker(marker)
	case marker == markerYes || end[1] != 0 || k < 1 || k > MaxProbes || end[3] != 0 || end[4] != 0: // k has the size of a line, too
		e.All = true
	case n%64 != 0 || uint64(n) > 64*RocksDBMostLines:
		return malformed("%d bytes are not the lines of a RocksDB filter, 64 bytes each", n)
	default:
		e.Probes = k
	}
	e.To, e.Bits = n, 8*uint64(n)
	return nil
}

// otherMarker returns the error for a negative marker that is not markerBloom.
func otherMarker(marker int8) error {
	if marker == markerRibbon {
		return malformed("the filter is a Ribbon filter of RocksDB")
	}
	return malformed("RocksDB has no filter with the marker %#02x", byte(marker))
}

// RocksDBProbes returns the number of probes if the last Trailer bytes of a filter belong to a usual FastLocalBloom, and 0
// if Parse has to tell.
func RocksDBProbes(end []byte) int {
	if k := end[2]; binary.LittleEndian.Uint32(end)&0xff00ffff == 0xff && k <= MaxProbes && end[4] == 0 {
		return int(k)
	}
	return 0
}
