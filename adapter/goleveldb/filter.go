// Package bloomgoleveldb provides the filters of this library for goleveldb (github.com/syndtr/goleveldb).
// [NewBloomFilter] builds filters faster than goleveldb's own NewBloomFilter. Both functions give filters the
// same name and the same bytes, so you can switch between them in an existing database. This package has
// every name of goleveldb's package leveldb/filter, so a program only has to change its import:
//
//	import filter "github.com/lanebloom/bloom/adapter/goleveldb"
//
//	leveldb.OpenFile(path, &opt.Options{Filter: filter.NewBloomFilter(10)})
//
// A table stores the name of its filter. If a reader does not know this name, it silently reads the table
// without the filter. If you change to a different format, or to the name that C++ LevelDB uses, keep
// [NewBloomFilter] in AltFilters for the existing tables:
//
//	Filter:     bloomgoleveldb.NewNamed("app.BloomFilter", bloom.Policy{BitsPerKey: 10}),
//	AltFilters: []filter.Filter{bloomgoleveldb.NewBloomFilter(10)},
//
// Compactions then rewrite the tables with the new filter and its name.
//
// If keys are numbers, such as big-endian integers, goleveldb's own filters have many false positives: for
// about 26 % of absent numbers, goleveldb reads a block. [NewNamed] can build filters of the format
// [bloom.RocksDB]. For keys that are numbers, these filters have the same rate as for random keys. See
// docs/stores.md in the repository for measurements.
//
// Do not use these filters with a comparer that treats keys with different bytes as equal. A filter that
// contains only one of two equal keys would exclude the other key, so Get would miss a key that is present.
// An example shows such a comparer and a filter for it.
package bloomgoleveldb

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/lanebloom/bloom"
)

// Filter is the Filter of goleveldb's package leveldb/filter.
type Filter = filter.Filter

// FilterGenerator is the FilterGenerator of goleveldb's package leveldb/filter.
type FilterGenerator = filter.FilterGenerator

// Buffer is the Buffer of goleveldb's package leveldb/filter.
type Buffer = filter.Buffer

// name is the name of goleveldb's own filter in tables. LevelDB's name ends in 2.
const name = "leveldb.BuiltinBloomFilter"

// NewBloomFilter returns a filter that has the same name, the same bytes and the same answers as the filter
// that goleveldb's own NewBloomFilter returns.
func NewBloomFilter(bitsPerKey int) filter.Filter {
	return NewNamed(name, bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bitsPerKey})
}

// NewNamed returns a filter that uses the given policy and name. Do not use the same name for two formats in
// one database. If the format is LevelDB and the name is bloom.LevelDB.Name(), C++ LevelDB can also read the
// filters. If you wrap this filter and change the keys, choose a different name.
//
// goleveldb builds a filter for each 2 KiB of a table in which a block begins. So pass the number of keys in
// a block to [bloom.PolicyFor].
//
// NewNamed panics if the name is the filter name of goleveldb or C++ LevelDB but the format is not LevelDB,
// because these engines would misread the filters and lose keys.
func NewNamed(name string, policy bloom.Policy) filter.Filter {
	if reserved(name) && policy.Format != bloom.LevelDB {
		panic(fmt.Sprintf("bloomgoleveldb: readers of %s would misread filters of the format %v; choose a different name", name, policy.Format))
	}
	return namedPolicy{name, policy}
}

func reserved(s string) bool { return s == name || s == bloom.LevelDB.Name() }

type namedPolicy struct {
	name string
	bloom.Policy
}

func (p namedPolicy) Name() string { return p.name }

func (p namedPolicy) Contains(encoded, key []byte) bool { return p.MayContain(encoded, key) }

func (p namedPolicy) NewGenerator() filter.FilterGenerator {
	return &generator{builder: p.NewBuilder()}
}

// generator makes the filters of a table, one after the other.
type generator struct {
	builder *bloom.Builder
	encoded []byte // the last filter, for its memory
}

// Add adds a key to the next filter. A key that is added twice, for example because it
// has two versions, counts twice, as in LevelDB.
func (g *generator) Add(key []byte) { g.builder.Add(key) }

// Generate appends the filter of the keys since the last Generate to b.
func (g *generator) Generate(b filter.Buffer) {
	g.encoded = g.builder.AppendFilter(g.encoded[:0])
	g.builder.Reset()
	// Not Write: it may return an error, which Generate could not return.
	copy(b.Alloc(len(g.encoded)), g.encoded)
}
