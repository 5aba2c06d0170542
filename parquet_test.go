package bloom

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/reference"
)

// vectorsParquet are filters of one block.
var vectorsParquet = []vector{
	{[]string{"hello", "world"}, "000030000002000210040000a000000020020000000080800000201000000108"},
	{nil, "0000000000000000000000000000000000000000000000000000000000000000"},
}

var oddParquet = []oddFilter{
	{"nothing", nil, noFilter},
	{"31 bytes", make([]byte, 31), noFilter},
	{"33 bytes", make([]byte, 33), noFilter},
	{"a block and a half", make([]byte, 48), noFilter},
	{"a header and a block", append([]byte{0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0}, make([]byte, 32)...), noFilter},
	{"a block of no keys", make([]byte, 32), filterAndSet},
	{"a full block", bytes.Repeat([]byte{0xff}, 32), filterAndSet},
	{"three blocks", bytes.Repeat([]byte{0xfe, 0xff, 0x7f, 0xff}, 24), filterAndSet},
}

var testParquet = schemeTest{
	hash: schemeParquet, unit: 256, most: 256 * encoding.MaxBlocks, k: encoding.ParquetProbes,
	bit: func(h Hash, i int, n uint64) uint64 {
		salts := []uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}
		block := h.h1 >> 32 * (n / 256) >> 32
		return 256*block + 32*uint64(i) + uint64(uint32(h.h1)*salts[i]>>27)
	},
	edges: func(n uint64) (edges []Hash) { // around the first hashes of blocks
		z := n / 256
		for _, block := range []uint64{0, 1, z / 2, z - 1} {
			for d := range uint64(3) {
				upper := (block<<32+z-1)/z + d - 1
				for _, lower := range []uint64{0, 1, 1 << 31, 1<<32 - 1} {
					edges = append(edges, Hash{h1: upper<<32 | lower})
				}
			}
		}
		return edges
	},
}

// TestXXH64Integers compares the hashes of integers with the hash of their bytes.
func TestXXH64Integers(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 46))
	for range 10000 {
		key := binary.LittleEndian.AppendUint64(nil, random.Uint64())
		if got := reference.XXH64(key); got != keyhash.XXH64Uint64(binary.LittleEndian.Uint64(key)) {
			t.Fatalf("keyhash.XXH64Uint64 of %x differs", key)
		}
		if got := reference.XXH64(key[:4]); got != keyhash.XXH64Uint32(binary.LittleEndian.Uint32(key)) {
			t.Fatalf("keyhash.XXH64Uint32 of %x differs", key)
		}
	}
}

// createParquet is the insertion of parquet-format's BloomFilter.md, into as many blocks as shape
// says.
func createParquet(keys [][]byte, bitsPerKey int) []byte {
	z := max((uint64(len(keys))*uint64(max(bitsPerKey, 1))+255)/256, 1)
	filter := make([]byte, 32*z)
	for _, key := range keys {
		h := reference.XXH64(key)
		block := filter[32*((h>>32)*z>>32):][:32]
		for i, salt := range probes.ParquetSalts {
			word := block[4*i:]
			binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|1<<(uint32(h)*salt>>27))
		}
	}
	return filter
}
