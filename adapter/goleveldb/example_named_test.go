package bloomgoleveldb_test

import (
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/lanebloom/bloom"
	bloomgoleveldb "github.com/lanebloom/bloom/adapter/goleveldb"
)

// New tables get filters of the Default format, which are wrong less often. The filters of goleveldb in old
// tables stay in use until compactions rewrite the tables.
func ExampleNewNamed() {
	db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{
		Filter:     bloomgoleveldb.NewNamed("app.BloomFilter", bloom.Policy{Format: bloom.Default, BitsPerKey: 10}),
		AltFilters: []filter.Filter{bloomgoleveldb.NewBloomFilter(10)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(db.Close())
	// Output: <nil>
}

// shared is the code of docs/stores.md: C++ LevelDB reads the filters, too.
func shared(path string) (*leveldb.DB, error) {
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	db, err := leveldb.OpenFile(path, &opt.Options{
		Filter:     bloomgoleveldb.NewNamed(policy.Name(), policy),
		AltFilters: []filter.Filter{bloomgoleveldb.NewBloomFilter(policy.BitsPerKey)},
	})
	return db, err
}

var _ = shared
