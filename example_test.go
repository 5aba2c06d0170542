package bloom_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/lanebloom/bloom"
)

func Example() {
	policy, err := bloom.PolicyFor(bloom.LevelDB, 3, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	encoded := policy.AppendFilter(nil, bloom.Strings([]string{"apple", "pear", "plum"}))

	filter, err := bloom.Open(bloom.LevelDB, encoded)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.MayContainString("pear"), filter.MayContainString("stone"))
	// Output: true false
}

func ExampleFilter_MayContainBatch() {
	filter, err := bloom.Open(bloom.LevelDB, bloom.Policy{BitsPerKey: 10}.AppendFilter(nil, bloom.Uint64s([]uint64{7, 42})))
	if err != nil {
		fmt.Println(err)
		return
	}
	column := []uint64{1, 7, 9, 42, 99}
	hits := make([]uint64, (len(column)+63)/64)
	n := filter.MayContainBatch(bloom.Uint64s(column), hits)
	fmt.Printf("%d hits: %05b\n", n, hits[0])
	// Output: 2 hits: 01010
}

func ExampleFilter_AppendHits() {
	filter, err := bloom.Open(bloom.LevelDB, bloom.Policy{BitsPerKey: 10}.AppendFilter(nil, bloom.Strings([]string{"oslo", "rome"})))
	if err != nil {
		fmt.Println(err)
		return
	}
	// A column as Arrow keeps it: paris, rome, null, oslo.
	data, offsets := []byte("parisromeoslo"), []int32{0, 5, 9, 9, 13}
	column, err := bloom.Offsets(data, offsets)
	if err != nil {
		fmt.Println(err)
		return
	}
	column, err = column.WithValidity([]byte{0b1011}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.AppendHits(nil, column))
	// Output: [1 3]
}

// A lookup in many tables hashes its key once.
func ExampleFilter_MayContainHash() {
	var tables []*bloom.Filter
	for _, keys := range [][]string{{"a", "b"}, {"c"}, {"b", "d"}} {
		filter, err := bloom.Open(bloom.LevelDB, bloom.Policy{BitsPerKey: 10}.AppendFilter(nil, bloom.Strings(keys)))
		if err != nil {
			fmt.Println(err)
			return
		}
		tables = append(tables, filter)
	}
	hash := bloom.LevelDB.Hash([]byte("b"))
	for i, table := range tables {
		fmt.Println(i, table.MayContainHash(hash))
	}
	// Output:
	// 0 true
	// 1 false
	// 2 true
}

func ExamplePolicyFor() {
	policy, err := bloom.PolicyFor(bloom.LevelDB, 500_000, 0.001)
	fmt.Println(policy.BitsPerKey, err)

	// A 32-bit hash cannot tell half a billion keys apart at this rate.
	_, err = bloom.PolicyFor(bloom.LevelDB, 500_000_000, 0.001)
	fmt.Println(errors.Is(err, bloom.ErrRate))
	// Output:
	// 16 <nil>
	// true
}

func ExampleSet() {
	policy := bloom.Policy{BitsPerKey: 10}
	seen, err := policy.NewSet(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		if !seen.MayContainString(word) {
			fmt.Print(word, " ")
			seen.AddString(word)
		}
	}
	encoded := seen.AppendFilter(nil) // LevelDB's own bytes
	fmt.Println(len(encoded))
	// Output: to be or not 1251
}

// Files tell their format, so that a reader need not know it.
func ExampleSet_WriteTo() {
	seen, err := bloom.Policy{Format: bloom.Nori, BitsPerKey: 10}.NewSet(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	seen.AddString("apple")
	var file bytes.Buffer
	if _, err := seen.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}

	var read bloom.Set
	if _, err := read.ReadFrom(&file); err != nil {
		fmt.Println(err)
		return
	}
	read.AddString("pear")
	fmt.Println(&read, read.MayContainString("apple"))
	// Output: nori filter of 10000 bits and 7 probes for 2 keys true
}

// A Builder works like LevelDB while it writes a table: it takes keys as they come, and
// sizes the filter at the end.
func ExampleBuilder() {
	builder := bloom.Policy{BitsPerKey: 10}.NewBuilder()
	builder.AddString("hello")
	builder.AddString("world")
	fmt.Printf("%x\n", builder.AppendFilter(nil))
	builder.Reset()
	// Output: 114000414410401006
}
