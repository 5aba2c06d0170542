package reference

import (
	"encoding/binary"
	"fmt"
)

// Pebble is LegacyBloomBitsReader::MayMatch of RocksDB, after GetFilterBitsReader. It reads what Pebble's
// tableFilter.MayContain reads, and answers as that does. For bytes that are no such filter, the answer is yes.
func Pebble(filter, key []byte) bool {
	if len(filter) <= 5 {
		return false
	}
	length := uint64(len(filter) - 5)
	k := int8(filter[length])
	if k < 1 {
		return true
	}
	lines := uint64(binary.LittleEndian.Uint32(filter[length+1:]))
	if length > 1<<29 || lines*64 != length && lines*128 != length && lines*256 != length {
		return true
	}
	lineBits := uint32(8 * (length / lines))
	h := SignedHash32(key)
	delta := h>>17 | h<<15
	line := filter[uint64(h%uint32(lines))*uint64(lineBits/8):][:lineBits/8]
	for range k {
		bit := h % lineBits
		if line[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// ExplainPebble explains Pebble.
func ExplainPebble(filter, key []byte) Explanation {
	h := SignedHash32(key)
	delta := h>>17 | h<<15
	e := Explanation{
		Numbers: []Step{
			{"hash", "LevelDB's 32-bit hash of the key, its last bytes signed", uint64(h), 32},
			{"delta", "the hash rotated right by 17 bits", uint64(delta), 32},
		},
		Rule: "512·line + (hash + i·delta) mod 2^32 mod 512",
	}
	length := max(len(filter)-5, 0)
	if length == 0 || filter[length] == 0 { // it answers yes to every key
		return e
	}
	lines := binary.LittleEndian.Uint32(filter[length+1:])
	line, lineBits := h%lines, 8*uint32(uint64(length)/uint64(lines))
	e.Numbers = append(e.Numbers, Step{"line", "the hash modulo the number of lines", uint64(line), 32})
	e.Rule = fmt.Sprintf("%d·line + (hash + i·delta) mod 2^32 mod %[1]d", lineBits)
	for range filter[length] {
		e.Positions = append(e.Positions, uint64(line)*uint64(lineBits)+uint64(h%lineBits))
		h += delta
	}
	return e
}
