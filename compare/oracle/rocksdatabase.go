package oracle

import "slices"

// RocksDatabase is RocksDB, a compiled program that writes databases.
type RocksDatabase struct{ command []string }

// CompileRocksDatabase compiles the program in dir, as [Compile] does.
func CompileRocksDatabase(dir string) (*RocksDatabase, error) {
	command, err := compile(dir, program{source: "rocksdb/database.cc", library: rocksdb})
	return &RocksDatabase{command}, err
}

// Write writes keys to a table of a new database, with options that rocksdb/database.cc lists.
func (d *RocksDatabase) Write(folder string, keys [][]byte, options ...string) error {
	_, err := run(d.command, keys, slices.Concat([]string{"write", folder}, options)...)
	return err
}

// Answers looks keys up, and returns a byte for each: '0' if the table's filter denies it, '+' if it is found, '-'
// if no filter is asked, and '1' else.
func (d *RocksDatabase) Answers(folder string, keys [][]byte, options ...string) ([]byte, error) {
	return run(d.command, keys, slices.Concat([]string{"get", folder}, options)...)
}
