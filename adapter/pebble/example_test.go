package bloompebble_test

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	bloom "github.com/lanebloom/bloom/adapter/pebble" // was "github.com/cockroachdb/pebble/v2/bloom"
)

// A program that had Pebble's policy has this one instead, by another import. The filters of old tables
// stay in use.
func ExampleFilterPolicy() {
	options := &pebble.Options{FS: vfs.NewMem()}
	options.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
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
