//go:build !amd64 || purego

package bloom

const singlesInAssembly = false

// testUint64 tests a key of 8 bytes. base begins a scheme.
func testUint64(base **byte, key uint64) bool { return mayContainUint64(base, key) }
