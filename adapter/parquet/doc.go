// Package bloomparquet tests keys against the Bloom filters of Parquet files, to find out which
// row groups have to be read:
//
//	column, err := parquetgo.Open(file, "id")     // or arrowgo.Open
//	keys, err := bloomparquet.KeysOf(column.Type(), ids) // hashed once
//	groups, err := keys.Prune(column)
//	for group := range groups {
//		fmt.Println(group.Index, group.Count) // which keys: group.Keys()
//	}
//
// The packages parquetgo and arrowgo, each a module of its own, open the files of parquet-go and arrow-go.
// This package depends on neither. It needs the information in the footer of a file ([Meta]) and reads the
// filters itself. The filters have the format [bloom.Parquet]. The package checks the header before each
// filter strictly. If it cannot read the filter of a row group, every key may be in that row group, and
// [RowGroup.Err] contains the reason.
//
// An [Index] is one file with the filters of many files. A program reads the index instead of those files. An
// [Indexer] builds it.
//
// An [Embedder] adds filters to a file without rewriting a page. [Sizing] builds these filters.
//
// No row group that has a key is excluded. The bounds of a row group (minimum and maximum) exclude
// keys only if the format defines the order of the values.
package bloomparquet
