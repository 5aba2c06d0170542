package bloomsst

import (
	"bytes"
)

// The queries of a table: by its filter, by its range, or by both.

// MayContain reports whether the table may contain a user key. The result is true if the key is a hit in the
// filter and lies in the table's range ([Table.Range]). False is certain. Pass the key that you would pass to
// the database's own Get method. If the table has no filter, or if queries do not use the filter
// ([Table.Ignored]), MayContain tests only the range. If MayContain returns an error, the result is true.
//
// Before its first answer, MayContain looks up some keys of the table in the filter ([Table.Proved]). It
// reads a partition of RocksDB's filter when a key first needs that partition.
func (t *Table) MayContain(userKey []byte) (bool, error) {
	p := t.proof.Load()
	if p == nil {
		p = t.proved()
	}
	if p.filter != nil {
		return p.filter.MayContain(userKey) && !p.outside(userKey) || t.isSynthetic(), nil
	}
	may, err := t.filterMayContain(p, userKey)
	if may && err == nil && p.outside(userKey) {
		may = false
	}
	return may || t.isSynthetic(), err
}

// FilterMayContain reports whether the filter may contain a key. The engine gets the same answer from the
// filter. Unlike [Table.MayContain], FilterMayContain does not test whether the key is in the table's range.
func (t *Table) FilterMayContain(userKey []byte) (bool, error) {
	if t.filters == nil || t.isSynthetic() {
		return true, nil
	}
	return t.filterMayContain(t.proved(), userKey)
}

// Range returns the first key of the table, and an upper bound of its keys, which is the last key or a
// shorter key that sorts after it. Both are user keys. The order is that of the database, which may differ
// from byte order. The bounds are known if the package has proved this order ([Comparator]), and if the table
// records both bounds. Badger's tables do not record an upper bound. Do not modify the keys.
func (t *Table) Range() (first, last []byte, known bool) {
	p := t.proved()
	return p.first, p.last, p.first != nil && p.last != nil && !t.isSynthetic()
}

// UpperBound returns an upper bound of the table's keys, which is the last key or a shorter key that sorts
// after it. UpperBound reads the index block, whose last entry is the bound. The order is that of the
// database. In RocksDB's reverse order, for example, the last key is the lowest key in byte order. UpperBound
// returns nil for tables of Badger, which record no upper bound, and for empty tables.
func (t *Table) UpperBound() ([]byte, error) {
	if t.engine == Badger {
		return nil, nil
	}
	blocks, err := t.readIndex(lastOf)
	if err != nil || blocks.len() == 0 {
		return nil, err
	}
	return bytes.Clone(blocks.key(blocks.len() - 1)), nil
}
