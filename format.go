package bloom

import (
	"fmt"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/reference"
)

// Format is an on-disk filter format: a hash, a walk from the hash to bits, sizes and an
// encoding.
//
// The zero Format is [Default]. A value that is none of the constants is a programming error.
// Functions that return an error return [ErrFormat] for it; the others, except String, panic.
// Files, text, JSON and gob have the short name of a format and never its number. gob leaves out a
// field that is zero, which is Default when it is read.
type Format uint8

const (
	// RocksDB is RocksDB's FastLocalBloom, of tables of format_version 5 and later, with a hash of 64
	// bits. A filter has up to 4 GiB, which is 3.4 billion keys at a rate of 1 %; of ten billion keys, 32 % of
	// the absent ones pass that size. docs/rocksdb.md of this module has the bytes of this format and of
	// Pebble's. RocksDB's builder skips a key whose hash is that of the key before it. This library counts
	// every key: skip equal neighbours to make filters of the same size.
	RocksDB Format = iota
	// LevelDB is the built-in filter of LevelDB, which goleveldb,
	// golang/leveldb and Badger write too. Its hash has 32 bits: numbers as keys can have far more
	// false positives than others ([Format.FalsePositiveRate]).
	LevelDB
	// Pebble is the filter of Pebble, and of RocksDB's tables before format_version 5. Its hash is
	// LevelDB's, with the same weakness. Some walks test a single bit, so a rate of 0.1 % takes some 90 bits per
	// key, and 0.01 % some 800. Equal neighbours are as for RocksDB. A filter has up to 512 MiB.
	Pebble
	// Parquet is the split block filter of Parquet files: its blocks, without the header. Its hash
	// has 64 bits.
	Parquet
	// Nori is the filter of nori-sstable as its documentation describes it, with two
	// 64-bit hashes. With this format, [Open] also reads the filters of NoriCrate. Fewer than some hundred keys
	// have a higher rate: 20 keys 1.5 times that of many at 10 bits per key, and 6 times at 16.
	Nori
	// NoriCrate is the filter of nori-sstable as its code writes it.
	NoriCrate
	// BitsAndBlooms is what github.com/bits-and-blooms/bloom writes: by WriteTo, MarshalBinary and gob. Loki, Tempo,
	// Weaviate and many other programs in Go store it. Its hash has 256 bits. A filter has up to 4,096 probes. Its
	// numbers and its words of bits are big-endian: a program that has changed bitset's order of bytes writes another
	// format. docs/bits-and-blooms.md of this module is about such programs.
	BitsAndBlooms
	// Guava is what BloomFilter.writeTo of Java's com.google.common.hash writes, with its usual strategy,
	// MURMUR128_MITZ_64. Its hash has 128 bits. A filter has 1 to 2^31 - 1 words of 64 bits, and up to 255 probes. A
	// key is the bytes that the Funnel puts: a byte array as it is, a string in UTF-16, little-endian
	// (unencodedCharsFunnel), or in the charset of stringFunnel, and a long as 8 little-endian bytes ([Set.AddUint64]).
	Guava
)

// Default is the format to take if no storage engine reads the filter: a key lies in one cache line,
// and its hash has 64 bits. It is the zero Format, and so that of Policy{BitsPerKey: 10}. Its filters have
// up to 4 GiB.
const Default = RocksDB

// A format names its hash and its walk and adds an encoding. A new one is a constant above,
// a line in this table, a file X.go, a file of internal/reference, and an arm in each switch of this file.

// formats describes each Format, in the order of the constants.
var formats = [...]struct {
	name, text string // as tables store it, and as ParseFormat reads it
	scheme     scheme
	encoding
	explain func(filter, key []byte) reference.Explanation
}{
	RocksDB:   {"rocksdb.BuiltinBloomFilter", "rocksdb", schemeRocksDB, encodingRocksDB{}, reference.ExplainRocksDB},
	LevelDB:   {"leveldb.BuiltinBloomFilter2", "leveldb", schemeLevelDB, encodingLevelDB{}, reference.ExplainLevelDB},
	Pebble:    {"rocksdb.BuiltinBloomFilter", "pebble", schemePebble, encodingPebble{}, reference.ExplainPebble},
	Parquet:   {"parquet.SplitBlock", "parquet", schemeParquet, encodingParquet{}, reference.ExplainParquet},
	Nori:      {"nori-sstable.bloom", "nori", schemeNori, encodingNori{}, reference.ExplainNori},
	NoriCrate: {"nori-sstable.bloom.crate", "nori-crate", schemeNori, encodingNori{crate: true}, reference.ExplainNoriCrate},

	BitsAndBlooms: {"bits-and-blooms", "bits-and-blooms", schemeBitsAndBlooms, encodingBitsAndBlooms{}, reference.ExplainBitsAndBlooms},
	Guava:         {"guava.MURMUR128_MITZ_64", "guava", schemeGuava, encodingGuava{}, reference.ExplainGuava},
}

