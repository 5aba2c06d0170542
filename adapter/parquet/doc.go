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
// arrow-go. This package has neither as a dependency: it takes what the footer of a file says
// ([Meta]) and reads the filters itself. They are those of the format [bloom.Parquet]; the header
// before each is checked strictly. A row group without a readable filter may hold every
// key, and [RowGroup.Err] says why.
//
// An [Index] has the filters of many files in one file, which is asked in their place: [Indexer] makes it.
//
// [Embedder] gives a file filters that it does not have, without writing a page anew, and [Sizing] makes them.
//
// No row group is excluded that has a key. The bounds of a row group (minimum and maximum) exclude
// keys only where the format defines the order of the values.
package bloomparquet
