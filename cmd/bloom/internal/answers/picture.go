package answers

import "math/bits"

// Picture says how the bits of a filter lie in its picture: in rows of a power of two, which makes it
// about as wide as high. So the 512 bits of a cache line are beside each other.
type Picture struct {
	Bits, Columns, Rows uint64
}

// PictureOf returns the picture of a filter of size bits.
func PictureOf(size uint64) Picture {
	columns := uint64(1) << ((bits.Len64(max(size, 1)-1) + 1) / 2)
	return Picture{size, columns, (size + columns - 1) / columns}
}

// count adds bits to the part of the picture where they are. It has as many parts in a row as in a column.
func (p Picture) count(heat []uint32, cells int, positions []uint64) {
	for _, bit := range positions {
		x, y := bit%p.Columns*uint64(cells)/p.Columns, bit/p.Columns*uint64(cells)/p.Rows
		heat[y*uint64(cells)+x]++
	}
}
