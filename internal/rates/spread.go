package rates

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The functions of this file compute the rate of one given filter: they count how many bits are set in each of its lines or blocks.

const lineBits = 512

// lineOf returns the chance that k independent probes hit set bits only, in a line with this number of set bits.
func lineOf(set, k int) float64 { return math.Pow(float64(set)/lineBits, float64(k)) }

// OfLines returns how many bits of RocksDB's lines are set, and the share of random hashes that pass k probes.
func OfLines(lines []byte, k int) (set uint64, rate float64) {
	var counts [lineBits + 1]uint64 // lines by their set bits
	for rest := lines; len(rest) >= lineBits/8; rest = rest[lineBits/8:] {
		line := (*[lineBits / 8]byte)(rest)
		n := 0
		for i := 0; i < len(line); i += 8 {
			n += bits.OnesCount64(binary.LittleEndian.Uint64(line[i:]))
		}
		counts[n]++
	}
	for n, lines := range counts {
		if lines > 0 {
			set += uint64(n) * lines
			rate += float64(lines) * lineOf(n, k)
		}
	}
	return set, rate / float64(len(lines)/(lineBits/8))
}

// OfBlocks returns how many bits of Parquet's blocks are set, and the share of random hashes that pass: each word of a
// block has one of its 32 bits tested.
func OfBlocks(blocks []byte) (set uint64, rate float64) {
	const block = 32 // bytes
	for rest := blocks; len(rest) >= block; rest = rest[block:] {
		product := uint64(1)
		for i := 0; i < block; i += 8 {
			word := binary.LittleEndian.Uint64(rest[i:])
			low, high := bits.OnesCount32(uint32(word)), bits.OnesCount32(uint32(word>>32))
			set += uint64(low + high)
			product *= uint64(low * high)
		}
		rate += float64(product)
	}
	return set, rate / (1 << 40) / float64(len(blocks)/block)
}
