package bloomsst

import (
	"errors"
	"iter"
)

// The filters of a table, which of them has a key, and what it answers.

// Parts returns the number of filters in the table. Only tables of LevelDB and tables with partitions can
// have several filters.
func (t *Table) Parts() (n int) {
	all := t.shown()
	if all == nil {
		return 0
	}
	for i := range all.len() {
		if !all.empty(i) {
			n++
		}
	}
	return n
}

// Filters returns the filters of the table in the order of their keys, and an error for each filter that
// cannot be read. The iterator reads each partition of RocksDB when it reaches that partition. The partition
// then stays in memory. The iterator includes filters of prefixes, even if queries do not use them
// ([ErrPrefix]). [Table.FilterKey] returns the bytes to look up in a filter.
func (t *Table) Filters() iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		all := t.shown()
		if all == nil {
			return
		}
		for i := range all.len() {
			p, err := all.part(t, i)
			if p.isNone() && err == nil {
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// shown returns the filters that can be read, used or not.
func (t *Table) shown() filters {
	if t.filters == nil {
		return t.unused
	}
	return t.filters
}

// FilterKey returns the bytes that the filters of the table contain for a key: the key itself, or a prefix of
// the key. FilterKey returns false if the key has no prefix, or if queries do not use the filters
// ([Table.Ignored]).
func (t *Table) FilterKey(userKey []byte) (key []byte, ok bool) {
	if t.Ignored() != nil {
		return nil, false
	}
	return t.inFilter(userKey)
}

// inFilter returns the part of a key that is in the filter, or false if the filter says nothing about the key.
func (t *Table) inFilter(key []byte) ([]byte, bool) {
	if t.split == nil || !t.hasSplit() && !t.properties.prefixesOnly {
		return key, true
	}
	n := t.split(key)
	if n < 0 || n > len(key) {
		return nil, false
	}
	return key[:n], true
}

func (t *Table) filterMayContain(p *proof, userKey []byte) (bool, error) {
	if t.filters == nil || p.denied != nil {
		return true, nil
	}
	if b, ok := t.filters.(*blocks); ok && p.ordered && t.split == nil { // a key is asked here in the time of some calls of an interface
		return b.mayContain(t, p, userKey)
	}
	if !p.ordered {
		key, ok := t.inFilter(userKey)
		if !ok {
			return true, nil
		}
		return t.askAll(p.tails, key)
	}
	i, err := t.filters.find(t, userKey, p.compare)
	switch {
	case err != nil:
		return true, err
	case i < 0:
		return false, nil
	case i >= t.filters.len():
		return true, nil // the engine has no filter for the key's block
	}
	key, ok := t.inFilter(userKey)
	if !ok {
		return true, nil
	}
	return t.ask(p.tails, i, key)
}

// ask tests the filter of a number for what is in it of a key.
func (t *Table) ask(v tails, i int, key []byte) (bool, error) {
	switch f := t.filters.(type) {
	case *blocks:
		return f.ask(v, i, key), nil
	case *partitions:
		if l := f.loaded[i].Load(); l != nil && l.err == nil { // without a copy
			return l.filter.mayContain(v, key), nil
		}
	}
	p, err := t.filters.part(t, i)
	switch {
	case errors.Is(err, ErrRibbon) || errors.Is(err, ErrPolicy):
		return true, nil
	case err != nil:
		return true, err
	}
	return p.mayContain(v, key), nil
}

// askAll tests all filters, because it is not known which one has the key.
func (t *Table) askAll(v tails, key []byte) (bool, error) {
	for i := range t.filters.len() {
		if may, err := t.ask(v, i, key); may || err != nil {
			return true, err
		}
	}
	return t.filters.len() == 0, nil
}
