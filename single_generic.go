//go:build !amd64 || purego

package bloom

// What assembly does for a single key on amd64: probe_amd64.go says what each function does.

func probeUint64(base **byte, key uint64) (may bool) { return mayContainUint64(base, key) }

func probeHash(base **byte, h1, h2, h3, h4 uint64) (may bool) {
	return mayContainHash(base, h1, h2, h3, h4)
}

func addUint64(base **byte, key uint64) (isNew bool) { return addUint64Generic(base, key) }
