package bloom

import (
	"math/bits"
	"slices"
)

// Builder collects keys and then sizes a filter by their number, as LevelDB
// does. It keeps 4 bytes a key. It is not safe for concurrent use.
type Builder struct {
	policy Policy
	hashes []uint32
}

// Add adds a key. It does not keep it.
func (b *Builder) Add(key []byte) { b.hashes = append(b.hashes, hash32(key)) }

// AddString adds a key.
func (b *Builder) AddString(key string) { b.hashes = append(b.hashes, hash32String(key)) }

// AddBatch adds every key of a column.
func (b *Builder) AddBatch(keys Keys) {
	b.hashes = slices.Grow(b.hashes, keys.n)
	var hashes [window]uint32
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		b.hashes = append(b.hashes, part.hash32Keys(hashes[:])...)
	}
}

// Len returns the number of keys added since the last Reset, duplicates
// included.
func (b *Builder) Len() int { return len(b.hashes) }

// Reset forgets all keys and keeps the memory for the next ones.
func (b *Builder) Reset() { b.hashes = b.hashes[:0] }

// AppendFilter appends the encoded filter of the keys added since the last
// Reset to dst and returns the extended slice. The keys stay.
func (b *Builder) AppendFilter(dst []byte) []byte {
	return b.policy.AppendFilter(dst, Hashes32(b.hashes))
}

// hash32Keys returns the hashes of a window of rows less its null rows. They
// lie in buffer.
func (k *Keys) hash32Keys(buffer []uint32) []uint32 {
	hashes := buffer[:k.n]
	k.hash32(kernels[0], hashes)
	if k.validity == nil {
		return hashes
	}
	keys := hashes[:0]
	for i := 0; i < k.n; i += 64 {
		for rest := k.valid(i, min(64, k.n-i)); rest != 0; rest &= rest - 1 {
			keys = append(keys, hashes[i+bits.TrailingZeros64(rest)])
		}
	}
	return keys
}
