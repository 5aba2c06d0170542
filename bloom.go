// Package bloom reads and writes the Bloom filters of existing storage engines, byte for byte, and
// tests whole columns of keys at once.
//
// A Bloom filter is a small summary of a set of keys. Asked for a key, it says that the key is certainly
// not in the set, or that it may be. A key of the set never gets a no. A small share of all other keys gets
// "may be": that share is the false-positive rate. A format fixes the hash, the bits of a key and the
// encoding. If a storage engine reads the filter, take its format. For others, [New] takes [Default]:
//
//	known, err := bloom.New(1_000_000, 0.01) // room for a million keys; 1 % of absent keys may pass
//	if err != nil {
//		return err
//	}
//	known.AddString("pear")
//	known.MayContainString("pear")                     // one key
//	for i := range known.Hits(bloom.Strings(column)) { // a column of keys
//		fmt.Println(column[i])
//	}
//
// A column is many keys of one layout: strings, byte slices, integers, Arrow's offsets. [Keys] refers to
// one and copies nothing. One call for a column is several times as fast as a call for each key.
//
// A [Policy] is a format and a number of bits per key; [PolicyFor] finds it for a rate. There are three ways to
// build a filter:
//
//   - [Policy.NewFilter], if all keys are at hand as a column, or [Policy.AppendFilter] for the bytes alone;
//   - a [Builder], which collects keys and then sizes the filter by their number;
//   - a [Set], which has room for a number of keys and can be asked while keys are added. An [AtomicSet]
//     is a set that goroutines may change and query at once. Package window forgets keys: a Window has those of
//     the last 24 hours, say.
//
// [Open] makes a [Filter] of an engine's bytes, without a copy. Such bytes do not name their format. To
// keep a filter of your own, write it with [Filter.WriteTo] or [Filter.MarshalBinary], and read it with
// [Filter.ReadFrom] or [OpenBinary]: the header of that file has the format, the number of keys and
// checksums (docs/file-format.md). gob and JSON store the same file. To ask many filters for one key, make
// them a [Group], or from some 64 filters of one shape on, [Interleaved].
//
// Goroutines may share a Filter, and an AtomicSet also while keys are added. They may ask a Set at once
// while none adds to it. A Builder is for one goroutine. The hashes have no secret: whoever chooses the
// keys can make them collide.
package bloom

//go:generate go -C asm run . -out ../probe_amd64.s -arm64 ../probe_arm64.s

import (
	"encoding/binary"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
)

// Filter is a read-only view of an encoded filter. It keeps a reference to the encoded
// bytes and never writes to them: they may lie in a read-only mapping. It is safe for
// concurrent use. The zero Filter holds no key: it answers no to every query.
//
// The bytes must not change while a Filter is in use, with two exceptions: a [Set] may set
// bits between the queries of its Filter, and an [AtomicSet] at any time. Open checks the bytes once, and the kernels, which
// are assembly, rely on that. If the bytes change, answers can be wrong. If the bytes are
// unmapped, a query ends the program.
type Filter struct{ view }

// Open returns a view of the filter that data encodes. It copies nothing and takes
// constant time, so that data can be a file mapped into memory, read-only or not.
//
// The error is [ErrFormat] if the format is unknown, and [ErrEncoding] if the bytes are not
// a filter. In nori-sstable's formats, the header must fit the length and have a possible
// number of probes. [Parquet] has whole blocks of 32 bytes, at least one. [RocksDB] and
// [Pebble] have whole lines, and a marker after them: if it is that of another of RocksDB's
// filters, the error says which. [BitsAndBlooms] has at least one bit to reach, at most 4,096 probes, and the words that
// its header says; what follows them is ignored.
//
// Open never fails for [LevelDB], because every byte string is a LevelDB filter. Fewer than two bytes are the filter
// of no keys. If the last byte, the number of probes, is 0 or above 30, the filter answers yes to every key.
//
// So Open cannot detect this mistake: the filter block of a table of LevelDB or goleveldb, which the metaindex lists
// as "filter." and a name, contains many filters. Opened as one filter, it gives false negatives. The package
// adapter/sst opens the filters of a block; docs/stores.md of this module describes the block.
//
// A filter larger than the CPU's caches answers batches up to three times as fast in huge
// pages. [Policy.AppendFilter], [Policy.NewSet] and [OpenSet] ask the system for them.
func Open(f Format, data []byte) (*Filter, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	return &Filter{v}, nil
}

