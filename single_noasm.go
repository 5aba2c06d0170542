//go:build !amd64 || purego

package bloom

const singlesInAssembly = false

// testUint64 tests a key of 8 bytes. base begins a scheme.
func testUint64(base **byte, key uint64) bool { return mayContainUint64(base, key) }

// testHash tests a hash. base begins a view.
func testHash(base **byte, h1, h2 uint64, kind uint8) bool {
	return mayContainHash(base, h1, h2, hashKind(kind))
}

func (d *line512) has(h uint64) bool { return d.test(h) }

func (d *line32) has(h uint32) bool { return d.test(h) }
