package bloomgoleveldb_test

import (
	"bytes"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/goleveldb"
)

// identity returns the part of a key that ignoreTag compares: the bytes before '#'.
func identity(key []byte) []byte {
	before, _, _ := bytes.Cut(key, []byte("#"))
	return before
}

// ignoreTag orders keys by their identities.
type ignoreTag struct{}

func (ignoreTag) Name() string                    { return "example.IgnoreTag" }
func (ignoreTag) Compare(a, b []byte) int         { return bytes.Compare(identity(a), identity(b)) }
func (ignoreTag) Separator(_, _, _ []byte) []byte { return nil } // no shorter keys
func (ignoreTag) Successor(_, _ []byte) []byte    { return nil }

// identityFilter is a filter of the identities of keys. It has a name of its own:
// under the name of a filter of whole keys, it would look for identities in such filters.
type identityFilter struct{ filter.Filter }

type identityGenerator struct{ filter.FilterGenerator }

func newIdentityFilter(policy bloom.Policy) filter.Filter {
	return identityFilter{bloomgoleveldb.NewNamed("example.BloomFilter.IgnoreTag", policy)}
}

func (f identityFilter) Contains(encoded, key []byte) bool {
	return f.Filter.Contains(encoded, identity(key))
}

func (f identityFilter) NewGenerator() filter.FilterGenerator {
	return identityGenerator{f.Filter.NewGenerator()}
}

func (g identityGenerator) Add(key []byte) { g.FilterGenerator.Add(identity(key)) }

// A comparer that ignores part of a key needs a filter that also ignores that part.
// A filter of whole keys denies a key that is there.
func Example_comparer() {
	for _, f := range []filter.Filter{bloomgoleveldb.NewBloomFilter(10), newIdentityFilter(bloom.Policy{BitsPerKey: 10})} {
		db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{Comparer: ignoreTag{}, Filter: f})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer db.Close()
		if err := db.Put([]byte("apple#1"), []byte("green"), nil); err != nil {
			fmt.Println(err)
			return
		}
		if err := db.CompactRange(util.Range{}); err != nil { // to a table, with a filter
			fmt.Println(err)
			return
		}
		value, err := db.Get([]byte("apple#2"), nil)
		fmt.Printf("%s: %q %v\n", f.Name(), value, err)
	}
	// Output:
	// leveldb.BuiltinBloomFilter: "" leveldb: not found
	// example.BloomFilter.IgnoreTag: "green" <nil>
}
