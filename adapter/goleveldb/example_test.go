package bloomgoleveldb_test

import (
	"errors"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	filter "github.com/lanebloom/bloom/adapter/goleveldb" // was "github.com/syndtr/goleveldb/leveldb/filter"
)

// A program that had goleveldb's filter has this one instead, by another import. The filters of old
// tables stay in use.
func ExampleNewBloomFilter() {
	db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{
		Filter: filter.NewBloomFilter(10),
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
