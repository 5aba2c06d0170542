package arrowgo_test

import (
	"bytes"
	"fmt"
	"log"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/arrowgo"
)

// Find out which IDs may be in which row group.
func Example() {
	reader, err := file.NewParquetReader(bytes.NewReader(ordersFile()))
	if err != nil {
		log.Fatal(err)
	}
	column, err := arrowgo.Open(reader, "id")
	if err != nil {
		log.Fatal(err)
	}
	keys, err := bloomparquet.KeysOf(column.Type(), []int64{20, 1010, 9999})
	if err != nil {
		log.Fatal(err)
	}
	groups, err := keys.Prune(column)
	if err != nil {
		log.Fatal(err)
	}
	for group := range groups {
		fmt.Println(group.Index, slices.Collect(group.Keys()))
	}
	reader.Close()
	// Output:
	// 0 [0]
	// 1 [1]
}

// ordersFile returns a file of two row groups: the ids 0, 10, 20 … and 1000, 1010 …
func ordersFile() []byte {
	var data bytes.Buffer
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{schema.NewInt64Node("id", parquet.Repetitions.Required, -1)}, -1))
	w := file.NewParquetWriter(&data, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterNDV(100))))
	for first := range int64(2) {
		ids := make([]int64, 100)
		for i := range ids {
			ids[i] = 1000*first + 10*int64(i)
		}
		group, err := w.AppendRowGroupChecked()
		check(err)
		column, err := group.NextColumn()
		check(err)
		_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(ids, nil, nil)
		check(err)
		check(column.Close())
		check(group.Close())
	}
	check(w.Close())
	return data.Bytes()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
