package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/rates"
)

// encodingPebble is the filter of Pebble (cockroachdb/pebble, bloom/bloom.go), and of
// RocksDB's tables before format_version 5 (table/block_based/filter_policy.cc,
// LegacyBloom): lines of 64 bytes, then a byte for the number of probes and four
// little-endian ones for the number of lines. RocksDB wrote lines of 128 and 256 bytes on CPUs
// with such cache lines.
type encodingPebble struct{}

// pebbleMostBytes is the most that lines may take. In larger filters, RocksDB and Pebble set
// different bits: Pebble counts bits modulo 2^32.
const pebbleMostBytes = 1 << 29

// shape has the smallest odd number of lines with n·bitsPerKey bits, and none for no keys. It
// has as many probes as LevelDB. A number of bits per key below 1 counts as 1.
func (encodingPebble) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = max(bitsPerKey, 1)
	k := min(max(int(float64(bitsPerKey)*0.69), 1), maxProbes)
	hi, lo := bits.Mul64(uint64(n), uint64(bitsPerKey))
	if hi != 0 || lo > 8*pebbleMostBytes-512 {
		return shape{}, false
	}
	if lo == 0 {
		return shape{0, k}, true
	}
	return shape{512 * ((lo-1)/512 + 1 | 1), k}, true
}

// frame is all zeros for a filter of no keys, as Pebble writes it.
func (e encodingPebble) frame(s shape, _ int) frame {
	f := frame{after: trailer}
	if s.bits > 0 {
		f.bytes[0] = byte(s.probes)
		e.reshape(f.bytes[:trailer], s)
	}
	return f
}

func (encodingPebble) reshape(encoded []byte, s shape) {
	binary.LittleEndian.PutUint32(encoded[len(encoded)-trailer+1:], uint32(s.bits/512))
}

// parse accepts what RocksDB and Pebble both read. Up to five bytes hold no key, and a filter
// of no probes may hold every key.
func (e encodingPebble) parse(data []byte) ([]byte, shape, error) {
	n := len(data) - trailer
	if n <= 0 {
		return data[:0], shape{}, nil
	}
	k, _, err := e.geometry(data)
	return data[:n], shape{8 * uint64(n), k}, err
}

// geometry returns the number of probes of a filter with lines, and the length of these: 64
// bytes shifted left by log.
func (encodingPebble) geometry(data []byte) (k, log int, err error) {
	n := len(data) - trailer
	k = int(int8(data[n]))
	switch {
	case k == markerYes:
		return 0, 0, nil
	case k == markerBloom:
		return 0, 0, fmt.Errorf("%w: the filter is of RocksDB since format_version 5: open it as %v", ErrEncoding, RocksDB)
	case k == markerRibbon:
		return 0, 0, fmt.Errorf("%w: the filter is a Ribbon filter of RocksDB", ErrEncoding)
	case k < 0:
		return 0, 0, fmt.Errorf("%w: RocksDB has no filter with the marker %#02x", ErrEncoding, byte(k))
	}
	if n > pebbleMostBytes {
		return 0, 0, fmt.Errorf("%w: RocksDB and Pebble have no filter of %d bytes", ErrEncoding, n)
	}
	lines := uint64(binary.LittleEndian.Uint32(data[n+1:]))
	for log = range 3 {
		if lines<<(6+log) == uint64(n) {
			return k, log, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: %d bytes are not %d lines of 64, 128 or 256 bytes", ErrEncoding, n, lines)
}

func (e encodingPebble) decode(data []byte) (bitArray, error) {
	n := len(data) - trailer
	if n <= 0 {
		return bitArray(newLine32(nothing, 1, 0, 1)), nil
	}
	k, log, err := e.geometry(data)
	switch {
	case err != nil:
		return bitArray{}, err
	case k == 0:
		return bitArray(newLine32(everything, 1, 0, 1)), nil
	}
	return bitArray(newLine32(data, uint32(n>>(6+log)), log, k)), nil
}

func (e encodingPebble) size(n, bitsPerKey int) (m float64, k int) {
	s, _ := e.shape(0, bitsPerKey)
	lines := math.Ceil(float64(n) * float64(max(bitsPerKey, 1)) / 512)
	if math.Mod(lines, 2) == 0 {
		lines++
	}
	return 512 * min(lines, pebbleMostBytes/64-1), s.probes
}

func (encodingPebble) rate(n, m float64, k int) float64 { return rates.Pebble(n, m, 512, k) }

func (encodingPebble) expectedSet(s shape, n float64) float64 {
	return rates.PebbleSet(n, float64(s.bits), s.probes)
}
