// Package keyhash has the hashes of the formats, of one key, in portable Go.
//
// Functions with a pointer and a number n read the n bytes there, and no other. They make no pointer past the last of
// them, where another allocation may begin. Those of integers hash the little-endian bytes of the key.
package keyhash
