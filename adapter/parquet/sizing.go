package bloomparquet

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/lanebloom/bloom"
)

// Sizing specifies the size of the filters that [Sizing.Filter] builds.
type Sizing struct {
	// Rate is the highest acceptable false-positive rate, between 0 and 1.
	Rate float64
	// AnySize allows every size that is a multiple of 32 bytes, as the format does. If AnySize is false,
	// sizes are powers of two, because Arrow in C++, ClickHouse and Velox do not read filters of other
	// sizes. ClickHouse and Velox even fail if a file has such a filter.
	AnySize bool
}

// mostFilter is the largest filter that Arrow in C++ and in Go read, in bytes.
const mostFilter = 128 << 20

// Filter builds one filter for the keys of all given columns. The filter has the smallest allowed size at
// which its false-positive rate is at most s.Rate. Each key is a value in PLAIN encoding, without a length
// prefix. Duplicate keys do not make the filter larger. The error is [bloom.ErrRate] if no filter can have
// the rate, and [ErrTooMany] if the filter would be larger than 128 MiB.
func (s Sizing) Filter(columns ...bloom.Keys) (*bloom.Filter, error) {
	hashed, n := make([]bloom.Keys, len(columns)), 0
	for i, column := range columns {
		hashed[i] = column.Hashed(bloom.Parquet)
		n += column.Len()
	}
	blocks, err := s.blocks(n)
	if err != nil && !errors.Is(err, ErrTooMany) {
		return nil, err
	}
	filter := filterOf(min(blocks, mostFilter/blockSize), hashed)
	// The set bits tell how many keys differ: to within a part of a percent, unless most bits are set.
	differ := n
	if stats := filter.Stats(); !stats.KeysUnknown && math.Ceil(stats.Keys) < float64(n) {
		differ = int(math.Ceil(stats.Keys))
	}
	if fewer, err := s.blocks(differ); err != nil {
		return nil, err
	} else if fewer < blocks {
		filter = filterOf(fewer, hashed)
	}
	return filter, nil
}

// blocks returns how many blocks of 32 bytes a filter of n keys has.
func (s Sizing) blocks(n int) (int, error) {
	most := mostFilter / blockSize
	keeps := func(n, blocks int) bool {
		return bloom.Parquet.FalsePositiveRate(n, uint64(8*blockSize*blocks), probes) <= s.Rate
	}
	switch {
	case !(s.Rate > 0 && s.Rate < 1):
		return 0, fmt.Errorf("%w: %v is not between 0 and 1", bloom.ErrRate, s.Rate)
	case !keeps(1, most):
		return 0, fmt.Errorf("%w: no Parquet filter can have the rate %v", bloom.ErrRate, s.Rate)
	}
	// The size doubles until it keeps the rate. The smallest size that keeps it lies between this one and its half.
	blocks := 1
	for blocks <= most && !keeps(n, blocks) {
		blocks *= 2
	}
	if s.AnySize && blocks > 1 {
		half := blocks / 2
		blocks = half + 1 + sort.Search(half-1, func(i int) bool { return keeps(n, half+1+i) })
	}
	if blocks > most {
		return blocks, fmt.Errorf("%w: %d keys at a rate of %v need more than %d MiB", ErrTooMany, n, s.Rate, mostFilter>>20)
	}
	return blocks, nil
}

// probes is the number of bits that a key has in its block, one in each word.
const probes = 8

// filterOf returns a filter of a number of blocks.
func filterOf(blocks int, hashed []bloom.Keys) *bloom.Filter {
	set, err := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 8 * blockSize}.NewSet(blocks)
	if err != nil {
		panic(err) // it is not too large
	}
	for _, column := range hashed {
		set.AddBatch(column)
	}
	return set.Filter()
}
