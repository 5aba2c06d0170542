package bloom_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lanebloom/bloom"
)

func Example() {
	known, err := bloom.New(1_000_000, 0.01) // room for a million keys; 1 % of absent keys may pass
	if err != nil {
		log.Fatal(err)
	}
	known.AddString("pear")
	fmt.Println(known.MayContainString("pear"), known.MayContainString("stone"))
	// Output: true false
}

func ExampleFilter_MayContainBatch() {
	filter := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Integers([]uint64{7, 42}))
	column := []uint64{1, 7, 9, 42, 99}
	hits := make([]uint64, (len(column)+63)/64)
	n := filter.MayContainBatch(bloom.Integers(column), hits)
	fmt.Printf("%d hits: %05b\n", n, hits[0])
	// Output: 2 hits: 01010
}

func ExampleFilter_AppendHits() {
	filter := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"oslo", "rome"}))
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
		tables = append(tables, bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings(keys)))
	}
	hash := bloom.Default.HashString("b")
	for i, table := range tables {
		fmt.Println(i, table.MayContainHash(hash))
	}
	// Output:
	// 0 true
	// 1 false
	// 2 true
}

// A group answers for all tables at once: bit i of hits is the answer of table i.
func ExampleGroup() {
	var tables []*bloom.Filter
	for _, keys := range [][]string{{"a", "b"}, {"c"}, {"b", "d"}} {
		tables = append(tables, bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings(keys)))
	}
	group, err := bloom.NewGroup(tables)
	if err != nil {
		log.Fatal(err)
	}
	hits := make([]uint64, (group.Len()+63)/64)
	fmt.Printf("%d tables: %03b\n", group.MayContain([]byte("b"), hits), hits[0])
	// Output: 2 tables: 101
}

// LevelDB's hash has too few bits for some numbers of keys and rates.
func ExamplePolicyFor() {
	policy, err := bloom.PolicyFor(bloom.Default, 500_000, 0.001)
	fmt.Println(policy.BitsPerKey, err)

	// LevelDB's 32-bit hash cannot tell half a billion keys apart at this rate.
	_, err = bloom.PolicyFor(bloom.LevelDB, 500_000_000, 0.001)
	fmt.Println(errors.Is(err, bloom.ErrRate))
	// Output:
	// 16 <nil>
	// true
}

// A set that grows: each word is printed once.
func ExampleSet() {
	seen, err := bloom.New(1000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		if !seen.TestAndAddString(word) {
			fmt.Print(word, " ")
		}
	}
	// Output: to be or not
}

// A column of keys: the rows whose city may be known.
func ExampleFilter_Hits() {
	known := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"oslo", "rome"}))
	cities := []string{"paris", "rome", "bern", "oslo"}
	for i := range known.Hits(bloom.Strings(cities)) {
		fmt.Println(i, cities[i])
	}
	// Output:
	// 1 rome
	// 3 oslo
}

// A file that is shared: it says its format, so that a reader need not know it.
func ExampleOpenBinary() {
	known := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"oslo", "rome"}))
	file, err := known.MarshalBinary() // as os.WriteFile takes it
	if err != nil {
		log.Fatal(err)
	}
	read, err := bloom.OpenBinary(file) // as os.ReadFile returned it
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read, read.MayContainString("rome"))
	// Output: rocksdb filter of 512 bits and 6 probes for 2 keys true
}

// Files tell their format, so that a reader need not know it.
func ExampleSet_WriteTo() {
	seen, err := bloom.Policy{BitsPerKey: 10}.NewSet(1000)
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
	// Output: rocksdb filter of 10240 bits and 6 probes for 2 keys true
}

// A Builder works like LevelDB while it writes a table: it takes keys as they come, and
// sizes the filter at the end.
func ExampleBuilder() {
	builder := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.NewBuilder()
	builder.AddString("hello")
	builder.AddString("world")
	fmt.Printf("%x\n", builder.AppendFilter(nil))
	builder.Reset()
	// Output: 114000414410401006
}

func ExamplePolicy_NewFilter() {
	filter := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"apple", "pear", "plum"}))
	fmt.Println(filter.MayContainString("pear"), filter.MayContainString("stone"))
	fmt.Println(filter)
	// Output:
	// true false
	// rocksdb filter of 512 bits and 6 probes for 3 keys
}

// A column of any integer type needs no copy. Negative integers are keys like others.
func ExampleIntegers() {
	filter := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Integers([]time.Duration{-1, time.Second}))
	fmt.Println(filter.AppendHits(nil, bloom.Integers([]int64{7, 1_000_000_000, -1})))
	// Output: [1 2]
}

// Which rows of a stream of columns were there before?
func ExampleSet_TestAndAddBatch() {
	seen, err := bloom.New(1000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	for _, column := range [][]string{{"to", "be", "or"}, {"not", "to", "be", "not"}} {
		hits := make([]uint64, (len(column)+63)/64)
		n := seen.TestAndAddBatch(bloom.Strings(column), hits)
		fmt.Printf("%d of %d: %04b\n", n, len(column), hits[0])
	}
	// Output:
	// 0 of 3: 0000
	// 3 of 4: 1110
}

func ExampleSet_Clone() {
	today, err := bloom.Policy{BitsPerKey: 10}.NewSet(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	today.AddUint64(7)
	yesterday := today.Clone()
	today.Clear()
	fmt.Println(yesterday.MayContainUint64(7), today.MayContainUint64(7), today.Equal(yesterday))
	// Output: true false false
}

// Workers share a set: of each URL, one of them learns that it is new.
func ExampleAtomicSet() {
	seen, err := bloom.Policy{BitsPerKey: 10}.NewAtomicSet(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	urls := []string{"/a", "/b", "/a", "/c", "/b"}
	var visits atomic.Int32
	var workers sync.WaitGroup
	workers.Add(len(urls))
	for _, url := range urls {
		go func() {
			defer workers.Done()
			if !seen.TestAndAddString(url) {
				visits.Add(1) // at least once for each URL
			}
		}()
	}
	workers.Wait()
	encoded := seen.Snapshot().AppendFilter(nil)
	fmt.Println(visits.Load() >= 3, seen.MayContainString("/c"), len(encoded))
	// Output: true true 1285
}
