//go:build !purego

package bloom

import (
	"math"
	"unsafe"
)

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

// packAssembly moves the chosen ones of the first words to the front: word i is chosen if bit i%64
// of chosen[i/64] is set. It returns how many words it looked at, and how many are left of
// them.
func packAssembly[E uint32 | uint64](kernel Kernel, words []E, chosen []uint64) (done, left int) {
	done = len(words) &^ 15
	if kernel == Generic || done == 0 {
		return 0, 0
	}
	switch p := unsafe.Pointer(&words[0]); {
	case unsafe.Sizeof(words[0]) == 4 && kernel == AVX512:
		left = pack32AVX512((*uint32)(p), &chosen[0], done)
	case unsafe.Sizeof(words[0]) == 4:
		left = pack32AVX2((*uint32)(p), &chosen[0], done)
	case kernel == AVX512:
		left = pack64AVX512((*uint64)(p), &chosen[0], done)
	default:
		left = pack64AVX2((*uint64)(p), &chosen[0], done)
	}
	return done, left
}
