// Package bloom reads and writes Bloom filters in the exact byte formats of storage engines, and tests whole
// columns of keys at once.
//
// A Bloom filter is a small summary of a set of keys. A query for a key has two possible answers: the key is
// certainly not in the set, or the key may be in the set. The second answer is called a hit. Every key in the
// set is a hit. A small fraction of all other keys are hits too. This fraction is the false-positive rate.
//
//	known, err := bloom.New(1_000_000, 0.01) // room for a million keys; 1 % false positives
//	if err != nil {
//		return err
//	}
//	known.AddString("pear")
//	known.MayContainString("pear")                     // one key
//	for i := range known.Hits(bloom.Strings(column)) { // a column of keys
//		fmt.Println(column[i])
//	}
//
// A column holds many keys in one memory layout, such as a slice of strings, byte slices or integers, or an
// Arrow array. A [Keys] value refers to the memory of a column and copies nothing. One call for a whole
// column is several times as fast as a separate call for each key.
//
// # Formats
//
// A [Format] defines the hash function of a filter, the bits that a key sets, and the encoding. If a storage
// engine will read the filter, choose that engine's format. Otherwise, use [New] or the format [Default]. A
// [Policy] consists of a format and a number of bits per key. [PolicyFor] computes this number from a
// false-positive rate.
//
// [Open] returns a [Filter] that reads an engine's bytes in place. The bytes do not identify their format, so
// the caller must specify the format.
//
// # Building filters
//
// There are three ways to build a filter:
//
//   - If all keys are available as a column, use [Policy.NewFilter], or [Policy.AppendFilter] if you need
//     only the encoded bytes.
//   - If you do not know the number of keys in advance, use a [Builder]. It collects the keys, and then
//     builds a filter of the right size.
//   - To query a filter while you add keys to it, use a [Set]. You choose its capacity when you create it. An
//     [AtomicSet] is a Set that goroutines may change and query at the same time. The package window provides
//     a Window, which forgets old keys.
//
// # Files
//
// To store a filter for your own use, write it with [Filter.WriteTo] or [Filter.MarshalBinary], and read it
// with [Filter.ReadFrom] or [OpenBinary]. The header of the file contains the format, the number of keys and
// checksums (see docs/file-format.md of this module). The packages encoding/gob and encoding/json encode a
// filter as the contents of such a file.
//
// # Many filters
//
// To look up one key in many filters, use a [Group]. If there are about 64 or more filters of the same shape,
// use an [Interleaved].
//
// # Concurrency
//
// A Filter and an AtomicSet are safe for concurrent use. A Set is safe for concurrent queries as long as
// no goroutine changes it. A Builder is not safe for concurrent use.
//
// # Security
//
// The hash functions have no secret seed, so an attacker who controls the keys can cause hash collisions.
package bloom

//go:generate go -C asm run . -out ../probe_amd64.s -arm64 ../probe_arm64.s

import (
	"encoding/binary"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
)

// Filter is a read-only view of an encoded filter. It refers to the encoded bytes and never writes to them,
// so the bytes may be in a read-only memory mapping. A Filter is safe for concurrent use. The zero Filter
// contains no keys, so no query is a hit.
//
// The bytes must not change while a Filter is in use. There are two exceptions. If a [Set] returned the
// Filter, you may add keys to the Set between queries. If an [AtomicSet] returned the Filter, you may add
// keys to the AtomicSet at any time. Any other change of the bytes can make answers wrong. [Open] checks the
// bytes once, and the assembly kernels rely on that check. If the bytes are unmapped, a query crashes the
// process.
type Filter struct{ view }

// Open returns a view of the encoded filter in data. It does not copy data and takes constant time, so data
// can be a memory-mapped file. The mapping may be read-only.
//
// The error is [ErrFormat] if the format is unknown, and [ErrEncoding] if data is not a valid filter in that
// format. What Open checks depends on the format:
//
//   - [Nori] and [NoriCrate]: The size in the header must match the length of data, and the number of probes
//     must be valid.
//   - [Parquet]: The data must consist of one or more whole blocks of 32 bytes.
//   - [RocksDB] and [Pebble]: The data must consist of whole lines, followed by a marker. If the marker
//     belongs to a different kind of RocksDB filter, the error names that kind.
//   - [BitsAndBlooms]: The filter must have at least one bit that probes can reach, at most 4,096 probes, and
//     at least as many words as the header specifies. Open ignores any bytes after these words.
//   - [Guava]: The header must specify the strategy MURMUR128_MITZ_64, at least one probe and at least one
//     word. The data must contain at least as many words as the header specifies. Open ignores any bytes
//     after these words.
//   - [LevelDB]: Open never returns ErrEncoding, because every byte string is a LevelDB filter. If data has
//     fewer than two bytes, it is the filter of no keys. Otherwise, the last byte is the number of probes. If
//     this number is 0 or above 30, every key is a hit.
//
// Open therefore cannot detect that data is a whole filter block of LevelDB or goleveldb. Such a block
// contains many filters, and gives false negatives if it is opened as one filter. In the metaindex of a
// table, the key of this block is "filter." followed by the name of the policy. The package adapter/sst opens
// the filters of a block, and docs/stores.md of this module describes the block.
//
// If a filter is larger than the CPU's caches, huge pages make batches up to three times as fast.
// [Policy.AppendFilter], [Policy.NewSet] and [OpenSet] request huge pages from the operating system.
func Open(f Format, data []byte) (*Filter, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	return &Filter{v}, nil
}

