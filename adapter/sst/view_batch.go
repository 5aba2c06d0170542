package bloomsst

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/lanebloom/bloom"
)

// MayContainBatch queries all tables for a column of user keys. For every table that may contain some of the
// keys, it calls each(table, hits). The first argument is the index of the table in [View.Tables]. The second
// argument has a bit for each row, as in [Table.MayContainBatch], and is valid until the callback returns. A
// null row is not a hit. MayContainBatch sorts the keys once, hashes them once for each format, and queries a
// table only for the keys in its range.
//
// If a table cannot be queried for some of the keys, MayContainBatch returns an error, and these keys are
// hits for the table. If keys contains hashes, the error is [bloom.ErrKeys], and MayContainBatch does not
// call the callback.
func (v *View) MayContainBatch(keys bloom.Keys, each func(table int, hits []uint64)) (err error) {
	v.prepare()
	b := batch{each: each, hits: make([]uint64, (keys.Len()+63)/64), found: make([]uint64, (keys.Len()+63)/64)}
	if b.rows, err = rowsOf(keys); err != nil {
		return err
	}
	columns := map[string]*column{}
	for _, r := range v.ranges {
		c := columns[r.name]
		if c == nil {
			c = b.sorted(r.keyOrder)
			columns[r.name] = c
		}
		for i, table := range r.tables {
			from, to := c.within(r.compare, r.first[i], r.last[i])
			b.query(v, table, c, from, to)
		}
	}
	if len(v.anywhere) > 0 {
		c := newColumn(b.rows)
		for _, table := range v.anywhere {
			b.query(v, table, c, 0, len(c.rows))
		}
	}
	return b.err
}

// row is a key of a column, and the number of its row.
type row struct {
	key    []byte
	number int
}

// rowsOf returns the rows of a column that are not null. The error is bloom.ErrKeys if keys are hashes.
func rowsOf(keys bloom.Keys) (rows []row, err error) {
	var all []byte
	var ends []int
	for i := range keys.Len() {
		key, known := keys.AppendKey(all, i)
		if known {
			all = key
			rows, ends = append(rows, row{number: i}), append(ends, len(all))
		}
	}
	from := 0
	for i, end := range ends {
		rows[i].key, from = all[from:end:end], end
	}
	if rows == nil && areHashes(keys) {
		return nil, fmt.Errorf("%w: hashes do not show which tables to query", bloom.ErrKeys)
	}
	return rows, nil
}

// areHashes reports whether some row of a column without keys is not null.
func areHashes(keys bloom.Keys) (yes bool) {
	defer func() {
		if recover() != nil { // hashes of another format
			yes = true
		}
	}()
	all, err := everything(bloom.LevelDB)
	return err != nil || all.MayContainBatch(keys, make([]uint64, (keys.Len()+63)/64)) > 0
}

// batch tests a column of keys.
type batch struct {
	rows  []row
	each  func(table int, hits []uint64)
	found []uint64 // of the rows of a column in order
	hits  []uint64 // of the rows of the caller's column
	err   error
}

// column is the keys of a batch in an order.
type column struct {
	rows   []row
	keys   bloom.Keys
	hashed map[bloom.Format]bloom.Keys
}

func newColumn(rows []row) *column {
	keys := make([][]byte, len(rows))
	for i, r := range rows {
		keys[i] = r.key
	}
	return &column{rows: rows, keys: bloom.Bytes(keys), hashed: map[bloom.Format]bloom.Keys{}}
}

// sorted returns the keys in an order.
func (b *batch) sorted(o keyOrder) *column {
	rows := slices.Clone(b.rows)
	slices.SortFunc(rows, func(x, y row) int { return o.compare(x.key, y.key) })
	return newColumn(rows)
}

// within returns the rows whose keys are in a range.
func (c *column) within(compare func(a, b []byte) int, first, last []byte) (from, to int) {
	from = sort.Search(len(c.rows), func(i int) bool { return compare(c.rows[i].key, first) >= 0 })
	n := sort.Search(len(c.rows)-from, func(i int) bool { return compare(c.rows[from+i].key, last) > 0 })
	return from, from + n
}

// query tests rows of a column, and reports the hits.
func (b *batch) query(v *View, table int, c *column, from, to int) {
	if from == to {
		return
	}
	t := v.tables[table]
	n, err := t.MayContainBatch(c.keysFor(t).Slice(from, to), b.found)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("%s: %w", t.Name(), err)
	}
	if n == 0 {
		return
	}
	clear(b.hits)
	for i, word := range b.found[:(to-from+63)/64] {
		for ; word != 0; word &= word - 1 {
			number := c.rows[from+64*i+bits.TrailingZeros64(word)].number
			b.hits[number/64] |= 1 << (number % 64)
		}
	}
	b.each(table, b.hits)
}

// keysFor returns the keys that a table is tested for: their hashes, if these are enough.
func (c *column) keysFor(t *Table) bloom.Keys {
	f := t.ofHashes(t.proved())
	if f == nil {
		return c.keys
	}
	format := f.Format()
	keys, known := c.hashed[format]
	if !known {
		keys = c.keys.Hashed(format)
		c.hashed[format] = keys
	}
	return keys
}
