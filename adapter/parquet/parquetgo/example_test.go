package parquetgo_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

// Find the row groups that may contain certain customers, and read only these row groups.
func Example() {
	type order struct {
		ID       int64  `parquet:"id"`
		Customer string `parquet:"customer"`
	}
	var data bytes.Buffer
	w := parquet.NewGenericWriter[order](&data,
		parquet.BloomFilters(parquet.SplitBlockFilter(16, "customer")),
		parquet.MaxRowsPerRowGroup(1000))
	for i := range int64(4000) {
		if _, err := w.Write([]order{{i, fmt.Sprint("customer ", i*7919%4000)}}); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	file, err := parquet.OpenFile(bytes.NewReader(data.Bytes()), int64(data.Len()),
		parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		log.Fatal(err)
	}
	column, err := parquetgo.Open(file, "customer")
	if err != nil {
		log.Fatal(err)
	}
	wanted := []string{"customer 25", "customer 3999", "nobody"}
	keys, err := bloomparquet.KeysOf(column.Type(), wanted)
	if err != nil {
		log.Fatal(err)
	}
	groups, err := keys.Prune(column)
	if err != nil {
		log.Fatal(err)
	}
	for group := range groups {
		fmt.Printf("row group %d of %d rows:", group.Index, group.Rows)
		for i := range group.Keys() {
			fmt.Printf(" %q", wanted[i])
		}
		fmt.Println()
		if group.Count == 0 {
			continue
		}
		// Some of these hits may be false positives, so compare the rows.
		rows := parquet.NewGenericRowGroupReader[order](file.RowGroups()[group.Index])
		found := make([]order, group.Rows)
		n, err := rows.Read(found)
		if err != nil && !errors.Is(err, io.EOF) {
			log.Fatal(err)
		}
		for _, row := range found[:n] {
			if slices.Contains(wanted, row.Customer) {
				fmt.Println("  order", row.ID, "of", row.Customer)
			}
		}
		rows.Close()
	}
	// Output:
	// row group 0 of 1000 rows:
	// row group 1 of 1000 rows: "customer 25"
	//   order 1975 of customer 25
	// row group 2 of 1000 rows: "customer 3999"
	//   order 2321 of customer 3999
	// row group 3 of 1000 rows:
}

// readme is the code of ../README.md.
func readme(f io.ReaderAt, size int64) error {
	file, err := parquet.OpenFile(f, size, parquet.SkipBloomFilters(true)) // of parquet-go
	if err != nil {
		return err
	}
	column, err := parquetgo.Open(file, "customer")
	if err != nil {
		return err
	}
	keys, err := bloomparquet.KeysOf(column.Type(), []string{"alice", "bob"}) // hashed once
	if err != nil {
		return err
	}
	groups, err := keys.Prune(column)
	for group := range groups {
		for i := range group.Keys() {
			fmt.Println("key", i, "may be in row group", group.Index)
		}
	}
	return err
}

var _ = readme
