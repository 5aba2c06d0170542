//go:build !amd64 || purego

package bloom

// There is no assembly here: Go does all the work.

func testArraysDouble32Assembly(Kernel, []array, *[3]uint32) (word uint64, ok bool) {
	return 0, false
}

func testArraysDouble64Assembly(Kernel, []array, *[3]uint64) (word uint64, ok bool) {
	return 0, false
}

func testArraysSplit256Assembly(Kernel, []array, uint64) (word uint64, ok bool) { return 0, false }

func testArraysLine512Assembly(Kernel, []array, uint64, *lineBits) (word uint64, ok bool) {
	return 0, false
}

func testArraysLine32Assembly(Kernel, []array, uint32, *lineBits) (word uint64, ok bool) {
	return 0, false
}
