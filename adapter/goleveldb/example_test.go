package bloomgoleveldb_test

import (
	"errors"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/goleveldb"
)

func Example() {
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{
		Filter: bloomgoleveldb.NewLevelDB(policy),
		// For tables that goleveldb wrote with its own filter, until compactions
		// rewrite them.
		AltFilters: []filter.Filter{bloomgoleveldb.New(policy)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	if err := db.Put([]byte("apple"), []byte("green"), nil); err != nil {
		fmt.Println(err)
		return
	}
	value, err := db.Get([]byte("apple"), nil)
	fmt.Printf("%s %v\n", value, err)
	_, err = db.Get([]byte("stone"), nil)
	fmt.Println(errors.Is(err, leveldb.ErrNotFound))
	// Output:
	// green <nil>
	// true
}

// ofTables is the code of docs/stores.md.
func ofTables(path string) (*leveldb.DB, error) {
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	db, err := leveldb.OpenFile(path, &opt.Options{
		Filter:     bloomgoleveldb.NewLevelDB(policy),
		AltFilters: []filter.Filter{bloomgoleveldb.New(policy)},
	})
	return db, err
}

var _ = ofTables
