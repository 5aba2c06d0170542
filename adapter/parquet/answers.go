package bloomparquet

import (
	"fmt"
	"slices"

	"github.com/lanebloom/bloom"
)

// answers are what an index answers for the row groups of some columns.
type answers struct {
	rows  *bloom.InterleavedFile
	words int             // of a bitmap of the keys
	at    map[*Column]int // the first row group of a column
	hits  []uint64        // of each row group
	err   error
}

// answersMemory is the most bytes of answers at a time, unless one file has more.
var answersMemory = 64 << 20

// ask asks an index about the first of some columns, and at once about as many more as memory allows. It does
// nothing if the answers for the first one are there.
func (a *answers) ask(k *Keys, columns []*Column) {
	rows := columns[0].index.rows
	if _, asked := a.at[columns[0]]; asked && a.rows == rows {
		return
	}
	*a = answers{rows: rows, words: (k.Len() + 63) / 64, at: map[*Column]int{}, hits: a.hits[:0]}
	groups := 0
	for _, c := range columns {
		if c.index == nil || c.index.rows != rows {
			continue
		}
		if _, twice := a.at[c]; twice {
			continue
		}
		if groups > 0 && 8*a.words*(groups+c.Len()) > answersMemory {
			break
		}
		a.at[c], groups = groups, groups+c.Len()
	}
	a.hits = slices.Grow(a.hits, groups*a.words)[:groups*a.words]
	n := max(answersMemory/8/max(rows.Len(), 1), 1) * 64 // keys at a time
	all := make([]uint64, min(n/64, a.words)*rows.Len())
	for first := 0; first < k.Len() && a.err == nil; first += n {
		part := k.hashed.Slice(first, min(first+n, k.Len()))
		words := (part.Len() + 63) / 64
		_, err := rows.MayContainBatch(part, all)
		if err != nil {
			a.err = fmt.Errorf("the index: %w", errIndex(err))
		}
		for c, at := range a.at {
			for i := range c.Len() {
				copy(a.hits[(at+i)*a.words+first/64:], all[(c.index.first+i)*words:][:words])
			}
		}
	}
}

// of returns the answers for a row group of a column.
func (a *answers) of(c *Column, i int) ([]uint64, error) {
	return a.hits[(a.at[c]+i)*a.words:][:a.words], a.err
}