// MayContain reports whether key may be present. If it returns false, the key is certainly absent. For an
// absent key, MayContain returns true with a probability equal to the false-positive rate.
//
//gcassert:inline
//gcassert:noescape
func (v *view) MayContain(key []byte) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.Hash(key))
	}
	if v.oneKey != nil {
		return v.oneKey.ofKey(&v.prober, uintptr(unsafe.Pointer(unsafe.SliceData(key))), len(key))
	}
	return false
}

// MayContainString is like MayContain but accepts the key as a string.
//
//gcassert:inline
//gcassert:noescape
func (v *view) MayContainString(key string) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.HashString(key))
	}
	if v.oneKey != nil {
		return v.oneKey.ofKey(&v.prober, uintptr(unsafe.Pointer(unsafe.StringData(key))), len(key))
	}
	return false
}

// MayContainUint64 is like MayContain for the 8-byte little-endian encoding of key.
//
//gcassert:inline
func (v *view) MayContainUint64(key uint64) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.Hash(binary.LittleEndian.AppendUint64(nil, key)))
	}
	return probeUint64(&v.Base, key) // inlined, and a call of assembly
}

// MayContainHash is like MayContain for the key whose [Hash] is h. It panics if h was not computed with the
// filter's hash function.
//
//gcassert:inline
func (v *view) MayContainHash(h Hash) bool {
	if detect.Races && v.live != nil && v.scheme.made(h) {
		return v.probeHash(h)
	}
	return probeHash(&v.Base, h.h1, h.h2, h.h3, h.h4) // like MayContainUint64
}

// Bytes returns the encoded filter. The result does not include the header of a filter file. It is not a
// copy, so do not modify it. The bytes of a [Set] change when keys are added. The bytes of an [AtomicSet] may
// change while you read them; to get a copy, use AppendFilter.
func (v *view) Bytes() []byte { return v.data[:len(v.data):len(v.data)] }

// AppendFilter appends the encoded filter to dst and returns the extended slice. It does not append the
// header of a filter file. [Open] and [OpenSet] can read the appended bytes.
func (v *view) AppendFilter(dst []byte) []byte {
	if detect.Races {
		v = v.still()
	}
	return append(dst, v.data...)
}

// Format returns the format of the filter.
func (v *view) Format() Format { return v.format }

// KeyCount returns the number of keys that were added, including duplicates, and whether this number is
// known. For example, it is known for a set that [Policy.NewSet] returned, for a filter that a [Builder]
// built, and for a filter that was read from a file whose header records the number. The number is not known
// for a filter that [Open] or [OpenSet] returned, but [Filter.Stats] can estimate it.
func (v *view) KeyCount() (n uint64, known bool) {
	if v.scheme == 0 {
		return 0, true
	}
	if v.count == nil || v.count.unknown || v.count.n >= mostKeys {
		return 0, false
	}
	return v.count.n, true
}

// Kernel returns the kernel that f uses for batches. Only [Generic] supports filters that are very large, have
// many probes or have an unusual shape. For these filters, the result is Generic.
func (f *Filter) Kernel() Kernel { return f.kernel }

// WithKernel returns a Filter that shares the bytes of f and uses kernel k for batches. The error is
// [ErrKernel] if kernel k is not available (see [Kernels]). All kernels give the same answers.
func (f *Filter) WithKernel(k Kernel) (*Filter, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	g := *f
	g.setKernel(k)
	return &g, nil
}

// KeyKind returns the kind of the filter's keys. The kind was read from the filter's file, or set with
// [Filter.WithKeyKind] or [Builder.SetKeyKind].
func (v *view) KeyKind() KeyKind { return v.kind }

// WithKeyKind returns a Filter that shares the bytes of f and has the key kind k. If you write the returned
// Filter to a file, the file records this kind. The error is [ErrKind] if a file cannot store the kind.
func (f *Filter) WithKeyKind(k KeyKind) (*Filter, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	g := *f
	g.kind = k
	return &g, nil
}
