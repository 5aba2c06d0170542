package bloomsst

import (
	"fmt"
	"math/bits"

	"github.com/lanebloom/bloom"
)

// MayContainBatch queries the table for every user key of a column, as [Table.MayContain] does for one key.
// It sets bit i%64 of hits[i/64] if the table may contain key i, and clears the bit if not. It writes
// (keys.Len()+63)/64 words, clears the bits past the last key, and returns the number of hits. A null row is
// a hit only if queries do not use the filter ([Table.Ignored]). For a column of hashes, MayContainBatch does
// not test the range of the table's keys.
//
// If MayContainBatch returns an error, the keys whose filter could not be read are hits. The error is
// [bloom.ErrKeys] if keys contains hashes but the table needs the keys themselves. Tables of LevelDB, tables
// with partitions and tables with Ribbon filters need the keys. A table also needs the keys if the option
// [Split] or the table itself defines the prefixes in the filter. Some tables of old versions of Pebble need
// the keys, too, and so do tables whose data [Table.Proved] could not read. With this error, all rows that
// are not null are hits.
//
// MayContainBatch panics if hits has too few words, or if keys contains hashes and the filter's format uses a
// different hash.
func (t *Table) MayContainBatch(keys bloom.Keys, hits []uint64) (n int, err error) {
	if t.isSynthetic() {
		return setAll(hits, keys.Len()), nil
	}
	p := t.proved()
	if t.filters == nil || p.denied != nil {
		return p.inRange(keys, hits, setAll(hits, keys.Len())), nil
	}
	if f := t.ofHashes(p); f != nil {
		return p.inRange(keys, hits, f.MayContainBatch(keys, hits)), nil
	}
	all, err := everything(t.format)
	if err != nil {
		return setAll(hits, keys.Len()), err
	}
	n = all.MayContainBatch(keys, hits) // all rows but those that are null
	var key []byte
	for row := range keys.Len() {
		word, bit := &hits[row/64], uint64(1)<<(row%64)
		if *word&bit == 0 {
			continue
		}
		var known bool
		if key, known = keys.AppendKey(key[:0], row); !known {
			return n, fmt.Errorf("%w: hashes do not show which filter to query", bloom.ErrKeys)
		}
		may, keyErr := t.MayContain(key)
		if err == nil {
			err = keyErr
		}
		if !may {
			*word &^= bit
			n--
		}
	}
	return n, err
}

// ofHashes returns the filter of a table that asks one Bloom filter of whole keys, which hashes serve, or nil for other tables.
func (t *Table) ofHashes(p *proof) *bloom.Filter {
	if t.isSynthetic() {
		return nil
	}
	return p.filter
}

// inRange clears those of n hits whose keys are outside of the range, and returns how many are left. Null rows and hashes stay.
func (p *proof) inRange(keys bloom.Keys, hits []uint64, n int) int {
	if p.first == nil && p.last == nil {
		return n
	}
	var key []byte
	for i, word := range hits[:(keys.Len()+63)/64] {
		for ; word != 0; word &= word - 1 {
			var known bool
			key, known = keys.AppendKey(key[:0], 64*i+bits.TrailingZeros64(word))
			if known && p.outside(key) {
				hits[i] &^= word & -word
				n--
			}
		}
	}
	return n
}

// setAll sets the first n bits.
func setAll(hits []uint64, n int) int {
	hits = hits[:(n+63)/64]
	for i := range hits {
		hits[i] = ^uint64(0)
	}
	if n%64 != 0 {
		hits[len(hits)-1] = 1<<(n%64) - 1
	}
	return n
}

// everything returns a filter of a format that has every key.
func everything(f bloom.Format) (*bloom.Filter, error) {
	empty := bloom.Policy{Format: f, BitsPerKey: 10}.NewFilter(bloom.Strings([]string{""}))
	encoded := empty.AppendFilter(nil)
	from, to := empty.BitRange()
	for i := range encoded[from:to] {
		encoded[from+i] = 0xff
	}
	return bloom.Open(f, encoded)
}
