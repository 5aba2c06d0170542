//go:build !purego

package bloom

// The functions below are testArrays in assembly. They return false, and do nothing, if Go must
// test the key. bits has the bits of the key in its line.

// testArraysDouble32Assembly makes the three probes of first.
func testArraysDouble32Assembly(kernel Kernel, arrays []array, first *[3]uint32) (word uint64, ok bool) {
	if kernel == Generic {
		return 0, false
	}
	clear := [3]uint32{uint32(clearMask[first[0]%8]), uint32(clearMask[first[1]%8]), uint32(clearMask[first[2]%8])}
	return testArraysDouble32AVX2(&arrays[0].base, len(arrays), &first[0], &clear[0]), true
}

// testArraysDouble64Assembly makes the three probes of first.
func testArraysDouble64Assembly(kernel Kernel, arrays []array, first *[3]uint64) (word uint64, ok bool) {
	if kernel == Generic || arrays[0].recip == 0 {
		return 0, false
	}
	return testArraysDouble64AVX2(&arrays[0].base, len(arrays), &first[0]), true
}

func testArraysSplit256Assembly(kernel Kernel, arrays []array, h uint64) (word uint64, ok bool) {
	if kernel == Generic {
		return 0, false
	}
	return testArraysSplit256AVX2(&arrays[0].base, len(arrays), h), true
}

func testArraysLine512Assembly(kernel Kernel, arrays []array, h uint64, bits *lineBits) (word uint64, ok bool) {
	if kernel == Generic {
		return 0, false
	}
	return testArraysLine512AVX2(&arrays[0].base, len(arrays), uint64(uint32(h)), &bits[0]), true
}

func testArraysLine32Assembly(kernel Kernel, arrays []array, h uint32, bits *lineBits) (word uint64, ok bool) {
	if kernel == Generic {
		return 0, false
	}
	return testArraysLine32AVX2(&arrays[0].base, len(arrays), uint64(h), &bits[0]), true
}

// The functions in assembly test a key with n arrays, 1 to 64, of which the first begins at
// arrays. All kernels but Generic have them. For lines, hash is the 32 bits that choose one.

//go:noescape
func testArraysDouble32AVX2(arrays **byte, n int, hashes, clear *uint32) uint64

//go:noescape
func testArraysDouble64AVX2(arrays **byte, n int, hashes *uint64) uint64

//go:noescape
func testArraysSplit256AVX2(arrays **byte, n int, hash uint64) uint64

//go:noescape
func testArraysLine512AVX2(arrays **byte, n int, hash uint64, bits *uint64) uint64

//go:noescape
func testArraysLine32AVX2(arrays **byte, n int, hash uint64, bits *uint64) uint64
