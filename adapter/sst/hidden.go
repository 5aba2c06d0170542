package bloomsst

import (
	"fmt"

	"github.com/lanebloom/bloom"
)

// mayHideSplit reports whether the filter may have prefixes of keys, although the table does not say so: Pebble's tables name the
// Comparer, and one with the name of Pebble's own may have another Split.
func (t *Table) mayHideSplit() bool {
	f, isWhole := t.filters.(whole)
	return isWhole && f.Filter != nil && t.hasSplit() && t.split == nil
}

// hiddenSplit returns an error if the filter has far fewer keys than the table has entries: it may have a prefix of each, although
// the keys that were looked up have none. Entries of equal keys count once, as far as the keys that were read tell.
func (t *Table) hiddenSplit(entries, distinct int, seen []bloom.Hash) error {
	p := &t.properties
	if !t.mayHideSplit() || entries == 0 || p.deletions > p.entries || uint64(entries) > p.entries/2 {
		return nil // most keys were read
	}
	f := t.filters.(whole).Filter
	want := float64(p.entries-p.deletions) * float64(distinct) / float64(entries)
	keys := keysOf(f)
	if keys >= want/2 || keys >= want*collapse(f, seen)/2 {
		return nil
	}
	return fmt.Errorf("%w: the filter has about %.0f keys, but the table has about %.0f, so the filter may contain the prefixes that a Split of Pebble returns", ErrPrefix, keys, want)
}

// collapse returns how many keys a filter would be taken to have that has the keys that were looked up, for each of them. LevelDB's hash
// gives keys in a row, such as numbers of 4 bytes, hashes that share most bits.
func collapse(f *bloom.Filter, seen []bloom.Hash) float64 {
	from, to := f.BitRange()
	set, err := f.Format().NewSet(8*uint64(to-from), len(f.Explain(nil).Positions))
	if err != nil || len(seen) == 0 {
		return 1
	}
	for _, h := range seen {
		set.AddHash(h)
	}
	return keysOf(set.Filter()) / float64(len(seen))
}
