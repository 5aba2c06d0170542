package bloom

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/rates"
)

// encodingParquet is the split block Bloom filter of Parquet (parquet-format,
// BloomFilter.md): blocks of 32 bytes and nothing else. In a Parquet file, a header of
// Thrift's compact protocol stands before the blocks. It is not part of this encoding.
type encodingParquet struct{}

// maxBlocks is the largest number of blocks that parquet-format's BloomFilter.md allows.
const maxBlocks = math.MaxInt32

// shape has the smallest number of blocks with n·bitsPerKey bits, at least one block. A
// number of bits per key below 1 counts as 1.
func (encodingParquet) shape(n, bitsPerKey int) (shape, bool) {
	hi, lo := bits.Mul64(uint64(n), uint64(max(bitsPerKey, 1)))
	if hi != 0 || lo > 256*maxBlocks || lo > 8*mostBytes {
		return shape{}, false
	}
	return shape{(max(lo, 1) + 255) &^ 255, splitProbes}, true
}

func (encodingParquet) frame(shape, int) frame { return frame{} }

// reshape has nothing to do: the frame does not have the number of bits.
func (encodingParquet) reshape([]byte, shape) {}

// wholeBlocks reports whether n bytes are blocks, at least one, and as many as there may be.
func wholeBlocks(n int) bool { return n > 0 && n%32 == 0 && uint64(n) <= 32*maxBlocks }

// parse accepts whole blocks, 1 to 2^31 - 1.
func (encodingParquet) parse(data []byte) ([]byte, shape, error) {
	if !wholeBlocks(len(data)) {
		return nil, shape{}, fmt.Errorf("%w: %d bytes are not the blocks of a Parquet filter, 32 bytes each", ErrEncoding, len(data))
	}
	return data, shape{8 * uint64(len(data)), splitProbes}, nil
}

func (e encodingParquet) decode(data []byte) (bitArray, error) {
	if _, _, err := e.parse(data); err != nil {
		return bitArray{}, err
	}
	return bitArray(newSplit256(data, uint64(len(data)/32))), nil
}

func (encodingParquet) size(n, bitsPerKey int) (m float64, k int) {
	return 256 * min(math.Ceil(float64(n)*float64(max(bitsPerKey, 1))/256), maxBlocks), splitProbes
}

// rate is the mean of wordsRate over the number of keys in the block of an absent key.
func (encodingParquet) rate(n, m float64, _ int) float64 { return rates.Parquet(n, m) }

// expectedSet takes the probes as independent: within a word, they are of different keys.
func (encodingParquet) expectedSet(s shape, n float64) float64 {
	return rates.IndependentSet(n, float64(s.bits), splitProbes)
}
