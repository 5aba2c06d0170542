package reference

import "encoding/binary"

// salts are the salts of parquet-format's BloomFilter.md.
var salts = [8]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

// Parquet is the check of parquet-format's BloomFilter.md. For bytes that are not a filter, the answer is yes.
func Parquet(filter, key []byte) bool {
	if len(filter) == 0 || len(filter)%32 != 0 || uint64(len(filter)) > 32*(1<<31-1) {
		return true
	}
	h := XXH64(key)
	z := uint64(len(filter) / 32)
	block := filter[32*((h>>32)*z>>32):][:32]
	for i, salt := range salts {
		word := binary.LittleEndian.Uint32(block[4*i:])
		if word&(1<<(uint32(h)*salt>>27)) == 0 {
			return false
		}
	}
	return true
}

// ExplainParquet explains Parquet.
func ExplainParquet(filter, key []byte) Explanation {
	h := XXH64(key)
	block := (h >> 32) * uint64(len(filter)/32) >> 32
	e := Explanation{
		Numbers: []Step{
			{"hash", "XXH64 of the key, seed 0", h, 64},
			{"block", "the upper half of the hash times the number of blocks, divided by 2^32", block, 32},
		},
		Rule: "256·block + 32·i + (lower half of hash · salt i mod 2^32) / 2^27",
	}
	for i, salt := range salts {
		e.Positions = append(e.Positions, 256*block+32*uint64(i)+uint64(uint32(h)*salt>>27))
	}
	return e
}
