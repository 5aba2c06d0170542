package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/rates"
)

// encodingRocksDB is the filter of RocksDB's tables of format_version 5 and later
// (util/bloom_impl.h and table/block_based/filter_policy.cc, FastLocalBloom): lines of 64
// bytes, and then five bytes. These are a marker, the number of an implementation, the
// number of probes in the lower five bits with the size of a line in the upper three, and
// two bytes of zero.
type encodingRocksDB struct{}

const (
	rocksMostBits  = 100                 // per key; RocksDB replaces larger numbers by this one
	rocksMostLines = math.MaxUint32 / 64 // RocksDB makes no more, however many keys there are
)

// rocksProbes has the most thousandths of a bit per key for 1 probe, 2 probes and so on
// (FastLocalBloomImpl::ChooseNumProbes).
var rocksProbes = [...]int{2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501}

// probes returns the number of probes at so many bits per key.
func (encodingRocksDB) probes(bitsPerKey int) int {
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

// shape has the smallest number of lines with n·bitsPerKey bits, and none for no keys. A
// number of bits per key below 1 counts as 1, and one above 100 as 100. For more than
// 2^35 bits, RocksDB makes a filter of rocksMostLines.
func (e encodingRocksDB) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = min(max(bitsPerKey, 1), rocksMostBits)
	hi, lo := bits.Mul64(uint64(n), uint64(bitsPerKey))
	if hi != 0 || lo > 8*mostBytes {
		return shape{}, false
	}
	lines := lo / 512
	if lo%512 != 0 {
		lines++
	}
	return shape{512 * min(lines, rocksMostLines), e.probes(bitsPerKey)}, true
}

func (encodingRocksDB) frame(s shape, _ int) frame {
	marker := int8(markerBloom)
	return frame{bytes: [24]byte{byte(marker), 0, byte(s.probes)}, after: trailer}
}

// reshape has nothing to do: the frame does not have the number of bits.
func (encodingRocksDB) reshape([]byte, shape) {}

// parse follows BuiltinFilterPolicy::GetFilterBitsReader. Up to five bytes hold no key. A
// filter whose encoding FastLocalBloom reserves answers yes to every key. What is no
// FastLocalBloom is an error.
func (encodingRocksDB) parse(data []byte) ([]byte, shape, error) {
	n := len(data) - trailer
	if n <= 0 {
		return data[:0], shape{}, nil
	}
	array, end := data[:n], data[n:]
	k := int(end[2])
	switch marker := int8(end[0]); {
	case marker == markerYes:
		return array, shape{8 * uint64(n), 0}, nil
	case marker > 0:
		return nil, shape{}, fmt.Errorf("%w: the filter is of RocksDB before format_version 5, or of Pebble: open it as %v", ErrEncoding, Pebble)
	case marker == markerRibbon:
		return nil, shape{}, fmt.Errorf("%w: the filter is a Ribbon filter of RocksDB", ErrEncoding)
	case marker != markerBloom:
		return nil, shape{}, fmt.Errorf("%w: RocksDB has no filter with the marker %#02x", ErrEncoding, end[0])
	case end[1] != 0 || k < 1 || k > maxProbes || end[3] != 0 || end[4] != 0: // k has the size of a line, too
		return array, shape{8 * uint64(n), 0}, nil
	case n%64 != 0 || uint64(n) > 64*rocksMostLines:
		return nil, shape{}, fmt.Errorf("%w: %d bytes are not the lines of a RocksDB filter, 64 bytes each", ErrEncoding, n)
	}
	return array, shape{8 * uint64(n), k}, nil
}

// localProbes returns the number of probes if the last bytes of a filter are those of a usual
// FastLocalBloom, and 0 if parse has to tell.
func localProbes(end []byte) int {
	if k := end[2]; binary.LittleEndian.Uint32(end)&0xff00ffff == 0xff && k <= maxProbes && end[4] == 0 {
		return int(k)
	}
	return 0
}

func (e encodingRocksDB) decode(data []byte) (bitArray, error) {
	lines, s, err := e.parse(data)
	switch {
	case err != nil:
		return bitArray{}, err
	case s.bits == 0:
		return bitArray(newLine512(nothing, 1, 1)), nil
	case s.probes == 0:
		return bitArray(newLine512(everything, 1, 1)), nil
	}
	return bitArray(newLine512(lines, s.bits/512, s.probes)), nil
}

func (e encodingRocksDB) size(n, bitsPerKey int) (m float64, k int) {
	bitsPerKey = min(max(bitsPerKey, 1), rocksMostBits)
	lines := math.Ceil(float64(n) * float64(bitsPerKey) / 512)
	return 512 * min(max(lines, 1), rocksMostLines), e.probes(bitsPerKey)
}

func (encodingRocksDB) rate(n, m float64, k int) float64 {
	if k > maxProbes {
		return 1 // such a number is reserved: the filter answers yes to every key
	}
	return rates.RocksDB(n, m, k)
}

func (encodingRocksDB) expectedSet(s shape, n float64) float64 {
	return rates.RocksDBSet(n, float64(s.bits), s.probes)
}
