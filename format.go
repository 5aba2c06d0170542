package bloom

import (
	"fmt"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/rates"
	"github.com/lanebloom/bloom/internal/reference"
)

// Format is an on-disk filter format: a hash, the bits that a hash stands for, sizes and an
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
	// LevelDB's, with the same weakness. Some keys have a single bit, so a rate of 0.1 % takes some 90 bits per
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

// Name returns the name that tables store beside a filter of this format. [RocksDB] and [Pebble] have one name: the
// filters of both are in blocks "fullfilter." and the name, or in those that the index "partitionedfilter." and the
// name lists, and their last bytes tell which it is. nori-sstable, Parquet, bits-and-blooms and Guava store none: the
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

// ParseFormat returns the format with the given short name, such as "leveldb",
// or [ErrFormat].
func ParseFormat(s string) (Format, error) {
	for f := range Format(len(formats)) {
		if f.String() == s {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w %q", ErrFormat, s)
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
