//go:build !purego

package bloom

import "math"

// setAssembly sets the bits at the first places in an array of size bytes, and returns how
// many places it took.
func setAssembly(kernel Kernel, base *byte, size uint64, places []uint32) int {
	fours := len(places) / 4
	if kernel == Generic || fours == 0 {
		return 0
	}
	setPlacesAVX2(base, uint32(min(size&^3*8, math.MaxUint32)), &places[0], fours)
	return 4 * fours
}

// sortAssembly is sortGeneric in assembly. It returns false, and does nothing, if the kernel
// has no assembly.
func (b *regionBuffers) sortAssembly(places []uint32) (left int, ok bool) {
	if b.kernel == Generic || len(places) == 0 {
		return 0, false
	}
	return sortPlacesAVX2(&places[0], len(places), regionShift, &b.numbers[0], &b.lines[0], &b.kept[0], b.capacity), true
}

// setPlacesAVX2 sets the bits at 4·fours places; fours is at least 1. For a place below
// whole, it reads and writes a word of 32 bits; for any other place, a byte. whole is a
// multiple of 32, or 2^32-1.
//
//go:noescape
func setPlacesAVX2(base *byte, whole uint32, places *uint32, fours int)

// sortPlacesAVX2 is sortGeneric for n places, at least 1.
//
//go:noescape
func sortPlacesAVX2(places *uint32, n int, shift uint32, numbers, lines, kept *uint32, capacity int) (left int)
