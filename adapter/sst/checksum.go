package bloomsst

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"
)

// checksum is a type of checksums, as a footer numbers them.
type checksum byte

const (
	sumNone checksum = iota
	sumCRC32C
	sumXXH32
	sumXXH64
	sumXXH3
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// of returns the checksum of data, which is not empty.
func (c checksum) of(data []byte) uint32 {
	switch c {
	case sumCRC32C:
		return maskCRC(crc32.Checksum(data, castagnoli))
	case sumXXH32:
		return sum32(data)
	case sumXXH64:
		return uint32(xxhash.Sum64(data))
	case sumXXH3: // RocksDB mixes in the last byte, which is a block's type, without hashing it
		last := len(data) - 1
		return uint32(xxh3.Hash(data[:last])) ^ uint32(data[last])*0x6b9083d9
	}
	return 0
}

// maskCRC changes a CRC as LevelDB does, so that it is no CRC of data that have CRCs.
func maskCRC(crc uint32) uint32 { return bits.RotateLeft32(crc, 17) + 0xa282ead8 }

// The primes of xxHash32.
const (
	prime1 = 0x9e3779b1
	prime2 = 0x85ebca77
	prime3 = 0xc2b2ae3d
	prime4 = 0x27d4eb2f
	prime5 = 0x165667b1
)

// sum32 is xxHash32 with the seed 0.
func sum32(data []byte) uint32 {
	h := uint32(len(data))
	if len(data) < 16 {
		h += prime5
	} else {
		lanes := [4]uint32{(prime1 + prime2) & math.MaxUint32, prime2, 0, -prime1 & math.MaxUint32}
		for ; len(data) >= 16; data = data[16:] {
			for i := range lanes {
				lanes[i] = bits.RotateLeft32(lanes[i]+binary.LittleEndian.Uint32(data[4*i:])*prime2, 13) * prime1
			}
		}
		h += bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) +
			bits.RotateLeft32(lanes[2], 12) + bits.RotateLeft32(lanes[3], 18)
	}
	for ; len(data) >= 4; data = data[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(data)*prime3, 17) * prime4
	}
	for _, b := range data {
		h = bits.RotateLeft32(h+uint32(b)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}
