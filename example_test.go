package bloom_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

func Example() {
	known, err := bloom.New(1_000_000, 0.01) // room for a million keys; 1 % false positives
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
	// A column in the memory layout of an Arrow string array: paris, rome, null, oslo.
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

// To look up a key in many tables, hash the key only once.
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

// A group queries the filters of all tables at once. Bit i of hits is the result for table i.
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

// LevelDB's 32-bit hash is too short for some numbers of keys and false-positive rates.
func ExamplePolicyFor() {
	policy, err := bloom.PolicyFor(bloom.Default, 500_000, 0.001)
	fmt.Println(policy.BitsPerKey, err)

	// With half a billion keys, too many absent keys have the same 32-bit hash as a key in the filter.
	_, err = bloom.PolicyFor(bloom.LevelDB, 500_000_000, 0.001)
	fmt.Println(errors.Is(err, bloom.ErrRate))
	// Output:
	// 16 <nil>
	// true
}

// This example adds words to a set and prints each word the first time that it occurs.
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

// This example tests a column of cities and prints the rows whose city may be known.
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

// A filter file records its format, so a reader does not need to know the format.
func ExampleOpenBinary() {
	known := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"oslo", "rome"}))
	file, err := known.MarshalBinary() // the contents for os.WriteFile
	if err != nil {
		log.Fatal(err)
	}
	read, err := bloom.OpenBinary(file) // the contents from os.ReadFile
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read, read.MayContainString("rome"))
	// Output: rocksdb filter of 512 bits and 6 probes for 2 keys true
}

// The file records the format of the set, so a reader does not need to know the format.
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

// A Builder collects keys and determines the size of the filter at the end. LevelDB does the same when it
// writes a table.
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

// You can use a column of any integer type without copying it. Negative integers are valid keys.
func ExampleIntegers() {
	filter := bloom.Policy{BitsPerKey: 10}.NewFilter(bloom.Integers([]time.Duration{-1, time.Second}))
	fmt.Println(filter.AppendHits(nil, bloom.Integers([]int64{7, 1_000_000_000, -1})))
	// Output: [1 2]
}

// This example reads a stream of columns and reports which rows occurred before.
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

// Several workers share a set. For each URL, at least one worker learns that the URL is new.
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

// guavaSize returns the numbers of bits and probes that Guava's BloomFilter.create chooses. Guava 31.1
// computes the number of probes from the number of bits, rounded down, and later versions compute it from the
// rate (Guava's pull request 7494, of 2024). For few keys, the two results can differ by one. If the number
// of bits is 0, Guava does not create a filter.
func guavaSize(keys int, rate float64) (bits uint64, probes, probesOf31 int) {
	n := float64(max(keys, 1))
	m := math.Floor(-n * math.Log(rate) / (math.Ln2 * math.Ln2))
	round := func(x float64) int { return max(int(math.Floor(x+0.5)), 1) }
	return 64 * uint64(math.Ceil(m/64)), round(-math.Log(rate) / math.Ln2), round(m / n * math.Ln2)
}

// A set with the same size as a Guava filter has the same bytes for the same keys. The numbers of bits in
// this example and the numbers of probes for Guava 31.1 come from headers that Guava wrote.
func Example_guavaSize() {
	bits, probes, _ := guavaSize(1_000_000, 0.03)
	set, err := bloom.Guava.NewSet(bits, probes)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set)
	for _, c := range []struct {
		keys int
		rate float64
	}{{10_000, 0.01}, {0, 0.03}, {1, 0.01}, {3, 0.01}, {5, 1e-5}, {1, 1e-6}, {287, 0.001380066455970332}} {
		bits, probes, probesOf31 := guavaSize(c.keys, c.rate)
		fmt.Printf("%d keys at %.2g: %d bits, %d probes, %d by Guava 31.1\n", c.keys, c.rate, bits, probes, probesOf31)
	}
	// Output:
	// guava filter of 7298496 bits and 5 probes for 0 keys
	// 10000 keys at 0.01: 95872 bits, 7 probes, 7 by Guava 31.1
	// 0 keys at 0.03: 64 bits, 5 probes, 5 by Guava 31.1
	// 1 keys at 0.01: 64 bits, 7 probes, 6 by Guava 31.1
	// 3 keys at 0.01: 64 bits, 7 probes, 6 by Guava 31.1
	// 5 keys at 1e-05: 128 bits, 17 probes, 16 by Guava 31.1
	// 1 keys at 1e-06: 64 bits, 20 probes, 19 by Guava 31.1
	// 287 keys at 0.0014: 3968 bits, 10 probes, 9 by Guava 31.1
}

