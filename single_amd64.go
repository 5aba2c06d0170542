//go:build !purego

package bloom

import "unsafe"

// singlesInAssembly says that testUint64 is faster than other ways to test a key of 8 bytes.
const singlesInAssembly = true

// The assembly knows where a scheme has its pair and its kernel.
var (
	_ [unsafe.Offsetof(scheme{}.pair) - 32]struct{}
	_ [32 - unsafe.Offsetof(scheme{}.pair)]struct{}
	_ [unsafe.Offsetof(scheme{}.kernel) - 33]struct{}
	_ [33 - unsafe.Offsetof(scheme{}.kernel)]struct{}
)
