package bloom

import (
	"encoding/binary"
	"math"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/reference"
)

var vectorsNori = []vector{
	{nil, "0000000000000000070000000a000000"},
}

// vectorsNoriCrate are filters that nori-sstable wrote.
var vectorsNoriCrate = []vector{
	{[]string{"hello", "world"}, "0700000020000000000000008888a8a2"},
	{[]string{"only_key"}, "0700000010000000000000004936"},
	{nil, "070000000000000000000000"},
}

// oddNori are filters with the documented header, and oddNoriCrate with that of the code.
var (
	oddNori = []oddFilter{
		{"documented, no keys", header(Nori, 0, 7), justFilter},
		{"documented", append(header(Nori, 30, 7), make([]byte, 4)...), filterAndSet},
		{"documented, some bits", append(header(Nori, 30, 7), 0xf7, 0xff, 0x3f, 0xff), filterAndSet},
		{"truncated", append(header(Nori, 30, 7), make([]byte, 3)...), noFilter},
		{"trailing byte", append(header(Nori, 30, 7), make([]byte, 5)...), noFilter},
		{"no probes", append(header(Nori, 30, 0), make([]byte, 4)...), noFilter},
		{"documented, no keys and no probes", header(Nori, 0, 0), noFilter},
		{"31 probes", append(header(Nori, 30, 31), make([]byte, 4)...), noFilter},
		{"all bits", append(header(Nori, math.MaxUint64, 7), make([]byte, 4)...), noFilter},
	}
	oddNoriCrate = []oddFilter{
		{"nothing", nil, noFilter},
		{"half a header", make([]byte, 11), noFilter},
		{"crate, no keys", header(NoriCrate, 0, 7), justFilter},
		{"crate, no keys and no probes", make([]byte, 12), justFilter},
		{"crate, power of two", append(header(NoriCrate, 32, 7), make([]byte, 4)...), filterAndSet},
		{"crate, older", append(header(NoriCrate, 30, 7), 0xf7, 0xff, 0x3f, 0xff), filterAndSet},
		{"crate, many probes", append(header(NoriCrate, 30, 70), make([]byte, 4)...), filterAndSet},
		{"crate, most probes", append(header(NoriCrate, 30, encoding.MaxProbesCrate), 0xff, 0xff, 0xff, 0xff), filterAndSet},
		{"crate, too many probes", append(header(NoriCrate, 30, encoding.MaxProbesCrate+1), make([]byte, 4)...), noFilter},
		{"crate, no probes", append(header(NoriCrate, 30, 0), make([]byte, 4)...), noFilter},
		{"crate, 4 billion probes", append(header(NoriCrate, 30, math.MaxUint32), make([]byte, 4)...), noFilter},
		{"crate, trailing byte", append(header(NoriCrate, 32, 7), make([]byte, 5)...), noFilter},
		{"crate, all bits", append(header(NoriCrate, math.MaxUint64-6, 7), 0), noFilter},
	}
)

// header returns a header of nori's: documented, or of the crate.
func header(f Format, n uint64, k uint32) []byte {
	if f == NoriCrate {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, k), n)
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, n), k), 10)
}

// createNori is the construction of nori-sstable's documentation or, for NoriCrate, of its
// code.
func createNori(keys [][]byte, bitsPerKey int, crate bool) []byte {
	bitsPerKey = max(bitsPerKey, 1)
	nBits := uint64(len(keys)) * uint64(bitsPerKey)
	k := max(uint64(math.Ceil(0.693*float64(bitsPerKey))), 1)
	var filter []byte
	if !crate {
		k = min(k, 30)
		filter = binary.LittleEndian.AppendUint64(filter, nBits)
		filter = binary.LittleEndian.AppendUint32(filter, uint32(k))
		filter = binary.LittleEndian.AppendUint32(filter, uint32(bitsPerKey))
	} else {
		for nBits&(nBits-1) != 0 {
			nBits += nBits & -nBits // ends at the next power of two
		}
		filter = binary.LittleEndian.AppendUint32(filter, uint32(k))
		filter = binary.LittleEndian.AppendUint64(filter, nBits)
	}
	header := len(filter)
	filter = append(filter, make([]byte, (nBits+7)/8)...)
	for _, key := range keys {
		h1, h2 := reference.XXH64x2(key)
		for i := range k {
			bit := (h1 + i*h2) % nBits
			filter[header+int(bit/8)] |= 1 << (bit % 8)
		}
	}
	return filter
}
