package bloomparquet

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom"
)

// Chance is how many keys pass the filter of a row group though no row has them.
type Chance struct {
	// Tested is the number of keys that the filter was asked about: those within the bounds of the
	// row group.
	Tested int
	// Rate is the share, 0 to 1, of absent keys that pass, as the filter's set bits tell it.
	Rate float64
	// Expected is the number of keys that are expected to pass if the row group has none.
	Expected float64
	// Likely says that the count of the row group can be chance: it is at most three standard deviations above Expected. The row
	// group may have keys nevertheless.
	Likely bool
}

// Chance returns how many of the hits are to be expected by chance. It returns false if no filter was
// asked: there is none that can be read, or no key is within the bounds. It reads all
// bits of the filter, which takes about as long as to test some thousand keys. For a row
// group of [Keys.Prune], call it before the loop goes on to the next. For one of a [Matrix], it reads
// the filter again, unless [Column.Load] has read it.
func (r RowGroup) Chance() (Chance, bool) {
	if r.keys == nil || r.Err != nil {
		return Chance{}, false
	}
	c := Chance{Tested: r.keys.countWithin(r.span)}
	switch index := r.Column.index; {
	case index != nil:
		c.Rate = index.rates[r.Index]
	case r.blocks != nil:
		c.Rate = rateOf(r.blocks)
	default:
		filter := r.Column.filter(r.Index, new(buffer))
		if filter.err != nil {
			return Chance{}, false
		}
		c.Rate = rateOf(filter.blocks)
	}
	unsure := 0 // these pass every filter
	for _, word := range r.keys.unsure {
		unsure += bits.OnesCount64(word)
	}
	byFilter := float64(c.Tested-unsure) * c.Rate
	c.Expected = byFilter + float64(unsure)
	c.Likely = float64(r.Count) <= c.Expected+3*math.Sqrt(byFilter*(1-c.Rate))
	return c, true
}

// Fill is how full the filter of a row group is.
type Fill struct {
	Bits    int64   // of the filter
	SetBits int64   // of these
	Rate    float64 // the share, 0 to 1, of absent keys that pass, as the set bits tell it
}

// keys returns how many different keys a filter seems to have. Each sets one of the 32 bits of a word in each of the eight words of its
// block, so of the bits of all blocks a share of exp(-keys/(32·blocks)) stays clear.
func (f Fill) keys() float64 {
	const bitsOfWord = 32
	blocks := float64(f.Bits) / (8 * blockSize)
	return -bitsOfWord * blocks * math.Log(float64(f.Bits-f.SetBits)/float64(f.Bits))
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
