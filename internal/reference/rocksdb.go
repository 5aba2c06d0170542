package reference

// RocksDB is FastLocalBloomImpl::HashMayMatch, after GetFilterBitsReader. For bytes that are no FastLocalBloom, the answer
// is yes.
func RocksDB(filter, key []byte) bool {
	if len(filter) <= 5 {
		return false
	}
	length := len(filter) - 5
	meta := filter[length:]
	numProbes := int(meta[2] & 31)
	if int8(meta[0]) != -1 || meta[1] != 0 || meta[2]>>5 != 0 || numProbes < 1 || numProbes > 30 ||
		meta[3] != 0 || meta[4] != 0 || length%64 != 0 || uint64(length) > 0xffffffc0 {
		return true
	}
	h := XXPH3(key)
	line := filter[64*(uint64(uint32(h))*uint64(length/64)>>32):][:64]
	for h2 := uint32(h >> 32); numProbes > 0; numProbes-- {
		bit := h2 >> (32 - 9)
		if line[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h2 *= 0x9e3779b9
	}
	return true
}

// ExplainRocksDB explains RocksDB.
func ExplainRocksDB(filter, key []byte) Explanation {
	length, numProbes := max(len(filter)-5, 0), byte(0)
	if length > 0 && int8(filter[length]) == -1 && filter[length+1] == 0 && filter[length+2] <= 30 && filter[length+3] == 0 && filter[length+4] == 0 {
		numProbes = filter[length+2] // others answer yes to every key
	}
	h := XXPH3(key)
	line, h2 := uint64(uint32(h))*uint64(length/64)>>32, uint32(h>>32)
	e := Explanation{
		Numbers: []Step{
			{"hash", "XXPH3 of the key", h, 64},
			{"line", "the lower half of the hash times the number of lines, divided by 2^32", line, 32},
			{"start", "the upper half of the hash", uint64(h2), 32},
		},
		Rule: "512·line + (start·2654435769^i mod 2^32) / 2^23",
	}
	for range numProbes {
		e.Positions = append(e.Positions, 512*line+uint64(h2>>23))
		h2 *= 0x9e3779b9
	}
	return e
}
