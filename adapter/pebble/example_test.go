package bloompebble_test

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lanebloom/bloom"
	bloompebble "github.com/lanebloom/bloom/adapter/pebble"
)

func Example() {
	options := &pebble.Options{FS: vfs.NewMem()}
	options.Levels[0].FilterPolicy = bloompebble.New(bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10})
	db, err := pebble.Open("", options)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	if err := db.Set([]byte("apple"), []byte("green"), pebble.NoSync); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Set([]byte("tomato"), []byte("red"), pebble.NoSync); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Flush(); err != nil { // to a table, with a filter
		fmt.Println(err)
		return
	}
	value, closer, err := db.Get([]byte("apple"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", value)
	closer.Close()
	_, _, err = db.Get([]byte("stone"))
	fmt.Println(errors.Is(err, pebble.ErrNotFound))
	fmt.Println("the filter said no to", db.Metrics().Filter.Hits, "key")
	// Output:
	// green
	// true
	// the filter said no to 1 key
}

// Databases whose tables have LevelDB's filters keep them, and new tables have Pebble's.
func ExampleNewNamed() {
	old := bloompebble.NewNamed("our.BloomFilter", bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10})
	options := &pebble.Options{
		FS:      vfs.NewMem(),
		Filters: map[string]pebble.FilterPolicy{old.Name(): old},
	}
	options.Levels[0].FilterPolicy = bloompebble.New(bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10})
	db, err := pebble.Open("", options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(db.Close())
	// Output: <nil>
}

// ofLevels is the code of README.md and docs/pebble.md.
func ofLevels(path string) (*pebble.DB, error) {
	options := &pebble.Options{}
	options.Levels[0].FilterPolicy = bloompebble.New(bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10})
	old := bloompebble.NewNamed("our.BloomFilter", bloom.Policy{Format: bloom.LevelDB})
	options.Filters = map[string]pebble.FilterPolicy{old.Name(): old}
	db, err := pebble.Open(path, options)
	return db, err
}

var _ = ofLevels