// TestTableSavesReads counts the blocks that the table of the example reads. The table must read one block
// for each present key. At 10 bits per key, it must read a block for at most 1.1 % of the absent keys.
func TestTableSavesReads(t *testing.T) {
	t.Parallel()
	const keys = 30_000
	file, err := os.Create(filepath.Join(t.TempDir(), "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := writeTable(file, keys); err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	reader := &countingReader{ReaderAt: file}
	table, err := openTable(reader, info.Size())
	if err != nil {
		t.Fatal(err)
	}

	reader.reads = 0
	for i := range keys {
		value, found, err := table.Get(fmt.Appendf(nil, "key%06d", 2*i))
		if err != nil || !found || string(value) != fmt.Sprintf("value %d", i) {
			t.Fatalf("key %d: %q, %v, %v", 2*i, value, found, err)
		}
	}
	if reader.reads != keys {
		t.Errorf("%d blocks read for %d keys", reader.reads, keys)
	}

	reader.reads = 0
	for i := range keys { // each key except the last is between two keys of the table
		if _, found, err := table.Get(fmt.Appendf(nil, "key%06d", 2*i+1)); found || err != nil {
			t.Fatalf("key %d: %v, %v", 2*i+1, found, err)
		}
	}
	if saved := 1 - float64(reader.reads)/(keys-1); saved < 0.989 {
		t.Errorf("%d blocks read for %d absent keys: %.2f %% saved", reader.reads, keys, 100*saved)
	}
}

// TestTableRefusesOthers opens bytes that are not a table, and looks up keys in damaged tables.
func TestTableRefusesOthers(t *testing.T) {
	t.Parallel()
	const keys = 300 // two blocks
	var file bytes.Buffer
	if err := writeTable(&file, keys); err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) (*table, error) { return openTable(bytes.NewReader(data), int64(len(data))) }
	whole := file.Bytes()
	if _, err := open(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := open(whole[:n]); !errors.Is(err, errCorrupt) {
			t.Errorf("the first %d of %d bytes: error %v", n, len(whole), err)
		}
	}
	footer := len(whole) - footerSize
	for i := range footerSize {
		damaged := bytes.Clone(whole)
		damaged[footer+i] ^= 0x81
		if _, err := open(damaged); !errors.Is(err, errCorrupt) {
			t.Errorf("byte %d of the footer: error %v", i, err)
		}
	}
	for i := 0; i < footerSize; i += 8 {
		damaged := bytes.Clone(whole)
		clear(damaged[footer+i : footer+i+8])
		if _, err := open(damaged); !errors.Is(err, errCorrupt) {
			t.Errorf("word %d of the footer is 0: error %v", i/8, err)
		}
	}
	filter := int(binary.LittleEndian.Uint64(whole[footer+16:]))
	for i := range 112 { // the header of the filter's file
		damaged := bytes.Clone(whole)
		damaged[filter+i] ^= 0x81
		if _, err := open(damaged); !errors.Is(err, errCorrupt) || !errors.Is(err, bloom.ErrEncoding) {
			t.Errorf("byte %d of the filter: error %v", i, err)
		}
	}
	stride := 1
	if os.Getenv("BLOOM_TEST_WHOLE") == "" {
		stride = 7
	}
	for i := 0; i < filter; i += stride { // damage to the blocks or the index: an error or another value, but no panic
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x81
		table, err := open(damaged)
		for j := 0; j < keys && err == nil; j += 20 {
			_, _, err = table.Get(fmt.Appendf(nil, "key%06d", 2*j))
		}
		if err != nil && !errors.Is(err, errCorrupt) {
			t.Errorf("byte %d: error %v", i, err)
		}
	}
}

// TestTableReadsInside reads spans and entries whose lengths extend past the end of the data.
func TestTableReadsInside(t *testing.T) {
	const end = 10 // of 20 bytes
	for _, s := range []span{{0, 11}, {10, 1}, {11, 0}, {5, math.MaxUint64}, {math.MaxUint64, 2}, {1 << 63, 1}} {
		if _, err := s.read(bytes.NewReader(make([]byte, 2*end)), end); !errors.Is(err, errCorrupt) {
			t.Errorf("%d bytes at %d: error %v", s.size, s.offset, err)
		}
	}
	entry := appendBytes(nil, make([]byte, 200))
	for n := range entry {
		if _, _, err := cutBytes(entry[:n]); !errors.Is(err, errCorrupt) {
			t.Errorf("the first %d of %d bytes: error %v", n, len(entry), err)
		}
	}
}

// TestTableWantsOrder checks that a table writer rejects keys that are not in ascending order.
func TestTableWantsOrder(t *testing.T) {
	for _, keys := range [][]string{{"b", "a"}, {"a", "a"}, {"", ""}} {
		w, err := newTableWriter(new(bytes.Buffer), 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add([]byte(keys[0]), nil); err != nil {
			t.Error(err)
		}
		if err := w.Add([]byte(keys[1]), nil); err == nil {
			t.Errorf("%q was added after %q", keys[1], keys[0])
		}
	}
	if _, err := newTableWriter(new(bytes.Buffer), -1); !errors.Is(err, bloom.ErrCapacity) {
		t.Errorf("-1 keys: error %v", err)
	}
}
