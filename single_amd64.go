//go:build !purego

package bloom

import "unsafe"

// singlesInAssembly says that testUint64 is faster than other ways to test a key of 8 bytes.
const singlesInAssembly = true

// testUint64 tests a key of 8 bytes. base begins a scheme. It jumps to the function below for
// the pair and the kernel of the scheme, or to mayContainUint64. Go inlines its callers, so a
// key takes one call: with two, Parquet's took 1.15 times as long.
//
//go:noescape
func testUint64(base **byte, key uint64) bool

// testHash is testUint64 for a hash, and mayContainHash.
//
//go:noescape
func testHash(base **byte, h1, h2 uint64, kind hashKind) bool

// The assembly knows where a scheme has its pair and its kernel.
var (
	_ [unsafe.Offsetof(scheme{}.pair) - 32]struct{}
	_ [32 - unsafe.Offsetof(scheme{}.pair)]struct{}
	_ [unsafe.Offsetof(scheme{}.kernel) - 33]struct{}
	_ [33 - unsafe.Offsetof(scheme{}.kernel)]struct{}
)

//go:noescape
func hasUint64Double32AVX2(base **byte, key uint64) bool

//go:noescape
func hasUint64Double64AVX2(base **byte, key uint64) bool

//go:noescape
func hasUint64Split256AVX2(base **byte, key uint64) bool

//go:noescape
func hasUint64Split256AVX512(base **byte, key uint64) bool

//go:noescape
func hasUint64Line512AVX2(base **byte, key uint64) bool

//go:noescape
func hasUint64Line512AVX512(base **byte, key uint64) bool

//go:noescape
func hasUint64Line32AVX2(base **byte, key uint64) bool

//go:noescape
func hasUint64Line32AVX512(base **byte, key uint64) bool

//go:noescape
func hasHashDouble32AVX2(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashDouble64AVX2(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashSplit256AVX2(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashSplit256AVX512(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashLine512AVX2(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashLine512AVX512(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashLine32AVX2(base **byte, h1, h2 uint64, kind hashKind) bool

//go:noescape
func hasHashLine32AVX512(base **byte, h1, h2 uint64, kind hashKind) bool
