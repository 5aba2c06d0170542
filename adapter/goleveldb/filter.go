// Package goleveldb gives goleveldb (github.com/syndtr/goleveldb) the filters
// of this library:
//
//	leveldb.OpenFile(path, &opt.Options{
//		Filter: goleveldb.New(bloom.Policy{BitsPerKey: 10}),
//	})
//
// A table names its filter, and a reader that does not know the name reads on
// without one, silently. goleveldb's own filter has the bytes of C++ LevelDB's
// and another name, so that the two ignore each other's. [New] takes LevelDB's
// name, which serves both; goleveldb then finds the filters of tables that it
// wrote under its own name through AltFilters:
//
//	AltFilters: []filter.Filter{goleveldb.NewNamed(goleveldb.Name, policy)},
//
// They are replaced as compactions rewrite the tables. A program that still
// opens the database with goleveldb's own filter needs the opposite: NewNamed as
// Filter, and New among AltFilters.
//
// Do not use these filters with a comparer for which keys of different bytes
// are equal: the filter of one of them would deny the other, and Get would miss
// a key that is there. The second example shows a filter for such a comparer.
package goleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/lanebloom/bloom"
)

// Name is the name under which goleveldb's own filter, filter.NewBloomFilter,
// is stored. LevelDB's ends in 2.
const Name = "leveldb.BuiltinBloomFilter"

// New returns a policy as the Filter of goleveldb's options, under the name of
// its format. For the format LevelDB that is the name of C++ LevelDB.
//
// goleveldb makes a filter for every block of a table (BlockSize, 4 KiB), so
// the number of keys by which [bloom.PolicyFor] sizes a policy is that of a block.
func New(policy bloom.Policy) filter.Filter { return NewNamed(policy.Name(), policy) }

// NewNamed is New under another name: [Name] for tables that goleveldb's own
// filter has to read or wrote, or that of a filter around this one.
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

// Add adds a key to the next filter. A key that is added twice, such as one
// with two versions, counts twice, as in LevelDB.
func (g *generator) Add(key []byte) { g.builder.Add(key) }

// Generate appends the filter of the keys since the last Generate to b.
func (g *generator) Generate(b filter.Buffer) {
	g.encoded = g.builder.AppendFilter(g.encoded[:0])
	g.builder.Reset()
	// Not Write: that may return an error, which would have nowhere to go.
	copy(b.Alloc(len(g.encoded)), g.encoded)
}
