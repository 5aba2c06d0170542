package encoding

import "math"

// parquet is the split block Bloom filter of Parquet (parquet-format, BloomFilter.md): blocks of 32 bytes and nothing else, at
// least one. In a Parquet file, a header of Thrift's compact protocol stands before the blocks. It is not part of this
// encoding.
var parquet = row{
	text: "parquet", leastPerKey: 1,
	probes: func(int) int { return ParquetProbes },
	bits:   func(n, bitsPerKey float64) float64 { return min(roundUp(max(n*bitsPerKey, 1), 256), 256*MaxBlocks) },
	most:   min(256*MaxBlocks, 8*MostBytes),
}

const (
	ParquetProbes = 8             // of every key: one in each word of its block
	MaxBlocks     = math.MaxInt32 // that parquet-format's BloomFilter.md allows
)

// WholeBlocks reports whether n bytes are blocks, at least one, and as many as there may be.
func WholeBlocks(n int) bool { return n > 0 && n%32 == 0 && uint64(n) <= 32*MaxBlocks }

func parseParquet(data []byte, e *Filter) error {
	if !WholeBlocks(len(data)) {
		return malformed("%d bytes are not the blocks of a Parquet filter, 32 bytes each", len(data))
	}
	e.To, e.Bits, e.Probes = len(data), 8*uint64(len(data)), ParquetProbes
	return nil
}
