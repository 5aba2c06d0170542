package bloomparquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// RowGroup describes which keys may be in a row group, according to its filter and its bounds.
type RowGroup struct {
	Column *Column
	Index  int   // number of the row group in the file, from 0
	Rows   int64 // number of rows in the row group
	// Hits has a bit for each key: bit i%64 of Hits[i/64] is set if key i may be in the row group. If the bit
	// is clear, no row has the key.
	Hits  []uint64
	Count int // number of set bits in Hits
	// Err is the reason why the filter was not used. It is nil if the filter was used or not needed. If Err is
	// not nil, every key within the bounds of the row group is a hit.
	Err error

	// What Chance needs. keys is nil if the filter was not asked.
	keys   *Keys
	span   span
	blocks []byte // of the filter, until the next row group comes
}

// Keys returns an iterator over the positions of the keys that may be in the row group, in ascending order.
func (r RowGroup) Keys() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range r.Hits {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// Prune returns an iterator over the row groups of the given columns. Each [RowGroup] reports which keys
// may be in it. Each loop over the iterator tests the keys again. The Hits of a row group are valid only
// until the next iteration. Clone them if you need them longer.
//
// The loop reads the filter of a row group only if at least one key is within the bounds, and if
// [Column.Load] has not already read the filter. It keeps only one filter in memory at a time.
//
// For columns of an [Index], the loop tests many columns at the same time. This needs at most 192 MiB of
// memory, unless a single column needs more.
//
// The error is [ErrType] if the type of a column does not match the type of the keys.
func (k *Keys) Prune(columns ...*Column) (iter.Seq[RowGroup], error) {
	for _, c := range columns {
		if kin := c.meta.Type.kin(); kin != k.typ {
			where := c.meta.Path
			if c.meta.File != "" {
				where += " of " + c.meta.File
			}
			return nil, fmt.Errorf("%w: column %s is %v, but the keys are %v", ErrType, where, c.meta.Type, k.typ)
		}
	}
	return func(yield func(RowGroup) bool) {
		s, hits := newScratch(k), make([]uint64, (k.Len()+63)/64)
		for at, c := range columns {
			if c.index != nil {
				s.ask(k, columns[at:])
			}
			for i := range c.Len() {
				if !yield(k.test(c, i, s, hits)) {
					return
				}
			}
		}
	}, nil
}

// scratch is memory for the test of a row group.
type scratch struct {
	within []byte // the keys within the bounds, as a bitmap of Arrow
	filter buffer
	answers
}

func newScratch(k *Keys) *scratch {
	return &scratch{within: make([]byte, (k.Len()+63)/64*8)}
}

// test tests the keys against a row group. Bounds come first if they seem to leave few keys: none
// of them may be left, or so few that the filter is asked about these alone. Else the filter
// comes first, and bounds are for what it leaves.
func (k *Keys) test(c *Column, i int, s *scratch, hits []uint64) RowGroup {
	chunk := &c.meta.Chunks[i]
	group := RowGroup{Column: c, Index: i, Rows: chunk.Rows, Hits: hits}
	span := c.meta.Type.span(chunk, k.prefix)
	within, few := k.Len(), k.seemFew(span)
	switch {
	case c.index != nil:
		within = k.countWithin(span)
	case few:
		within = k.within(span, s.within)
	}
	if within == 0 {
		clear(hits)
		return group
	}
	var filter result
	var answer []uint64
	if c.index != nil {
		answer, filter.err = s.of(c, i)
	} else {
		filter = c.filter(i, &s.filter)
	}
	group.keys, group.span, group.blocks, group.Err = k, span, filter.blocks, filter.err
	switch {
	case filter.err != nil:
		if chunk.Unordered && errors.Is(filter.err, ErrNoFilter) {
			group.Err = ErrNoOrder
		}
		group.Count = k.allWithin(span, s, hits)
		return group
	case c.index != nil:
		copy(hits, answer)
	case few && within < k.Len()/fewPart:
		some, err := k.hashed.WithValidity(s.within, 0)
		if err != nil {
			panic(err) // the bitmap is long enough
		}
		filter.MayContainBatch(some, hits)
	default:
		filter.MayContainBatch(k.hashed, hits)
	}
	for j := range hits {
		may := hits[j] | k.unsure.word(j)
		hits[j] = k.keep(span, j, may) | may&k.empty.word(j)
		group.Count += bits.OnesCount64(hits[j])
	}
	if filter.unproven && group.Count < k.within(span, s.within) {
		if group.Err = c.prove(i, filter.Filter); group.Err != nil {
			group.Count = k.allWithin(span, s, hits)
		}
	}
	return group
}

// allWithin makes hits of all keys within a span, and returns their number.
func (k *Keys) allWithin(span span, s *scratch, hits []uint64) int {
	n := k.within(span, s.within)
	for j := range hits {
		hits[j] = s.word(j)
	}
	return n
}

// If less than one in fewPart of the keys is within a span, a batch of these alone is faster than one of all
// keys. A batch with gaps goes from run to run.
const fewPart = 16

// seemFew reports whether a span seems to hold few keys, by a sample of them.
func (k *Keys) seemFew(s span) bool {
	if k.ranks == nil || s == everything {
		return false
	}
	const sample = 64
	step, held := max(1, len(k.ranks)/sample), 0
	for i := 0; i < len(k.ranks); i += step {
		if s.holds(k.ranks[i]) {
			held++
		}
	}
	return held*8 <= len(k.ranks)/step
}

// keep clears the bits of word j of a bitmap whose keys are not within a span.
func (k *Keys) keep(s span, j int, word uint64) uint64 {
	if k.ranks == nil || s == everything {
		return word
	}
	for rest := word; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); !s.holds(k.ranks[64*j+i]) {
			word &^= 1 << i
		}
	}
	return word
}

// word returns a word of the bitmap of the keys within the bounds.
func (s *scratch) word(j int) uint64 { return binary.LittleEndian.Uint64(s.within[8*j:]) }

// countWithin returns how many keys are within a span, or empty.
func (k *Keys) countWithin(s span) int {
	if k.ranks == nil || s == everything {
		return k.Len()
	}
	ranks := k.sorted()
	n := k.Len() - len(ranks)
	if s.from > s.to {
		return n
	}
	from, _ := slices.BinarySearch(ranks, s.from)
	end := len(ranks)
	if s.to < math.MaxUint64 {
		end, _ = slices.BinarySearch(ranks, s.to+1)
	}
	return n + end - from
}

// within sets the bits of the keys within a span and of the empty ones, and returns how many they are.
func (k *Keys) within(s span, bitmap []byte) (total int) {
	n := k.Len()
	for i := 0; i < n; i += 64 {
		count := min(64, n-i)
		word := uint64(1)<<(count-1)<<1 - 1
		if k.ranks != nil && s != everything {
			word = s.holdsAll(k.ranks[i : i+count])
		}
		word |= k.empty.word(i / 64)
		binary.LittleEndian.PutUint64(bitmap[i/8:], word)
		total += bits.OnesCount64(word)
	}
	return total
}
