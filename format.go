package bloom

import (
	"fmt"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/rates"
	"github.com/lanebloom/bloom/internal/reference"
)

// Format is an on-disk filter format. It defines the hash function, the bits that a hash selects, the possible
// sizes of a filter, and the encoding.
//
// The zero Format is [Default]. Using a value that is not one of the constants is a programming error. For such
// a value, functions that can return an error return [ErrFormat]. All other functions panic, except String.
//
// Files, text, JSON and gob store the short name of a format, never its number. Gob omits zero fields, and
// Default is the zero Format. Therefore, if a gob stream has no value for a Format field, the format is
// Default.
type Format uint8

const (
	// RocksDB is RocksDB's FastLocalBloom filter. Tables with a format_version of 5 or more use this filter.
	// Its hash has 64 bits. A filter is at most 4 GiB in size, which is enough for 3.4 billion keys at a rate
	// of 1 %. If a filter of 4 GiB contains ten billion keys, its rate is 32 %. RocksDB's builder skips a key
	// that has the same hash as the key before it, but this library counts every key. To build a filter of the
	// size that RocksDB would choose, leave out each key that is equal to the key before it. In this module,
	// docs/rocksdb.md describes the bytes of the formats RocksDB and Pebble.
	RocksDB Format = iota
	// LevelDB is the built-in filter of LevelDB, and also of goleveldb, golang/leveldb and Badger. Its hash has
	// 32 bits. The false-positive rate can be far higher for keys that are numbers (see
	// [Format.FalsePositiveRate]).
	LevelDB
	// Pebble is the filter of Pebble, and also of RocksDB tables with a format_version below 5. Its hash is a
	// variant of LevelDB's 32-bit hash and has the same weakness. For some keys, all probes test the same bit,
	// so a rate of 0.1 % needs about 90 bits per key, and a rate of 0.01 % needs about 800. Like RocksDB's
	// builder, Pebble's builder skips a key that has the same hash as the key before it. A filter is at most
	// 512 MiB in size.
	Pebble
	// Parquet is the split block filter of Parquet files. The encoded filter consists of the blocks only. It
	// does not include the header that precedes them in a file. Its hash has 64 bits.
	Parquet
	// Nori is the filter that the documentation of nori-sstable describes. It uses two 64-bit hashes. With this
	// format, [Open] also reads NoriCrate filters. Filters with fewer than a few hundred keys have a higher
	// false-positive rate than larger filters. A filter with 20 keys has 1.5 times the rate of a large filter
	// at 10 bits per key, and 6 times the rate at 16 bits per key.
	Nori
	// NoriCrate is the filter that the code of nori-sstable writes. It differs from the documented filter in
	// its header and its size.
	NoriCrate
	// BitsAndBlooms is the filter that github.com/bits-and-blooms/bloom writes with WriteTo, MarshalBinary and
	// gob. Loki, Tempo, Weaviate and many other Go programs store such filters. Its hash has 256 bits. A
	// filter has up to 4,096 probes. In the encoded filter, the numbers in the header and the words of the bit
	// array are big-endian. A program that has called bitset.LittleEndian writes a different format. In this
	// module, docs/bits-and-blooms.md shows how to query stored filters.
	BitsAndBlooms
	// Guava is the filter that BloomFilter.writeTo in the Java package com.google.common.hash writes with the
	// default strategy, MURMUR128_MITZ_64. Its hash has 128 bits. A filter has 1 to 2^31 - 1 words of 64 bits,
	// and up to 255 probes. The Funnel determines the bytes of a key. The key of byteArrayFunnel is the array
	// itself. The key of unencodedCharsFunnel is the string in little-endian UTF-16. The key of stringFunnel
	// is the string in the given charset. The key of longFunnel is the 8-byte little-endian encoding of the
	// number (see [Set.AddUint64]).
	Guava
)

// Default is the format to choose if no storage engine reads the filter. It is the zero Format, so
// Policy{BitsPerKey: 10} uses it. All bits of a key lie in one cache line, and the hash has 64 bits. A filter
// is at most 4 GiB in size.
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

// HashBits returns the number of bits in the format's hash, which is 32, 64, 128 or 256. If a filter contains n
// keys, about n / 2^HashBits of the absent keys have the same hash as one of these keys. These absent keys are
// false positives, however large the filter is.
func (f Format) HashBits() int { return schemes[f.scheme()].words.bits() }

// Name returns the name that tables store beside a filter of this format. [RocksDB] and [Pebble] use the same
// name; the last bytes of a filter identify its format. In a table with a single filter, the filter is in the
// block whose name is "fullfilter." followed by the returned name. In a table with several filters, an index
// of the filters is in the block whose name is "partitionedfilter." followed by the returned name. Because
// nori-sstable, Parquet, bits-and-blooms and Guava store no name, this library chose names for their formats.
func (f Format) Name() string {
	f.mustBe()
	return formats[f].name
}

// String returns the short name of the format, which [ParseFormat] accepts.
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

// ParseFormat returns the format with the given short name, such as "leveldb". The error is [ErrFormat] if
// there is no such format.
func ParseFormat(s string) (Format, error) {
	for f := range Format(len(formats)) {
		if f.String() == s {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w %q", ErrFormat, s)
}

// Reference reports whether key may be in the encoded filter. It follows the definition of the format step by
// step, without optimizations. Every kernel is tested against Reference. Use Reference to check or benchmark
// other implementations. In benchmarks of [LevelDB] filters, Reference is a fair baseline, because it runs the
// same loop as the Go ports of LevelDB. To test keys, use [Policy.MayContain], which gives the same answers.
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

// Explanation describes how a filter looks up one key. It contains the numbers that are computed from the key,
// and the positions of the bits that the filter tests.
type Explanation struct {
	Numbers []Step // the key's hash first

	// Rule is a formula for the position of the bit that probe i tests. Probes are numbered from 0. Names in
	// the formula, such as "hash", are the names of steps in Numbers.
	Rule string

	// Positions lists the positions of the bits that the probes test, in the order of the probes. It is empty
	// if the filter answers without testing any bits.
	Positions []uint64
}

// Step is one of the numbers that a format computes to find the bits of a key.
type Step struct {
	Name    string // such as "hash"
	Meaning string // such as "XXH64 of the key, seed 0"
	Value   uint64
	Bits    int // the width of Value
}