// encoding is what a format has beside its hash and its walk. It is an interface so that
// the compiler names what a new format lacks. It is not for hot paths: arguments of an
// interface's methods escape to the heap.
type encoding interface {
	// shape returns the shape of a filter of n keys. Its bits may be 0 only if n is 0. It
	// returns false if the bits take more than mostBytes, or more than the format allows.
	shape(n, bitsPerKey int) (shape, bool)
	// frame returns what the encoding has before and after the bits of a filter.
	frame(s shape, bitsPerKey int) frame
	// reshape rewrites the frame of an encoded filter for another number of bits.
	reshape(encoded []byte, s shape)
	// parse finds the bits in an encoded filter, or returns ErrEncoding. The bits are a slice
	// of data, and their capacity ends where that of data does: fileStart relies on it.
	parse(data []byte) (bits []byte, s shape, err error)
	// decode is parse for the hot path: it returns the array of the format's walk. For a
	// filter that answers without testing its bits, the array has other bits, which give the
	// same answer.
	decode(data []byte) (bitArray, error)

	// size returns the numbers of bits and of probes of a filter of n keys. n is at least 1, and may be far
	// too large for a shape.
	size(n, bitsPerKey int) (m float64, k int)
	// rate returns the expected share of absent keys that pass k probes, at least 1, of a
	// filter of m bits, at least 1, with n keys, at least 1, of random hashes.
	rate(n, m float64, k int) float64
	// expectedSet returns how many of a filter's bits n different keys are expected to set.
	expectedSet(s shape, n float64) float64
}

// frame is the bytes that an encoding has around the bits of a filter. It has an array, and no slices: these would be allocated.
type frame struct {
	bytes         [24]byte // those before the bits, and then those after them
	before, after int
}

// put writes the bytes to an encoded filter.
func (f *frame) put(encoded []byte) {
	copy(encoded, f.bytes[:f.before])
	copy(encoded[len(encoded)-f.after:], f.bytes[f.before:])
}

// newFilter returns an empty filter. The memory is that of newEncoded.
func (f Format) newFilter(s shape, bitsPerKey int) []byte {
	around := formats[f].frame(s, bitsPerKey)
	data := newEncoded(around.before, formats[f].scheme.bytesOf(s.bits)+around.after)
	around.put(data)
	return data
}

// shape is the geometry of a filter.
type shape struct {
	bits   uint64 // length of the array of bits, 0 if it holds nothing
	probes int    // 0 if it answers yes to every key
}

func (f Format) valid() bool { return int(f) < len(formats) }

// mustBe panics for a value that is no format.
func (f Format) mustBe() {
	if !f.valid() {
		panic(noFormat(f))
	}
}

// noFormat is a function of its own, so that those that call it are inlined.
//
//go:noinline
func noFormat(f Format) string { return "bloom: " + f.String() + " is no format" }

func (f Format) hash() scheme {
	if f.valid() {
		return formats[f].scheme
	}
	panic(noFormat(f))
}

// HashBits returns the number of bits of the format's hash: 32, 64, 128 or 256. Of filters of n keys, at least
// n / 2^HashBits of the absent keys pass: those with the hash of a key.
func (f Format) HashBits() int { return schemes[f.hash()].words.bits() }

// Hash returns the hash of key under f.
func (f Format) Hash(key []byte) Hash {
	// This is f.hash().of, without its call and the table: they would take half as many instructions as the hash.
	p, n := unsafe.Pointer(unsafe.SliceData(key)), len(key)
	switch f {
	case LevelDB:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.UnsignedBytes)), 0, schemeLevelDB)
	case Nori, NoriCrate:
		return schemeNori.twoWords(keyhash.XXH64x2(p, n))
	case Parquet:
		return shortHash(keyhash.XXH64(p, n), 0, schemeParquet)
	case RocksDB:
		if n <= keyhash.ShortXXPH3 {
			return shortHash(keyhash.XXPH3Short(p, n), 0, schemeRocksDB)
		}
		return shortHash(xxph3At(p, n), 0, schemeRocksDB)
	case Pebble:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.SignedBytes)), 0, schemePebble)
	case BitsAndBlooms:
		return fourWords(keyhash.Murmur3x2(p, n))
	case Guava:
		return schemeGuava.twoWords(keyhash.Murmur3(p, n))
	}
	panic(noFormat(f))
}

