package bloom

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
	"github.com/lanebloom/bloom/internal/probes"
)

// Group looks up keys in many filters at once. For example, a lookup in an LSM tree queries the filters of 10
// to 30 tables, and a query of a data lake tests the filters of thousands of row groups. A Group hashes each
// key once and overlaps the memory loads from different filters.
//
// A Group refers to the bytes of its filters and does not copy them. It is safe for concurrent use.
type Group struct {
	unstored

	filters []*Filter
	parts   []groupPart
	scheme  scheme // noScheme if there is no filter
	kernel  Kernel
}

// newBlocks returns blocks of arrays that are alike, or nil if no function in assembly takes
// blocks of them.
func (s scheme) newBlocks(arrays []probes.Array) []octet {
	if !schemes[s].line || arrays[0].N > math.MaxUint32 || !slices.Contains(kernels, AVX2) { // the number of longer lines is larger: see probes.Pebble
		return nil
	}
	blocks := make([]octet, (len(arrays)+blockArrays-1)/blockArrays)
	for i := range blockArrays * len(blocks) {
		a, b, lane := &arrays[min(i, len(arrays)-1)], &blocks[i/blockArrays], i%blockArrays
		b.bases[lane], b.units[lane] = a.Base, a.N
		if s == schemePebble {
			by := (*probes.Pebble)(a).Divisor()
			b.recips[lane], b.shifts[lane] = by[0], by[1]
		}
	}
	return blocks
}

// NewGroup returns a group of the given filters. The filters must have the same format, except that a group
// can contain both [Nori] and [NoriCrate] filters. The filters may differ in size and in number of probes.
// The group keeps the slice, so do not change the slice afterwards. To hash keys and to test a key in several
// filters at once, the group uses the kernel of the first filter. To choose this kernel, use
// [Filter.WithKernel].
//
// The error is [ErrShape] if the formats of two filters do not match, or if a filter is nil or the zero
// Filter.
func NewGroup(filters []*Filter) (*Group, error) {
	g := &Group{filters: filters}
	arrays := make([]probes.Array, len(filters))
	for i, f := range filters {
		if f == nil || f.scheme == 0 {
			return nil, fmt.Errorf("%w: filter %d of a group has no format", ErrShape, i)
		}
		if f.scheme != filters[0].scheme {
			return nil, fmt.Errorf("%w: filter %d of a group has the format %v, and filter 0 has %v", ErrShape, i, f.format, filters[0].format)
		}
		arrays[i] = f.Array
	}
	if len(filters) == 0 {
		return g, nil
	}
	g.scheme, g.kernel = filters[0].scheme, filters[0].kernel
	for first := 0; first < len(arrays); {
		n := 1
		for first+n < len(arrays) && (first+n)%64 != 0 && arrays[first].Alike(&arrays[first+n]) {
			n++
		}
		g.parts = append(g.parts, groupPart{first, arrays[first:][:n], g.scheme.newBlocks(arrays[first:][:n])})
		first += n
	}
	return g, nil
}

// Len returns the number of filters in the group.
func (g *Group) Len() int { return len(g.filters) }

