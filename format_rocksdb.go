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

func (encodingRocksDB) frame(shape) (before, after int) { return 0, trailer }

func (encodingRocksDB) putFrame(encoded []byte, s shape, _ int) {
	marker := int8(markerBloom)
	*(*[trailer]byte)(encoded[len(encoded)-trailer:]) = [trailer]byte{byte(marker), 0, byte(s.probes)}
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
		return nil, shape{}, fmt.Errorf("%w: RocksDB has no filter with the marker %d", ErrEncoding, marker)
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

// reference is FastLocalBloomImpl::HashMayMatch, after GetFilterBitsReader. For bytes that
// are no FastLocalBloom, the answer is yes.
func (encodingRocksDB) reference(filter, key []byte) bool {
	if len(filter) <= 5 {
		return false
	}
	length := len(filter) - 5
	meta := filter[length:]
	numProbes := int(meta[2] & 31)
	if int8(meta[0]) != -1 || meta[1] != 0 || meta[2]>>5 != 0 || numProbes < 1 || numProbes > 30 ||
		meta[3] != 0 || meta[4] != 0 || length%64 != 0 || uint64(length) > 0xffffffc0 {
		return true
	}
	h, _ := referenceXXPH3(key)
	line := filter[64*(uint64(uint32(h))*uint64(length/64)>>32):][:64]
	for h2 := uint32(h >> 32); numProbes > 0; numProbes-- {
		bit := h2 >> (32 - 9)
		if line[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h2 *= 0x9e3779b9
	}
	return true
}

// explain returns the bits of all probes. reference stops at the first clear bit.
func (e encodingRocksDB) explain(filter, key []byte) Explanation {
	h, _ := referenceXXPH3(key)
	_, s, _ := e.parse(filter) // no error: it was opened
	line, h2 := uint64(uint32(h))*(s.bits/512)>>32, uint32(h>>32)
	w := Explanation{
		Numbers: []Step{
			{"hash", "XXPH3 of the key", h, 64},
			{"line", "the lower half of the hash times the number of lines, divided by 2^32", line, 32},
			{"start", "the upper half of the hash", uint64(h2), 32},
		},
		Rule: "512·line + (start·2654435769^i mod 2^32) / 2^23",
	}
	for range s.probes {
		w.Positions = append(w.Positions, 512*line+uint64(h2>>23))
		h2 *= 0x9e3779b9
	}
	return w
}
