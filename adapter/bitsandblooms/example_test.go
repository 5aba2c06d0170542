package bloom_test

import (
	"fmt"

	lanebloom "github.com/lanebloom/bloom"
	bloom "github.com/lanebloom/bloom/adapter/bitsandblooms" // was "github.com/bits-and-blooms/bloom/v3"
)

func Example() {
	filter := bloom.NewWithEstimates(1000, 0.01)
	filter.Add([]byte("love")).AddString("hate")
	fmt.Println(filter.TestString("love"), filter.TestOrAddString("war"), filter.Cap(), filter.K())
	// Output: true false 9586 7
}

func ExampleBloomFilter_TestBatch() {
	filter := bloom.NewWithEstimates(1000, 0.01).AddBatch(lanebloom.Strings([]string{"love", "hate"}))
	column := []string{"war", "love", "peace"}
	hits := make([]uint64, (len(column)+63)/64)
	n := filter.TestBatch(lanebloom.Strings(column), hits)
	fmt.Printf("%d %b\n", n, hits[0])
	// Output: 1 10
}