// MayContain tests a key in every filter and returns the number of hits. It sets bit i%64 of hits[i/64] if
// filter i may contain the key, and clears it otherwise. MayContain writes the first (g.Len()+63)/64 words of
// hits, and clears the bits past the last filter. It panics if hits is too short.
//
//gcassert:noescape
func (g *Group) MayContain(key []byte, hits []uint64) int {
	h := Hash{}
	if g.scheme != 0 {
		h = g.scheme.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
	return g.MayContainHash(h, hits)
}

// MayContainHash is like [Group.MayContain] for the key whose [Hash] is h. It panics if h was not computed
// with the hash function of the filters.
//
//gcassert:noescape
func (g *Group) MayContainHash(h Hash, hits []uint64) int {
	if len(hits) < (len(g.filters)+63)/64 {
		g.panicFewWords(len(hits))
	}
	if g.scheme == 0 {
		return 0
	}
	if h.h4 != uint64(g.scheme) {
		g.mustTake(h)
	}
	total := 0
	for i := range g.parts {
		p := &g.parts[i]
		word := g.probePart(p, h)
		total += bits.OnesCount64(word)
		if p.first%64 != 0 {
			word = hits[p.first/64] | word<<(p.first%64)
		}
		hits[p.first/64] = word
	}
	return total
}

// panicFewWords and mustTake are functions of their own, so that MayContainHash keeps less on the stack.
func (g *Group) panicFewWords(n int) {
	panic(fmt.Sprintf("bloom: %d words for the bits of %d filters, which need %d: (group.Len()+63)/64", n, len(g.filters), (len(g.filters)+63)/64))
}

// mustTake panics if the hash is of another kind than the filters'.
//
//go:noinline
func (g *Group) mustTake(h Hash) {
	if !g.scheme.made(h) {
		g.filters[0].otherHash(h)
	}
}

// probePart sets bit i if filter p.first + i may hold the key of the hash.
func (g *Group) probePart(p *groupPart, h Hash) (word uint64) {
	if detect.Races { // a filter of an AtomicSet needs atomic loads
		for i, f := range g.filters[p.first:][:len(p.arrays)] {
			if f.probeHash(h) {
				word |= 1 << i
			}
		}
		return word
	}
	return g.scheme.testPart(g.kernel, p, h)
}

// MayContainBatch tests every key of a column in every filter and returns the number of hits. The hits of
// filter i are in hits[i*w:(i+1)*w], where w is (keys.Len()+63)/64. In these words, bit j%64 of word j/64 is
// set if key j may be in the filter.
//
// MayContainBatch hashes each key once. If a column has more than 1,024 keys and does not already contain
// hashes, MayContainBatch allocates 4 to 32 bytes for each key.
//
// MayContainBatch panics if hits is too short, or if keys is a column of hashes that were not computed with
// the hash function of the filters.
func (g *Group) MayContainBatch(keys Keys, hits []uint64) int {
	words := (keys.n + 63) / 64 * len(g.filters)
	if len(hits) < words {
		panic(fmt.Sprintf("bloom: %d words for the bits of %d keys in %d filters, which need %d: group.Len()*((keys.Len()+63)/64)",
			len(hits), keys.n, len(g.filters), words))
	}
	hits = hits[:words]
	if g.scheme == 0 {
		return 0
	}
	format := g.filters[0].format
	keys.mustServe(format)
	if keys.n == 0 {
		return 0
	}
	if keys.n <= keysAcross {
		return g.probeAcross(&keys, hits)
	}
	if keys.hashed != noScheme {
		return g.probeColumn(keys, hits)
	}
	if keys.n > windowKeys {
		return g.probeColumn(keys.hashedBy(g.kernel, format), hits)
	}
	w := takeWindow()
	n := g.probeColumn(keys.hashedTo(w.memory[:], g.scheme, g.kernel), hits)
	w.giveBack()
	return n
}

// probeColumn is MayContainBatch for a column of hashes, filter by filter.
func (g *Group) probeColumn(keys Keys, hits []uint64) (total int) {
	words := (keys.n + 63) / 64
	for i, f := range g.filters {
		total += f.MayContainBatch(keys, hits[i*words:][:words])
	}
	return total
}

// probeAcross is MayContainBatch for at most keysAcross keys. It tests one key after the other
// with all filters.
func (g *Group) probeAcross(keys *Keys, hits []uint64) (total int) {
	clear(hits)
	for i := range keys.n {
		if keys.valid(i, 1) == 0 {
			continue
		}
		h := keys.hashRow(g.scheme, i)
		for j := range g.parts {
			p := &g.parts[j]
			for rest := g.probePart(p, h); rest != 0; rest &= rest - 1 {
				hits[p.first+bits.TrailingZeros64(rest)] |= 1 << i
				total++
			}
		}
	}
	return total
}
