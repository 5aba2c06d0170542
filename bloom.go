// Package bloom reads and writes the Bloom filters of storage engines, byte for byte, and tests whole columns
// of keys at once.
//
// A Bloom filter is a small summary of a set of keys. A query for a key has two possible answers: the key is
// certainly not in the set, or the key may be in the set. The second answer is called a hit. A key of the set
// is always a hit. A small fraction of all other keys are hits, too: that fraction is the false-positive
// rate.
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
// A column is many keys in one layout: strings, byte slices, integers, Arrow's offsets. [Keys] refers to the
// memory of a column and copies nothing. One call for a column is several times as fast as a call for each key.
//
// # Formats
//
// A [Format] defines the hash, the bits of a key and the encoding. If a storage engine reads the filter,
// choose the engine's format. Otherwise use [New], or the format [Default]. A [Policy] is a format and a
// number of bits per key; [PolicyFor] computes the number from a false-positive rate.
//
// [Open] returns a [Filter] that reads an engine's bytes in place. These bytes do not contain the name of
// their format, so the caller has to know it.
//
// # Building filters
//
// There are three ways:
//
//   - [Policy.NewFilter], if all keys are available as a column, or [Policy.AppendFilter] for the bytes alone;
//   - a [Builder], which collects keys and then sizes the filter for their number;
//   - a [Set], which has room for a number of keys and can be queried while keys are added. An [AtomicSet] is a
//     set that goroutines may change and query at the same time. A Window of the package window forgets old
//     keys.
//
// # Files
//
// To keep a filter of your own, write it with [Filter.WriteTo] or [Filter.MarshalBinary], and read it with
// [Filter.ReadFrom] or [OpenBinary]. The header of that file contains the format, the number of keys and
// checksums (docs/file-format.md of this module). gob and JSON store the same file.
//
// # Many filters
//
// To look up one key in many filters, use a [Group], or an [Interleaved] for about 64 or more filters of the
// same shape.
//
// # Concurrency
//
// Filter and AtomicSet are safe for concurrent use. A Set is safe for concurrent queries while no goroutine
// changes it. A Builder is for one goroutine.
//
// The hashes have no secret seed: an attacker who chooses the keys can make them collide.
package bloom

//go:generate go -C asm run . -out ../probe_amd64.s -arm64 ../probe_arm64.s

import (
	"encoding/binary"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
)

// Filter is a read-only view of an encoded filter. It keeps a reference to the encoded bytes and never writes
// to them, so they may lie in a read-only mapping. It is safe for concurrent use. The zero Filter has no keys,
// and no query of it is a hit.
//
// The bytes must not change while a Filter is in use, with two exceptions: a [Set] may set bits between
// queries of the Filter that it returned, and an [AtomicSet] may set bits at any time. Open checks the bytes
// once, and the assembly kernels rely on that check. If the bytes change, answers can be wrong. If the bytes
// are unmapped, a query crashes the process.
type Filter struct{ view }

// Open returns a view of the filter that data encodes. It copies nothing and takes constant time, so data can
// be a file mapped into memory, read-only or not.
//
// The error is [ErrFormat] if the format is unknown, and [ErrEncoding] if the bytes are not a filter of the
// format:
//
//   - [Nori] and [NoriCrate]: the header must fit the length, and its number of probes must be possible.
//   - [Parquet]: the bytes must be whole blocks of 32 bytes, at least one.
//   - [RocksDB] and [Pebble]: the bytes must be whole lines and a marker. If the marker belongs to a
//     different filter of RocksDB, the error names that filter.
//   - [BitsAndBlooms]: the filter must have at least one bit that probes can reach, at most 4,096 probes, and
//     as many words as the header claims. Bytes after the words are ignored.
//   - [LevelDB]: there is no error, because every byte string is a LevelDB filter. Fewer than two bytes are
//     the filter of no keys. The last byte is the number of probes: if it is 0 or above 30, every key is a
//     hit.
//
// So Open cannot detect one mistake: to open a whole filter block of LevelDB or goleveldb. The metaindex of a
// table lists that block under the name "filter." and the name of the policy. The block contains many
// filters. Opened as one filter, it gives false negatives. The package adapter/sst opens the filters of a
// block, and docs/stores.md of this module describes the block.
//
// If a filter is larger than the CPU's caches and lies in huge pages, batches are up to three times as fast.
// [Policy.AppendFilter], [Policy.NewSet] and [OpenSet] request huge pages from the system.
func Open(f Format, data []byte) (*Filter, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	return &Filter{v}, nil
}

// MayContain reports whether the key may be present. False is certain. For an absent key, the probability of
// true is the false-positive rate.
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

// MayContainString is MayContain for a string.
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

// MayContainUint64 is MayContain for the 8 little-endian bytes of key.
//
//gcassert:inline
func (v *view) MayContainUint64(key uint64) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.Hash(binary.LittleEndian.AppendUint64(nil, key)))
	}
	return probeUint64(&v.Base, key) // inlined, and a call of assembly
}

// MayContainHash is MayContain for a key whose [Hash] is h. It panics if the filter's format has a different
// hash.
//
//gcassert:inline
func (v *view) MayContainHash(h Hash) bool {
	if detect.Races && v.live != nil && v.scheme.made(h) {
		return v.probeHash(h)
	}
	return probeHash(&v.Base, h.h1, h.h2, h.h3, h.h4) // like MayContainUint64
}

// Bytes returns the encoded filter: the bytes of the format and nothing else. It does not copy: do not write to
// the result. The bytes of a [Set] change when keys are added. The bytes of an [AtomicSet] may change while
// they are read; use AppendFilter for a copy.
func (v *view) Bytes() []byte { return v.data[:len(v.data):len(v.data)] }

// AppendFilter appends the encoded filter to dst and returns the extended slice. It appends the bytes of the
// format and nothing else. [Open] and [OpenSet] read them.
func (v *view) AppendFilter(dst []byte) []byte {
	if detect.Races {
		v = v.still()
	}
	return append(dst, v.data...)
}

// Format returns the format of the encoded bytes.
func (v *view) Format() Format { return v.format }

// KeyCount returns the number of keys that were added, duplicates included. The number is known for a set
// that [Policy.NewSet] returned, for a filter that a [Builder] built, and for a file with the number in its
// header. It is not known for bytes that [Open] or [OpenSet] read: [Filter.Stats] estimates it.
func (v *view) KeyCount() (n uint64, known bool) {
	if v.scheme == 0 {
		return 0, true
	}
	if v.count == nil || v.count.unknown || v.count.n >= mostKeys {
		return 0, false
	}
	return v.count.n, true
}

// Kernel returns the kernel that runs this filter's batches. It is [Generic] for a filter that no other kernel
// supports, because the filter is too large, has too many probes or is not of the usual shape.
func (f *Filter) Kernel() Kernel { return f.kernel }

// WithKernel returns a view of the same bytes that runs its batches on kernel k. The error is [ErrKernel] if
// k is not one of [Kernels]. Every kernel gives the same answers.
func (f *Filter) WithKernel(k Kernel) (*Filter, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	g := *f
	g.setKernel(k)
	return &g, nil
}

// KeyKind returns the kind of the filter's keys, as read from its file or set by [Filter.WithKeyKind] or
// [Builder.SetKeyKind].
func (v *view) KeyKind() KeyKind { return v.kind }

// WithKeyKind returns a view of the same bytes with keys of kind k. Files that the view writes record the
// kind. The error is [ErrKind] if a file cannot store the kind.
func (f *Filter) WithKeyKind(k KeyKind) (*Filter, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	g := *f
	g.kind = k
	return &g, nil
}
