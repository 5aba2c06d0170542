package bloom

import (
	"encoding/binary"
	"unsafe"
)

// layout says what column points to.
type layout uint8

const (
	byteSlices layout = 0 // [n][]byte
	strs       layout = 3 // [n]string

	// The numbers of these are the widths of the integers: Integers relies on it.
	uint8s  layout = 1 // [n]uint8
	uint16s layout = 2 // [n]uint16
	uint32s layout = 4 // [n]uint32
	uint64s layout = 8 // [n]uint64
)

const (
	fixedWidth  = uint64s + 1 + iota // nothing: key i is data[i*width : (i+1)*width]
	offsets32                        // [n+1]int32: key i is data[column[i]:column[i+1]]
	offsets64                        // [n+1]int64
	stringViews                      // [n]viewHeader: key i is in its header or in one of the buffers
	hashes32                         // [n]uint32: hashes of one 32-bit word
	hashes64                         // [n]uint64: hashes of one 64-bit word
	hashes128                        // [n]hash128: hashes of two 64-bit words
	hashes256                        // [n]Hash: hashes of four 64-bit words
	noLayout                         // assemblyRows returns it for rows that kernels do not hash
)

var elementSize = [...]uintptr{
	byteSlices:  unsafe.Sizeof([]byte(nil)),
	strs:        unsafe.Sizeof(""),
	uint8s:      1,
	uint16s:     2,
	uint32s:     4,
	uint64s:     8,
	offsets32:   4,
	offsets64:   8,
	stringViews: unsafe.Sizeof(viewHeader{}),
	hashes32:    4,
	hashes64:    8,
	hashes128:   unsafe.Sizeof(hash128{}),
	hashes256:   unsafe.Sizeof(Hash{}),
}

// viewHeader is a row of Arrow's string and binary views.
type viewHeader [16]byte

// inlineBytes is the length of the longest key that its header holds.
const inlineBytes = 12

// words returns the integers of a header. Those of the buffer have a meaning only if the key
// is longer than inlineBytes.
func (h *viewHeader) words() (length, buffer, at int32) {
	word := func(i int) int32 { return int32(binary.NativeEndian.Uint32(h[i:])) }
	return word(0), word(8), word(12)
}

// bigEndian reports whether this machine stores the upper byte of a word first.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
