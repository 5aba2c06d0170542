// Package bloomgoleveldb gives goleveldb (github.com/syndtr/goleveldb) the filters of this library.
// [NewBloomFilter] builds filters faster than goleveldb's own function. Name and bytes are the same, so it can
// replace goleveldb's filter in an existing database. This package has every name of goleveldb's package
// leveldb/filter, so a program changes its import and nothing else:
//
//	import filter "github.com/lanebloom/bloom/adapter/goleveldb"
//
//	leveldb.OpenFile(path, &opt.Options{Filter: filter.NewBloomFilter(10)})
//
// A table stores the name of its filter. A reader that does not know the name reads the table without the
// filter, and reports nothing. So a filter of a different format, or with the name that C++ LevelDB uses, needs
// NewBloomFilter beside it for the existing tables:
//
//	Filter:     bloomgoleveldb.NewNamed("app.BloomFilter", bloom.Policy{BitsPerKey: 10}),
//	AltFilters: []filter.Filter{bloomgoleveldb.NewBloomFilter(10)},
//
// Compactions rewrite the tables with the name of Filter.
//
// If keys are numbers, such as big-endian integers, goleveldb's own filters have many false positives: about 26
// % of absent numbers cost a read of a block. Filters of the format [bloom.RocksDB], which NewNamed makes, have
// the rate of random keys for them. docs/stores.md of the repository has figures.
//
// Do not use these filters with a comparer for which keys with different bytes are equal. The filter of one of
// two equal keys would give a no for the other, and Get would miss a key that is present. The example of such a
// comparer shows a filter for it.
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

// NewBloomFilter returns the filter that goleveldb's own function of this name returns: its name, bytes and
// answers are the same.
func NewBloomFilter(bitsPerKey int) filter.Filter {
	return NewNamed(name, bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bitsPerKey})
}

// NewNamed returns a filter that uses the policy, under a name that filters of no other format have in these
// tables. With the format LevelDB and its Name, C++ LevelDB also reads the filters. A filter that wraps this
// one and changes keys needs its own name.
//
// goleveldb makes a filter for every 2 KiB of a table in which a block begins. So give [bloom.PolicyFor] the
// number of keys in a block.
//
// NewNamed panics if the name belongs to goleveldb or LevelDB and the format is a different one: these would
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
