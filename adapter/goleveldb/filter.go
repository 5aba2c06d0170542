// Package bloomgoleveldb gives goleveldb (github.com/syndtr/goleveldb) the filters
// of this library:
//
//	leveldb.OpenFile(path, &opt.Options{
//		Filter: bloomgoleveldb.New(bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}),
//	})
//
// A table stores the name of its filter. A reader that does not know the name reads
// the table without a filter, and reports nothing. goleveldb's own filter has the
// bytes of C++ LevelDB's filter and another name, so goleveldb and LevelDB ignore each
// other's filters. [New] uses goleveldb's name: it takes the place of goleveldb's own
// filter in a database that is there. [NewLevelDB] uses the name of C++ LevelDB, so that
// LevelDB can read the filters too. To read the tables under the other name, add AltFilters:
//
//	Filter:     bloomgoleveldb.NewLevelDB(policy),
//	AltFilters: []filter.Filter{bloomgoleveldb.New(policy)},
//
// Compactions rewrite the tables with the name of Filter.
//
// Do not use these filters with a comparer for which keys with different bytes are
// equal. The filter of one of two equal keys would deny the other, and Get would miss
// a key that is there. The second example shows a filter for such a comparer.
package bloomgoleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/lanebloom/bloom"
)

// Name is the name of goleveldb's own filter, filter.NewBloomFilter, in tables.
// LevelDB's name ends in 2.
const Name = "leveldb.BuiltinBloomFilter"

// New returns a filter for goleveldb's options that follows the policy. For the format
// LevelDB, its name and its bytes are those of goleveldb's own filter. For other formats,
// which goleveldb's own filter can't read, its name is that of the format.
//
// goleveldb makes a filter for every block of a table (BlockSize, 4 KiB). So give
// [bloom.PolicyFor] the number of keys in a block.
func New(policy bloom.Policy) filter.Filter {
	if policy.Format == bloom.LevelDB {
		return NewNamed(Name, policy)
	}
	return NewLevelDB(policy)
}

// NewLevelDB is New with the name of the policy's format: for the format LevelDB, the name
// that C++ LevelDB uses.
func NewLevelDB(policy bloom.Policy) filter.Filter { return NewNamed(policy.Name(), policy) }

// NewNamed is New with another name. A filter that wraps this one and changes keys needs
// its own name.
func NewNamed(name string, policy bloom.Policy) filter.Filter {
	return namedPolicy{name, policy}
}

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