// MayContain reports whether key may be among the keys the filter was built from. A no is
// certain. For an absent key, the answer is yes at the false-positive rate.
func (v *view) MayContain(key []byte) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.Hash(key))
	}
	if v.single != nil {
		return v.single.ofKey(&v.prober, uintptr(unsafe.Pointer(unsafe.SliceData(key))), len(key))
	}
	return false
}

// MayContainString is MayContain for a string.
func (v *view) MayContainString(key string) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.HashString(key))
	}
	if v.single != nil {
		return v.single.ofKey(&v.prober, uintptr(unsafe.Pointer(unsafe.StringData(key))), len(key))
	}
	return false
}

// MayContainUint64 is MayContain for the 8 little-endian bytes of key.
func (v *view) MayContainUint64(key uint64) bool {
	if detect.Races && v.live != nil {
		return v.probeHash(v.format.Hash(binary.LittleEndian.AppendUint64(nil, key)))
	}
	return probeUint64(&v.Base, key) // inlined, and a call of assembly
}

// MayContainHash is MayContain for a key whose [Hash] is h. It panics if the filter's format
// has another hash.
func (v *view) MayContainHash(h Hash) bool {
	if detect.Races && v.live != nil && v.scheme.made(h) {
		return v.probeHash(h)
	}
	return probeHash(&v.Base, h.h1, h.h2, h.h3, h.h4) // like MayContainUint64
}

// Bytes returns the encoded filter: the bytes of the format and nothing else. It is no copy. Do not write to
// it. The bytes of a [Set] change when keys are added. Those of an [AtomicSet] may change while they are read:
// AppendFilter returns a copy.
func (v *view) Bytes() []byte { return v.data[:len(v.data):len(v.data)] }

// AppendFilter appends the encoded filter to dst and returns the extended slice. It appends
// the bytes of the format and nothing else. [Open] and [OpenSet] read them.
func (v *view) AppendFilter(dst []byte) []byte {
	if detect.Races {
		v = v.still()
	}
	return append(dst, v.data...)
}

// Format returns the format of the encoded bytes.
func (v *view) Format() Format { return v.format }

// KeyCount returns the number of keys that were added, duplicates included. It is known
// for a [Set] of [Policy.NewSet], for the filter of a [Builder], and for a file whose header
// has it. It is not known for the bytes that [Open] and [OpenSet] read: [Filter.Stats]
// estimates it.
func (v *view) KeyCount() (n uint64, known bool) {
	if v.scheme == 0 {
		return 0, true
	}
	if v.count == nil || v.count.unknown || v.count.n >= mostKeys {
		return 0, false
	}
	return v.count.n, true
}

// Kernel returns the kernel that runs this filter's batches: [Generic] for a filter that no other takes, because it is too large, has too
// many probes or is not of the usual shape.
func (f *Filter) Kernel() Kernel { return f.kernel }

// WithKernel returns a view of the same bytes whose batches run on kernel k,
// or [ErrKernel] if k is not one of [Kernels]. Every kernel gives the same
// answers.
func (f *Filter) WithKernel(k Kernel) (*Filter, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	g := *f
	g.setKernel(k)
	return &g, nil
}

// KeyKind returns what kind of keys the filter has, as its file says it, [Filter.WithKeyKind] or
// [Builder.SetKeyKind].
func (v *view) KeyKind() KeyKind { return v.kind }

// WithKeyKind returns a view of the same bytes whose file names the given kind of keys. The error is
// [ErrKind] if the kind is no name for a file.
func (f *Filter) WithKeyKind(k KeyKind) (*Filter, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	g := *f
	g.kind = k
	return &g, nil
}
