// Package bloom reads and writes the Bloom filters of existing storage
// engines, byte for byte, and tests whole columns of keys at once.
//
// A [Policy] builds filters, [Open] gives a read-only view of encoded bytes,
// and a [Filter] answers for one key ([Filter.MayContain]) or for a column of
// keys in the layout it already has in memory ([Filter.MayContainBatch],
// [Keys]). A [Builder] sizes a filter by the keys it was given; a [Set] has a
// fixed capacity and is tested as it grows.
//
// A Bloom filter never answers no for a key it was built from. It answers yes
// for a small share of all other keys: the false-positive rate, which
// [PolicyFor] turns into a policy. The hashes are not keyed: who can choose
// the keys can choose them to collide.
//
// Filters are safe for concurrent use, and probing one from many goroutines
// shares nothing but reads; Builders and Sets that are being written to are not.
package bloom

//go:generate go -C asm run . -out ../probe_amd64.s -arm64 ../probe_arm64.s

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// Errors are wrapped with the detail of what was wrong; test for them with
// [errors.Is].
var (
	// ErrFormat: the format is not one of the constants.
	ErrFormat = errors.New("bloom: unknown format")
	// ErrEncoding: the bytes are not a filter that can be used as asked.
	ErrEncoding = errors.New("bloom: malformed filter")
	// ErrKeys: offsets, widths or bitmaps do not describe a column of keys.
	ErrKeys = errors.New("bloom: malformed key column")
	// ErrCapacity: the number of keys is negative or the filter too large.
	ErrCapacity = errors.New("bloom: capacity out of range")
	// ErrRate: no filter of the format has the false-positive rate asked for.
	ErrRate = errors.New("bloom: false-positive rate out of reach")
	// ErrShape: two sets differ in format, size or number of probes.
	ErrShape = errors.New("bloom: sets of different shape")
	// ErrKernel: this CPU or this build does not have the kernel.
	ErrKernel = errors.New("bloom: kernel not available")
)

// Format is an on-disk filter format: its hash, its geometry and its encoding.
//
// A value that is none of the constants is a programming error: functions
// that return an error return [ErrFormat] for it, the others panic.
type Format uint8

const (
	// LevelDB is the built-in filter of LevelDB, which goleveldb,
	// golang/leveldb and Badger write too.
	LevelDB Format = iota
	// Nori is the filter of nori-sstable as documented, of two 64-bit hashes:
	// [Open] reads what its code writes as well.
	Nori
	// NoriCrate is the filter of nori-sstable as its code writes it.
	NoriCrate
)

// formats lists what each Format is called. Its order is that of the constants.
var formats = [...]struct{ name, text string }{
	LevelDB:   {name: "leveldb.BuiltinBloomFilter2", text: "leveldb"},
	Nori:      {name: "nori-sstable.bloom", text: "nori"},
	NoriCrate: {name: "nori-sstable.bloom.crate", text: "nori-crate"},
}

func (f Format) valid() bool { return int(f) < len(formats) }

// isWide reports whether the format has 64-bit hashes.
func (f Format) isWide() bool { return f != LevelDB }

// Name returns the name that tables store beside a filter of this format.
// nori-sstable stores none: those of its formats are ours.
func (f Format) Name() string { return formats[f].name }

// String returns the short name that [ParseFormat] reads.
func (f Format) String() string {
	if !f.valid() {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return formats[f].text
}

// ParseFormat returns the format with the given short name, such as "leveldb",
// or [ErrFormat].
func ParseFormat(s string) (Format, error) {
	for f, format := range formats {
		if format.text == s {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("%w %q", ErrFormat, s)
}

// Hash is a key's hash under one format. Hash a key once to probe many
// filters of that format.
type Hash struct{ h1, h2 uint64 } // of a 32-bit hash just h1

// Hash returns the hash of key under f.
func (f Format) Hash(key []byte) Hash {
	_ = formats[f]
	if f.isWide() {
		return hash64(key)
	}
	return Hash{h1: uint64(hash32(key))}
}

// Filter is a read-only view of an encoded filter. It keeps a reference to the
// encoded bytes, which must not change while it is in use, and never writes to
// them: they may lie in a read-only mapping. It is safe for concurrent use.
type Filter struct{ view }

// view answers queries for encoded bytes. [Filter] and [Set] are both one.
type view struct {
	scheme
	data   []byte // the encoded filter
	format Format
	kernel Kernel
}

// Open returns a view of the filter that data encodes. It copies nothing and
// takes constant time, so that data can be a file mapped into memory, read-only
// or not. Of a filter beyond the caches, batches are three times as fast in huge
// pages, which [Policy.AppendFilter] and [OpenSet] ask for.
//
// Every byte string is a filter to LevelDB: one of fewer than two bytes holds
// no key, and one whose last byte, the number of probes, is 0 or above 30 may
// hold every key. So Open fails for a format it does not know ([ErrFormat])
// and never for a byte string in the format LevelDB. In the others the header must
// fit the length, or the error is [ErrEncoding].
func Open(f Format, data []byte) (*Filter, error) {
	v, err := openView(f, data)
	if err != nil {
		return nil, err
	}
	return &Filter{v}, nil
}

func openView(f Format, data []byte) (view, error) {
	if !f.valid() {
		return view{}, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	s, err := decode(f, data)
	return view{scheme: s, data: data, format: f, kernel: kernels[0]}, err
}

// decode returns the walk through an encoded filter of a valid format.
func decode(f Format, data []byte) (s scheme, err error) {
	if f.isWide() {
		s.wide, err = decodeNori(f, data)
	} else {
		s.double32 = decodeLevelDB(data)
	}
	return s, err
}

// MayContain reports whether key may be among the keys the filter was built
// from. A no is certain; a yes is wrong at the false-positive rate.
func (v *view) MayContain(key []byte) bool {
	return v.test(hash32Start(len(key)), unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// MayContainString is MayContain for a string.
func (v *view) MayContainString(key string) bool {
	return v.test(hash32Start(len(key)), unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// MayContainUint64 is MayContain for the 8 little-endian bytes of key.
func (v *view) MayContainUint64(key uint64) bool {
	if v.isWide() {
		return v.wide.test(hash64Uint64(key))
	}
	return v.test(hash32Uint64(key), nil, 0)
}

// MayContainHash is MayContain for the key that h is the hash of, under this
// filter's format.
func (v *view) MayContainHash(h Hash) bool {
	if v.isWide() {
		return v.wide.test(h)
	}
	return v.test(uint32(h.h1), nil, 0)
}

// Kernel returns the kernel that runs this filter's batches.
func (v *view) Kernel() Kernel { return v.kernel }

// WithKernel returns a view of the same bytes whose batches run on kernel k,
// or [ErrKernel] if k is not one of [Kernels]. Every kernel gives the same
// answers.
func (f *Filter) WithKernel(k Kernel) (*Filter, error) {
	if !slices.Contains(kernels, k) {
		return nil, fmt.Errorf("%w: %v", ErrKernel, k)
	}
	g := *f
	g.kernel = k
	return &g, nil
}
