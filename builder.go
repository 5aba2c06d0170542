package bloom

import (
	"slices"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
)

// Builder collects keys and then builds a filter whose size depends on the number of keys. LevelDB builds its
// filters in the same way. Duplicates count as separate keys, because finding them would take longer than
// building the filter. A Builder stores the hash of every key. A hash takes 4 bytes for [LevelDB] and
// [Pebble], 8 bytes for [Parquet] and [RocksDB], 16 bytes for [Guava], [Nori] and [NoriCrate], and 32 bytes
// for [BitsAndBlooms]. A Builder is not safe for concurrent use.
//
// Use [Policy.NewBuilder] to create a Builder. Methods that add keys panic if they are called on the zero
// Builder.
type Builder struct {
	unstored

	policy Policy
	hash   scheme
	kernel Kernel
	kind   KeyKind

	// The hashes are in the slice for their words. The other slices are empty.
	h32  []uint32
	h64  []uint64
	h128 []hash128
	h256 []Hash
}

// NewBuilder returns an empty builder that uses this policy.
func (p Policy) NewBuilder() *Builder {
	return &Builder{policy: p, hash: p.Format.scheme(), kernel: kernels[0]}
}

// KeyKind returns the kind that was set with SetKeyKind.
func (b *Builder) KeyKind() KeyKind { return b.kind }

// SetKeyKind sets the kind of the keys. If a file cannot store the kind, the error is [ErrKind] and b does
// not change.
func (b *Builder) SetKeyKind(k KeyKind) error {
	err := k.check()
	if err == nil {
		b.kind = k
	}
	return err
}

// Add adds a key. The builder stores only the hash of the key.
//
//gcassert:noescape
func (b *Builder) Add(key []byte) { b.add(unsafe.Pointer(unsafe.SliceData(key)), len(key)) }

// AddString is like Add but accepts the key as a string.
//
//gcassert:noescape
func (b *Builder) AddString(key string) { b.add(unsafe.Pointer(unsafe.StringData(key)), len(key)) }

// add adds the key of n bytes at p.
func (b *Builder) add(p unsafe.Pointer, n int) {
	switch b.hash {
	case schemeLevelDB:
		b.h32 = append(b.h32, keyhash.LevelDB(p, n, keyhash.UnsignedBytes))
	case schemeNori:
		h1, h2 := keyhash.XXH64x2(p, n)
		b.h128 = append(b.h128, hash128{h1, h2})
	case schemeParquet:
		b.h64 = append(b.h64, keyhash.XXH64(p, n))
	default:
		b.mustHavePolicy()
		b.addHash(b.hash.hashKey(p, n))
	}
}

// AddUint64 adds the 8-byte little-endian encoding of key.
func (b *Builder) AddUint64(key uint64) {
	b.mustHavePolicy()
	b.addHash(b.hash.hashUint64(key))
}

// AddHash adds the key whose [Hash] is h. It panics if h was not computed with the hash function of the
// policy's format.
func (b *Builder) AddHash(h Hash) {
	b.mustHavePolicy()
	if h.scheme() != b.hash {
		panicOtherHash(h, b.hash)
	}
	b.addHash(h)
}

// mustHavePolicy panics for the zero Builder.
func (b *Builder) mustHavePolicy() {
	if b.hash == noScheme {
		panic("bloom: a key was added to the zero Builder, which has no policy; Policy.NewBuilder makes builders")
	}
}

// addHash keeps a hash in the slice for its words.
func (b *Builder) addHash(h Hash) {
	switch schemes[b.hash].words {
	case one32:
		b.h32 = append(b.h32, uint32(h.h1))
	case one64:
		b.h64 = append(b.h64, h.h1)
	case two64:
		b.h128 = append(b.h128, hash128{h.h1, h.h2})
	case four64:
		b.h256 = append(b.h256, h)
	}
}

// AddBatch adds every key of a column. It panics if keys is a column of hashes that were not computed with
// the hash function of the policy's format.
func (b *Builder) AddBatch(keys Keys) {
	b.mustHavePolicy()
	keys.mustServe(b.policy.Format)
	words := schemes[b.hash].words
	switch words {
	case one32:
		b.h32 = slices.Grow(b.h32, keys.n)
	case one64:
		b.h64 = slices.Grow(b.h64, keys.n)
	case two64:
		b.h128 = slices.Grow(b.h128, keys.n)
	case four64:
		b.h256 = slices.Grow(b.h256, keys.n)
	}
	keys.eachWindow(b.hash, b.kernel, false, func(_ int, h hashes) {
		switch words {
		case one32:
			b.h32 = append(b.h32, h.h32...)
		case one64:
			b.h64 = append(b.h64, h.h1...)
		case two64:
			for i, h1 := range h.h1 {
				b.h128 = append(b.h128, hash128{h1, h.h2[i]})
			}
		case four64:
			for i := range h.h1 {
				b.h256 = append(b.h256, h.at256(i))
			}
		}
	})
}

// Len returns the number of keys added since the last Reset, including duplicates.
func (b *Builder) Len() int { return len(b.h32) + len(b.h64) + len(b.h128) + len(b.h256) }

// Reset removes all keys. It keeps the allocated memory for the next keys.
func (b *Builder) Reset() {
	b.h32, b.h64, b.h128, b.h256 = b.h32[:0], b.h64[:0], b.h128[:0], b.h256[:0]
}

// AppendFilter builds a filter from the keys added since the last Reset. It appends the encoded filter to dst
// and returns the extended slice. The keys stay in the builder. AppendFilter panics if the filter is too
// large (see [Policy.AppendFilter]).
func (b *Builder) AppendFilter(dst []byte) []byte {
	return b.policy.appendFilter(b.kernel, dst, b.column())
}

// Filter builds a filter from the keys added since the last Reset and returns it. The filter records the
// number of these keys and the kind that was set with SetKeyKind (see [Filter.KeyCount] and
// [Filter.KeyKind]). The keys stay in the builder. Filter panics if the filter is too large (see
// [Policy.AppendFilter]).
func (b *Builder) Filter() *Filter {
	v, _ := openView(b.policy.Format, b.AppendFilter(nil)) // no error: the bytes are ours
	v.count, v.kind = &keyCount{n: uint64(b.Len())}, b.kind
	return &Filter{v}
}

// column returns the hashes as a column.
func (b *Builder) column() (k Keys) {
	switch schemes[b.hash].words {
	case one32:
		k = columnOf(hashes32, b.h32)
	case one64:
		k = columnOf(hashes64, b.h64)
	case two64:
		k = columnOf(hashes128, b.h128)
	case four64:
		k = columnOf(hashes256, b.h256)
	}
	k.hashed = b.hash
	return k
}
