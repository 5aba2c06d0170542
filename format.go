package bloom

import (
	"fmt"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/rates"
	"github.com/lanebloom/bloom/internal/reference"
)

// Format is an on-disk filter format. A format defines the hash, the bits that a hash selects, the possible
// sizes and the encoding.
//
// The zero Format is [Default]. A value that is not one of the constants is a programming error. For such a
// value, functions that return an error return [ErrFormat]. The other functions panic, except String. Files,
// text, JSON and gob contain the short name of a format and never its number. gob omits zero fields, so a
// missing format is read as Default.
type Format uint8

const (
	// RocksDB is RocksDB's FastLocalBloom filter, in tables of format_version 5 or later. Its hash has 64
	// bits. A filter has at most 4 GiB, enough for 3.4 billion keys at a rate of 1 %. With ten billion keys
	// in 4 GiB, the rate is 32 %. docs/rocksdb.md of this module describes the bytes of the formats RocksDB
	// and Pebble. RocksDB's builder skips a key that has the same hash as the key before it. This library
	// counts every key. To build filters of the same size, leave out each key that is equal to the key before
	// it.
	RocksDB Format = iota
	// LevelDB is the built-in filter of LevelDB. goleveldb, golang/leveldb and Badger write it, too. Its hash
	// has 32 bits. Keys that are numbers can have far more false positives than other keys
	// ([Format.FalsePositiveRate]).
	LevelDB
	// Pebble is the filter of Pebble, and of RocksDB's tables before format_version 5. Its hash is LevelDB's,
	// with the same weakness. Some keys have a single bit, so a rate of 0.1 % needs about 90 bits per key,
	// and 0.01 % about 800. Like RocksDB's builder, Pebble's builder skips equal neighbours. A filter has at
	// most 512 MiB.
	Pebble
	// Parquet is the split block filter of Parquet files: only its blocks, without the header. Its hash has
	// 64 bits.
	Parquet
	// Nori is the filter that the documentation of nori-sstable describes. It uses two 64-bit hashes. With
	// this format, [Open] also reads the filters of NoriCrate. Filters of fewer than a few hundred keys have
	// a higher rate: for 20 keys, 1.5 times the usual rate at 10 bits per key, and 6 times at 16.
	Nori
	// NoriCrate is the filter that the code of nori-sstable writes.
	NoriCrate
	// BitsAndBlooms is the filter that github.com/bits-and-blooms/bloom writes with WriteTo, MarshalBinary
	// and gob. Loki, Tempo, Weaviate and many other programs in Go store it. Its hash has 256 bits. A filter
	// has up to 4,096 probes. The numbers and the words of bits in its bytes are big-endian. A program that
	// has changed the byte order of the package bitset writes a different format. docs/bits-and-blooms.md of
	// this module describes such programs.
	BitsAndBlooms
	// Guava is the filter that BloomFilter.writeTo of Java's com.google.common.hash writes, with its usual
	// strategy, MURMUR128_MITZ_64. Its hash has 128 bits. A filter has 1 to 2^31 - 1 words of 64 bits, and up
	// to 255 probes. A key is the bytes that the Funnel puts into the hash. byteArrayFunnel puts the bytes of
	// the array, unencodedCharsFunnel puts the string in little-endian UTF-16, stringFunnel puts the string
	// in its charset, and longFunnel puts 8 little-endian bytes ([Set.AddUint64]).
	Guava
)

// Default is the format to choose if no storage engine reads the filter. All bits of a key lie in one cache
// line, and the hash has 64 bits. Default is the zero Format, so Policy{BitsPerKey: 10} uses it. A filter has
// at most 4 GiB.
const Default = RocksDB

// formats describes each Format, in the order of the constants.
var formats = [...]struct {
	name   string // as tables store it
	scheme scheme

	rate    func(n, m float64, k int) float64 // of filters of m bits with n keys and k probes, each at least 1; nil for rateLevelDB
	set     func(n, m float64, k int) float64 // how many of their bits are expected to be set; n may be infinite
	explain func(filter, key []byte) reference.Explanation
}{
	RocksDB:   {"rocksdb.BuiltinBloomFilter", schemeRocksDB, rates.RocksDB, rates.RocksDBSet, reference.ExplainRocksDB},
	LevelDB:   {"leveldb.BuiltinBloomFilter2", schemeLevelDB, nil, rates.LevelDBSet, reference.ExplainLevelDB},
	Pebble:    {"rocksdb.BuiltinBloomFilter", schemePebble, rates.Pebble, rates.PebbleSet, reference.ExplainPebble},
	Parquet:   {"parquet.SplitBlock", schemeParquet, rates.Parquet, rates.IndependentSet, reference.ExplainParquet},
	Nori:      {"nori-sstable.bloom", schemeNori, rates.DoubleHashing, rates.IndependentSet, reference.ExplainNori},
	NoriCrate: {"nori-sstable.bloom.crate", schemeNori, rates.DoubleHashing, rates.IndependentSet, reference.ExplainNoriCrate},

	BitsAndBlooms: {"bits-and-blooms", schemeBitsAndBlooms, rates.Crossed, rates.IndependentSet, reference.ExplainBitsAndBlooms},
	Guava:         {"guava.MURMUR128_MITZ_64", schemeGuava, rates.DoubleHashing, rates.IndependentSet, reference.ExplainGuava},
}

// shape is the geometry of a filter.
type shape = encoding.Shape

func (f Format) encoding() encoding.Format { return encoding.Format(f) }

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
func noFormat(f Format) string { return "bloom: " + f.String() + " is not a format" }

func (f Format) scheme() scheme {
	if f.valid() {
		return formats[f].scheme
	}
	panic(noFormat(f))
}

// HashBits returns the number of bits of the format's hash: 32, 64, 128 or 256. In a filter of n keys, at least
// a fraction n / 2^HashBits of absent keys are false positives, because they have the same hash as a key.
func (f Format) HashBits() int { return schemes[f.scheme()].words.bits() }

// Name returns the name that tables store beside a filter of this format. [RocksDB] and [Pebble] have the
// same name: the last bytes of a filter identify its format. In their tables, a filter is the block named
// "fullfilter." and the name, or one of the blocks that an index lists. That index is the block named
// "partitionedfilter." and the name. nori-sstable, Parquet, bits-and-blooms and Guava store no name. For
// their formats, this library chose a name.
func (f Format) Name() string {
	f.mustBe()
	return formats[f].name
}

// String returns the short name that [ParseFormat] reads.
func (f Format) String() string {
	if !f.valid() {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return f.encoding().String()
}

// Formats returns all formats, in the order of their constants.
func Formats() []Format {
	all := make([]Format, len(formats))
	for i := range all {
		all[i] = Format(i)
	}
	return all
}

// ParseFormat returns the format with the given short name, such as "leveldb", or [ErrFormat].
func ParseFormat(s string) (Format, error) {
	for f := range Format(len(formats)) {
		if f.String() == s {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w %q", ErrFormat, s)
}

// Reference reports whether key may be in the encoded filter. It follows the definition of the format step by
// step, without optimizations, and every kernel is tested against it. For [LevelDB], Reference runs the same
// loop as the Go ports of LevelDB. It is exported for comparisons; [Policy.MayContain] gives the same
// answers.
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

// Explanation describes how a filter looks up one key: the numbers that lead from the key to its bits, and the
// bits.
type Explanation struct {
	Numbers []Step // the key's hash first

	// Rule is a formula in words for the bit that probe i tests, counted from 0. It uses the names of the
	// numbers.
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
