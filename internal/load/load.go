// Package load reads little-endian words at any address.
package load

import (
	"encoding/binary"
	"unsafe"
)

// Uint32 returns the word of the 4 bytes from byte i of p on.
func Uint32(p unsafe.Pointer, i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, i))[:])
}

// Uint64 returns the word of the 8 bytes from byte i of p on.
func Uint64(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}
