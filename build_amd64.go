//go:build !purego

package bloom

import "math"

// setAssembly sets bits by number in an array of so many bytes, from the first on,
// and returns how many.
func setAssembly(base *byte, size uint64, places []uint32) int {
	fours := len(places) / 4
	if kernels[0] == Generic || fours == 0 {
		return 0
	}
	setBitsAVX2(base, uint32(min(size&^3*8, math.MaxUint32)), &places[0], fours)
	return 4 * fours
}

// scatterAssembly is scatterGeneric by assembly, or does nothing and returns
// false where there is none.
func (b *regionBuffers) scatterAssembly(places []uint32) (left int, ok bool) {
	if kernels[0] == Generic || len(places) == 0 {
		return 0, false
	}
	return scatterAVX2(&places[0], len(places), regionShift, &b.numbers[0], &b.lines[0], &b.kept[0], b.capacity), true
}

// setBitsAVX2 sets the bits of the given number of fours of places, at least 1.
// Those from bit whole on, a multiple of 32 or the greatest number, are set by
// bytes.
//
//go:noescape
func setBitsAVX2(base *byte, whole uint32, places *uint32, fours int)

// scatterAVX2 is scatterGeneric for n places, at least 1.
//
//go:noescape
func scatterAVX2(places *uint32, n int, shift uint32, numbers, lines, kept *uint32, capacity int) (left int)
