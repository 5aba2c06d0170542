package bloompebble_test

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lanebloom/bloom"
	bloompebble "github.com/lanebloom/bloom/adapter/pebble"
)

// New tables get filters of the Default format, which are wrong less often. Pebble's filters in old tables stay
// in use until compactions rewrite the tables.
func ExampleNewNamed() {
	old := bloompebble.FilterPolicy(10)
	options := &pebble.Options{
		FS:      vfs.NewMem(),
		Filters: map[string]pebble.FilterPolicy{old.Name(): old},
	}
	options.Levels[0].FilterPolicy = bloompebble.NewNamed("app.BloomFilter", bloom.Policy{Format: bloom.Default, BitsPerKey: 10})
	db, err := pebble.Open("", options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(db.Close())
	// Output: <nil>
}
