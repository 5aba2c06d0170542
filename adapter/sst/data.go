package bloomsst

import (
	"errors"
	"fmt"
	"strings"
)

// How much of a data block is read: a number of keys, and of bytes.
const (
	sampledKeys  = 256
	sampledBytes = 1 << 20
)

// dataKeys returns the first keys of a data block, in their order.
func (t *Table) dataKeys(h handle) ([]storedKey, error) {
	block, err := t.dataBlock(h)
	if err != nil {
		return nil, err
	}
	if !t.columnar() {
		return rowKeys(newDataRows(block))
	}
	if !strings.HasPrefix(t.properties.schema, defaultSchema) {
		return nil, fmt.Errorf("%w: data blocks with the key schema %q", ErrVersion, t.properties.schema)
	}
	return columnKeys(block)
}

// dataBlock returns the contents of a data block. RocksDB compresses data blocks alone with a dictionary.
func (t *Table) dataBlock(h handle) ([]byte, error) {
	const what = "a data block"
	if t.dictionary.size == 0 {
		return t.file.block(h, what)
	}
	dictionary, err := t.file.block(t.dictionary, "the dictionary")
	if err != nil {
		return nil, err
	}
	file := t.file
	file.dictionary = dictionary
	return file.block(h, what)
}

// rowKeys returns keys of a block of rows.
func rowKeys(r rows) (keys []storedKey, err error) {
	bytes := 0
	for len(keys) < sampledKeys && bytes < sampledBytes && r.next() {
		if len(r.key) < tagSize {
			return nil, fmt.Errorf("%w: a key of %d bytes in a data block has no tag", ErrDamaged, len(r.key))
		}
		bytes += len(r.key)
		keys = append(keys, storedKey{append([]byte{}, r.key[:len(r.key)-tagSize]...), -1})
	}
	return keys, r.err
}

// defaultSchema is how the name of Pebble's own schema of key columns begins: a column of the prefixes that Split returns, and one
// of the rest.
const defaultSchema = "DefaultKeySchema("

// columnKeys returns keys of a data block of columns in Pebble's own schema.
func columnKeys(block []byte) (keys []storedKey, err error) {
	const header = 4 // the length of the longest key
	c, err := columnsAt(block, header, 2)
	if err != nil {
		return nil, err
	}
	suffixes, err := c.bytes(1)
	if err != nil {
		return nil, err
	}
	bytes := 0
	var suffixErr error
	err = c.prefixes(0, func(row int, prefix []byte) bool {
		var suffix []byte
		if suffix, suffixErr = suffixes.at(row); suffixErr != nil {
			return false
		}
		key := append(append([]byte{}, prefix...), suffix...)
		keys = append(keys, storedKey{key, len(prefix)})
		bytes += len(key)
		return len(keys) < sampledKeys && bytes < sampledBytes
	})
	return keys, errors.Join(err, suffixErr)
}
