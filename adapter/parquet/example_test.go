package bloomparquet_test

import (
	"fmt"
	"log"
	"strconv"

	"github.com/lanebloom/bloom"
	bloomparquet "github.com/lanebloom/bloom/adapter/parquet"
)

// Write the filter of a row group whose number of different values is not known before. It begins with room
// for every row, and is halved while at most 1 % of absent values pass.
func ExampleAppendFilter() {
	const rows = 1_000_000
	set, err := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 11}.NewFoldable(rows)
	if err != nil {
		log.Fatal(err)
	}
	for i := range rows {
		set.AddString("customer " + strconv.Itoa(i%20_000))
	}
	times, err := set.Fold(0.01)
	if err != nil {
		log.Fatal(err)
	}
	encoded, err := bloomparquet.AppendFilter(nil, set.Filter())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("halved", times, "times, now", len(encoded), "bytes")
	// Output:
	// halved 5 times, now 45073 bytes
}
