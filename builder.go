package bloom

import "slices"

// Builder collects keys and then sizes a filter by their number, as LevelDB
// does. It keeps 4 bytes a key, or 16 for the formats of 64-bit hashes. It is not
// safe for concurrent use.
type Builder struct {
	policy Policy
	narrow []uint32
	wide   []Hash
}

// Add adds a key. It does not keep it.
func (b *Builder) Add(key []byte) {
	if b.policy.Format.isWide() {
		b.wide = append(b.wide, hash64(key))
	} else {
		b.narrow = append(b.narrow, hash32(key))
	}
}

// AddString adds a key.
func (b *Builder) AddString(key string) {
	if b.policy.Format.isWide() {
		b.wide = append(b.wide, hash64String(key))
	} else {
		b.narrow = append(b.narrow, hash32String(key))
	}
}

// AddBatch adds every key of a column.
func (b *Builder) AddBatch(keys Keys) {
	if b.policy.Format.isWide() {
		b.addWide(keys)
		return
	}
	b.narrow = slices.Grow(b.narrow, keys.n)
	var buffer [window]uint32
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		b.narrow = append(b.narrow, part.hashKeys(&hashes{narrow: buffer[:]}).narrow...)
	}
}

func (b *Builder) addWide(keys Keys) {
	b.wide = slices.Grow(b.wide, keys.n)
	var h1, h2 [window]uint64
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		h := part.hashKeys(&hashes{h1: h1[:], h2: h2[:]})
		for j := range h.h1 {
			b.wide = append(b.wide, Hash{h.h1[j], h.h2[j]})
		}
	}
}

// Len returns the number of keys added since the last Reset, duplicates
// included.
func (b *Builder) Len() int { return len(b.narrow) + len(b.wide) }

// Reset forgets all keys and keeps the memory for the next ones.
func (b *Builder) Reset() { b.narrow, b.wide = b.narrow[:0], b.wide[:0] }

// AppendFilter appends the encoded filter of the keys added since the last
// Reset to dst and returns the extended slice. The keys stay.
func (b *Builder) AppendFilter(dst []byte) []byte {
	if b.policy.Format.isWide() {
		return b.policy.AppendFilter(dst, columnOf(hashes64, b.wide))
	}
	return b.policy.AppendFilter(dst, Hashes32(b.narrow))
}

// hashKeys returns the hashes of a window of rows less its null rows. They lie in
// the buffer.
func (k *Keys) hashKeys(buffer *hashes) hashes {
	if k.validity == nil {
		h := buffer.slice(0, k.n)
		k.hashRows(kernels[0], &h)
		return h
	}
	n := 0
	for i, j := range k.runs {
		part, h := k.slice(i, j), buffer.slice(n, n+j-i)
		part.hashRows(kernels[0], &h)
		n += j - i
	}
	return buffer.slice(0, n)
}
