// Package bloomparquet tests keys against the Bloom filters of Parquet files, to find out which row groups
// you need to read:
//
//	column, err := parquetgo.Open(file, "id")     // or arrowgo.Open
//	keys, err := bloomparquet.KeysOf(column.Type(), ids) // hashed once
//	groups, err := keys.Prune(column)
//	for group := range groups {
//		fmt.Println(group.Index, group.Count) // which keys: group.Keys()
//	}
//
// The packages parquetgo and arrowgo return the columns of files that you have opened with parquet-go and
// arrow-go. Each of these packages is a separate module. Package bloomparquet depends on neither of them.
// It needs only the information in the footer of a file ([Meta]), and reads the filters itself.
//
// The filters have the format [bloom.Parquet]. The package checks the header of each filter strictly. If it
// cannot use the filter of a row group, every key within the bounds counts as a hit, and [RowGroup.Err]
// gives the reason.
//
// An [Index] is one file that contains the filters of many files. A program can read the index instead of
// those files. An [Indexer] builds an index.
//
// An [Embedder] adds filters to a file without rewriting a page. [Sizing.Filter] builds these filters.
//
// [Keys.Prune] never excludes a row group that has one of the keys. The bounds of a row group (minimum and
// maximum) exclude keys only if the Parquet format defines the order of the values.
package bloomparquet
