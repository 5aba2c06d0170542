//go:build (amd64 || arm64) && !purego

package bloom

import "unsafe"

// assemblyRows returns the layout of the rows as the kernels take them, the address of the
// rows, and the data that offsets point into. Keys of a fixed width of 4 or 8 bytes become
// integers. The layout is noLayout if Go must hash the rows, because the keys are long.
func (k *Keys) assemblyRows() (l layout, rows, data *byte) {
	l, rows, data = k.layout, (*byte)(k.column), unsafe.SliceData(k.data)
	if l == fixedWidth {
		rows = data
		switch {
		case k.width == 4:
			l = uint32s
		case k.width == 8:
			l = uint64s
		case k.width >= longKey:
			l = noLayout
		}
	}
	return l, rows, data
}

// stride returns the size of a header or offset of keys of any length, and -width for keys of one
// width. It is 0 for other layouts.
func (l layout) stride(width int) int {
	switch l {
	case byteSlices, strs, offsets32, offsets64:
		return int(elementSize[l])
	case fixedWidth:
		return -width
	}
	return 0
}

// addAssembly is add in assembly. It returns false, and does nothing, if the CPU runs none.
func (sums *xxph3Sums) addAssembly(p unsafe.Pointer, n int) bool {
	if kernels[0] == Generic {
		return false
	}
	for ; n > longStripes; n -= longStripes {
		xxph3StripesAssembly(&sums[0], (*byte)(p), longStripes)
		p = unsafe.Add(p, longStripes)
	}
	xxph3StripesAssembly(&sums[0], (*byte)(p), n)
	return true
}
