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
func (w *witness) hiddenSplit() error {
	p := &w.t.properties
	if !w.t.mayHideSplit() || w.entries == 0 || p.deletions > p.entries || uint64(w.entries) > p.entries/2 {
		return nil // most keys were read
	}
	f := w.t.filters.(whole).Filter
	want := float64(p.entries-p.deletions) * float64(w.distinct) / float64(w.entries)
	keys := keysOf(f)
	if keys >= want/2 || keys >= want*w.collapse(f)/2 {
		return nil
	}
	return fmt.Errorf("%w: it has some %.0f keys, and the table some %.0f, so it may have what a Split of Pebble returns", ErrPrefix, keys, want)
}

// collapse returns how many keys a filter would be taken to have that has the keys that were looked up, for each of them. LevelDB's hash
// gives keys in a row, such as numbers of 4 bytes, hashes that share most bits.
func (w *witness) collapse(f *bloom.Filter) float64 {
	from, to := f.BitRange()
	set, err := f.Format().NewSet(8*uint64(to-from), len(f.Explain(nil).Positions))
	if err != nil || len(w.seen) == 0 {
		return 1
	}
	for _, h := range w.seen {
		set.AddHash(h)
	}
	return keysOf(set.Filter()) / float64(len(w.seen))
}
