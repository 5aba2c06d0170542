package bloomparquet

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom"
)

// Fill is how full the filter of a row group is.
type Fill struct {
	Bits    int64   // of the filter
	SetBits int64   // of these
	Rate    float64 // the share, 0 to 1, of absent keys that pass, as the set bits tell it
}

// Fill reads the filter of a row group and counts its bits. The error is that of [Column.Filter].
func (c *Column) Fill(i int) (Fill, error) {
	filter := c.whole(i)
	if filter.err != nil {
		return Fill{}, filter.err
	}
	return fillOf(filter.blocks), nil
}

// FillOf counts the bits of a filter of the format [bloom.Parquet].
func FillOf(filter *bloom.Filter) Fill { return fillOf(filter.Bytes()) }

func fillOf(blocks []byte) Fill {
	f := Fill{Bits: 8 * int64(len(blocks)), Rate: rateOf(blocks)}
	for word := 0; word < len(blocks); word += 8 {
		f.SetBits += int64(bits.OnesCount64(binary.LittleEndian.Uint64(blocks[word:])))
	}
	return f
}

// keys returns how many different keys a filter seems to have. Each sets one of the 32 bits of a word in each of the eight words of its
// block, so of the bits of all blocks a share of exp(-keys/(32·blocks)) stays clear.
func (f Fill) keys() float64 {
	const bitsOfWord = 32
	blocks := float64(f.Bits) / (8 * blockSize)
	return -bitsOfWord * blocks * math.Log(float64(f.Bits-f.SetBits)/float64(f.Bits))
}

// rateOf returns the share of all hashes that pass a filter. A hash chooses a block, and a bit in
// each of its eight words: so a block lets the product of their shares of set bits pass.
func rateOf(blocks []byte) float64 {
	sum := 0.0
	for block := range len(blocks) / blockSize {
		product := uint64(1) // up to 32^8
		for word := 0; word < blockSize; word += 4 {
			product *= uint64(bits.OnesCount32(binary.LittleEndian.Uint32(blocks[block*blockSize+word:])))
		}
		sum += float64(product)
	}
	return sum / float64(1<<40) / float64(len(blocks)/blockSize)
}