// HashString is Hash for a string. It takes no copy.
func (f Format) HashString(key string) Hash {
	return f.Hash(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// HashFrom returns the Hash of a key whose hash the caller knows already. For [LevelDB], h
// has LevelDB's hash in the lower 32 bits, as Badger keeps it; for [Pebble], that with signed
// bytes. For [Parquet], h is XXH64 with the seed 0; for [RocksDB], XXPH3. HashFrom panics for
// formats whose hash has more than one word.
func (f Format) HashFrom(h uint64) Hash {
	kind := f.hash()
	switch schemes[kind].words {
	case one32:
		return shortHash(uint64(uint32(h)), 0, kind)
	case one64:
		return shortHash(h, 0, kind)
	}
	panic(fmt.Sprintf("bloom: the hash of %v has several words, but HashFrom takes one", f))
}

// Name returns the name that tables store beside a filter of this format. [RocksDB] and
// [Pebble] have one name: the filters of both are in blocks "fullfilter." and the name, or in those that the
// index "partitionedfilter." and the name lists, and their last bytes tell which it is. nori-sstable, Parquet, bits-and-blooms and Guava store none: the
// names of their formats are this library's.
func (f Format) Name() string {
	f.mustBe()
	return formats[f].name
}

// String returns the short name that [ParseFormat] reads.
func (f Format) String() string {
	if !f.valid() {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return formats[f].text
}

// Formats returns all formats, in the order of their constants.
func Formats() []Format {
	all := make([]Format, len(formats))
	for i := range all {
		all[i] = Format(i)
	}
	return all
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

// decode returns the array of an encoded filter. It is a switch because the filter would
// escape through the table.
func (f Format) decode(data []byte) (bitArray, error) {
	switch f {
	case RocksDB:
		return encodingRocksDB{}.decode(data)
	case LevelDB:
		return encodingLevelDB{}.decode(data)
	case Pebble:
		return encodingPebble{}.decode(data)
	case Parquet:
		return encodingParquet{}.decode(data)
	case Nori:
		return encodingNori{}.decode(data)
	case NoriCrate:
		return encodingNori{crate: true}.decode(data)
	case BitsAndBlooms:
		return encodingBitsAndBlooms{}.decode(data)
	case Guava:
		return encodingGuava{}.decode(data)
	}
	panic(noFormat(f))
}

// Reference reports whether key may be in the encoded filter. It follows the format letter
// by letter, with none of this library's shortcuts. It is the definition that every kernel
// is tested against. For [LevelDB] it is the loop that LevelDB's ports to Go run. It is
// exported for comparisons; [Policy.MayContain] gives the same answers.
func Reference(f Format, filter, key []byte) bool {
	switch f { // as in decode
	case RocksDB:
		return reference.RocksDB(filter, key)
	case LevelDB:
		return reference.LevelDB(filter, key)
	case Pebble:
		return reference.Pebble(filter, key)
	case Parquet:
		return reference.Parquet(filter, key)
	case Nori:
		return reference.Nori(filter, key)
	case NoriCrate:
		return reference.NoriCrate(filter, key)
	case BitsAndBlooms:
		return reference.BitsAndBlooms(filter, key)
	case Guava:
		return reference.Guava(filter, key)
	}
	panic(noFormat(f))
}

// trailer is the number of bytes after the lines, in the formats of RocksDB and Pebble.
const trailer = 5

// The markers: the first byte after the lines. A positive one is the number of probes in
// a filter of the older format, which is encodingPebble's.
const (
	markerYes    = 0  // a filter that answers yes to every key
	markerBloom  = -1 // encodingRocksDB
	markerRibbon = -2
)

// Explanation says how a filter looks for one key: the numbers that lead from the key to its
// bits, and the bits.
type Explanation struct {
	Numbers []Step // the key's hash first

	// Rule is a formula in words for the bit that probe i tests, counted from 0. It uses
	// the names of the numbers.
	Rule string

	// Positions holds the number of the bit that each probe tests, in order. It is empty if
	// the filter answers without testing its bits.
	Positions []uint64
}

// Step is a number that a format computes on the way from a key to its bits.
type Step struct {
	Name    string // such as "hash"
	Meaning string // such as "XXH64 of the key, seed 0"
	Value   uint64
	Bits    int // the width of Value
}
