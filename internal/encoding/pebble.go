package encoding

import (
	"encoding/binary"
	"math"
)

// pebble is the filter of Pebble (cockroachdb/pebble, bloom/bloom.go), and of RocksDB's tables before format_version 5
// (table/block_based/filter_policy.cc, LegacyBloom): lines of 64 bytes, then a byte for the number of probes and four
// little-endian ones for the number of lines. RocksDB wrote lines of 128 and 256 bytes on CPUs with such cache lines.
//
// It has the smallest odd number of lines with n·bitsPerKey bits, and none for no keys. It has as many probes as LevelDB.
var pebble = row{
	text: "pebble", after: Trailer, leastPerKey: 1,
	probes: probesLevelDB,
	bits:   bitsPebble,
	most:   8*PebbleMostBytes - 512,
}

// PebbleMostBytes is the most that lines may take. In larger filters, RocksDB and Pebble set different bits: Pebble counts
// bits modulo 2^32.
const PebbleMostBytes = 1 << 29

func bitsPebble(n, bitsPerKey float64) float64 {
	lines := math.Ceil(n * bitsPerKey / 512)
	if lines > 0 && math.Mod(lines, 2) == 0 {
		lines++
	}
	return 512 * min(lines, PebbleMostBytes/64-1)
}

// putPebble leaves zeros in a filter of no keys, as Pebble writes it.
func putPebble(encoded []byte, s Shape) {
	if s.Bits > 0 {
		end := encoded[len(encoded)-Trailer:]
		end[0] = byte(s.Probes)
		binary.LittleEndian.PutUint32(end[1:], uint32(s.Bits/512))
	}
}

// parsePebble accepts what RocksDB and Pebble both read. Up to five bytes hold no key, and a filter of no probes may hold
// every key.
func parsePebble(data []byte, e *Filter) error {
	n := len(data) - Trailer
	if n <= 0 {
		return nil
	}
	e.To, e.Bits = n, 8*uint64(n)
	switch k := int8(data[n]); {
	case k == markerYes:
		e.All = true
		return nil
	case k == markerBloom:
		return malformed("the filter is of RocksDB since format_version 5: open it as %v", RocksDB)
	case k < 0:
		return otherMarker(k)
	case n > PebbleMostBytes:
		return malformed("RocksDB and Pebble have no filter of %d bytes", n)
	default:
		e.Probes = int(k)
	}
	lines := uint64(binary.LittleEndian.Uint32(data[n+1:]))
	for e.Doublings = range 3 {
		if lines<<(6+e.Doublings) == uint64(n) {
			return nil
		}
	}
	return malformed("%d bytes are not %d lines of 64, 128 or 256 bytes", n, lines)
}
