// Package bloomgoleveldb gives goleveldb (github.com/syndtr/goleveldb) the filters of this library.
// [NewBloomFilter] builds filters faster than goleveldb's own function. The name and the bytes of the filters
// are the same, so it can replace goleveldb's function in an existing database. This package has every name
// of goleveldb's package leveldb/filter, so a program changes its import and nothing else:
//
//	import filter "github.com/lanebloom/bloom/adapter/goleveldb"
//
//	leveldb.OpenFile(path, &opt.Options{Filter: filter.NewBloomFilter(10)})
//
// A table stores the name of its filter. A reader that does not know the name reads the table without the
// filter, and reports nothing. If you change to a different format, or to the name that C++ LevelDB uses,
// keep [NewBloomFilter] in AltFilters for the existing tables:
//
//	Filter:     bloomgoleveldb.NewNamed("app.BloomFilter", bloom.Policy{BitsPerKey: 10}),
//	AltFilters: []filter.Filter{bloomgoleveldb.NewBloomFilter(10)},
//
// Compactions rewrite the tables with the new filter and its name.
//
// If keys are numbers, such as big-endian integers, goleveldb's own filters have many false positives: about
// 26 % of absent numbers cost a read of a block. [NewNamed] can build filters of the format [bloom.RocksDB].
// For keys that are numbers, these filters have the same rate as for random keys. docs/stores.md of the
// repository has figures.
//
// Do not use these filters with a comparer that treats keys with different bytes as equal. A filter that
// contains one of two equal keys would exclude the other one, and Get would miss a key that is present. An
// example shows such a comparer and a filter for it.
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

// NewBloomFilter returns a filter with the same name, bytes and answers as the filter that goleveldb's own
// NewBloomFilter returns.
func NewBloomFilter(bitsPerKey int) filter.Filter {
	return NewNamed(name, bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bitsPerKey})
}

// NewNamed returns a filter that uses the given policy and name. No filter of a different format may have the
// same name in these tables. If the format is LevelDB and the name is its Name, C++ LevelDB also reads the
// filters. If you wrap this filter and change the keys, choose a different name.
//
// goleveldb builds a filter for each 2 KiB of a table, if a block begins in these 2 KiB. So give
// [bloom.PolicyFor] the number of keys in a block.
//
// NewNamed panics if the name belongs to goleveldb or LevelDB and the format does not. These engines would
// misread the filters, and lose keys.
func NewNamed(name string, policy bloom.Policy) filter.Filter {
	if reserved(name) && policy.Format != bloom.LevelDB {
		panic(fmt.Sprintf("bloomgoleveldb: readers of %s would misread filters of the format %v; give them another name", name, policy.Format))
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
