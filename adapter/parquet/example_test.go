package bloomparquet_test

import (
	"bytes"
	"fmt"
	"log"
	"slices"
	"strconv"
	"time"

	"github.com/lanebloom/bloom"
	bloomparquet "github.com/lanebloom/bloom/adapter/parquet"
)

// Write the filter of a row group without knowing the number of different values in advance. The set is
// first large enough for a different value in every row. It is then halved as long as its false-positive
// rate does not exceed 1 %.
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

// Make an index of a column of many files, and read the index instead of the files. In a program,
// parquetgo.Open and arrowgo.Open return the columns of files. This example makes a column whose row groups
// have no filters.
func ExampleIndexer() {
	values := [][]int64{{1, 5, 9}, {2, 6, 10}} // of each row group
	column, err := bloomparquet.Open(bloomparquet.Meta{
		Path:   "order",
		Type:   bloomparquet.Type{Physical: bloomparquet.Int64},
		Chunks: []bloomparquet.Chunk{{Rows: 3}, {Rows: 3}},
	})
	if err != nil {
		log.Fatal(err)
	}
	x, err := bloomparquet.NewIndexer(0.001)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 500 {
		file := bloomparquet.IndexedFile{Name: fmt.Sprintf("%d.parquet", i), Size: 1234, Modified: time.Unix(1_700_000_000, 0)}
		add, err := x.Read(file, column)
		if err != nil {
			log.Fatal(err)
		}
		if err := add(); err != nil {
			log.Fatal(err)
		}
	}
	for file, rowGroup := range x.Wanting() { // they have no filters of their own
		some := slices.Clone(values[rowGroup])
		for i := range some {
			some[i] += int64(100 * file)
		}
		if err := x.AddKeys(file, rowGroup, bloom.Integers(some)); err != nil {
			log.Fatal(err)
		}
	}
	var data bytes.Buffer
	if _, err := x.WriteTo(&data); err != nil {
		log.Fatal(err)
	}
	if err := x.Close(); err != nil {
		log.Fatal(err)
	}

	index, err := bloomparquet.OpenIndex(bytes.NewReader(data.Bytes()), int64(data.Len())) // or an *os.File
	if err != nil {
		log.Fatal(err)
	}
	var columns []*bloomparquet.Column
	for _, column := range index.Files() { // IndexedFile.Same reports which files have changed
		columns = append(columns, column)
	}
	keys, err := bloomparquet.KeysOf(columns[0].Type(), []int64{42_006})
	if err != nil {
		log.Fatal(err)
	}
	groups, err := keys.Prune(columns...)
	if err != nil {
		log.Fatal(err)
	}
	for group := range groups {
		if group.Count > 0 {
			fmt.Println(group.Column.Meta().File, "row group", group.Index)
		}
	}
	// Output:
	// 420.parquet row group 1
}
