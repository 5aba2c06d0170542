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
// The packages parquetgo and arrowgo, each a module of its own, open the files of parquet-go and
// arrow-go. This package depends on neither: it needs the information in the footer of a file
// ([Meta]) and reads the filters itself. They have the format [bloom.Parquet]; the header
// before each is checked strictly. A row group without a readable filter may have every
// key, and [RowGroup.Err] gives the reason.
//
// An [Index] has the filters of many files in one file, and is read instead of the files: [Indexer] makes it.
//
// [Embedder] adds filters to a file without rewriting a page, and [Sizing] makes the filters.
//
// No row group that has a key is excluded. The bounds of a row group (minimum and maximum) exclude
// keys only if the format defines the order of the values.
package bloomparquet
