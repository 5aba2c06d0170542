package bloom

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Group is filters that are asked together: which of them may hold a key? A lookup in an LSM
// tree asks the filters of 10 to 30 tables, and a query of a data lake those of thousands of
// row groups. The key is hashed once, and the loads from one filter do not wait for those from
// another.
//
// A Group refers to the filters' bytes, as [Filter] does. It is safe for concurrent use.
type Group struct {
	filters []*Filter
	arrays  []array // of the filters
	parts   []part
	pair    pair // 0 if there is no filter
	kernel  Kernel
}

// part is a range of the filters of a group. The filters have the same number of probes, and
// lines of the same length. Their hits are in one word.
type part struct{ first, n int }

// NewGroup returns a group of the filters, which must have the same format. The filters may
// differ in size and in their number of probes. It keeps filters: do not change the slice. The
// kernel is that of the first filter.
//
// The error is [ErrShape] if two filters have formats of different hashes or walks, or if one
// is nil or the zero Filter.
func NewGroup(filters []*Filter) (*Group, error) {
	g := &Group{filters: filters, arrays: make([]array, len(filters))}
	for i, f := range filters {
		if f == nil || f.pair == 0 {
			return nil, fmt.Errorf("%w: filter %d of a group has no format", ErrShape, i)
		}
		if f.pair != filters[0].pair {
			return nil, fmt.Errorf("%w: filter %d of a group has the format %v, and filter 0 has %v", ErrShape, i, f.format, filters[0].format)
		}
		g.arrays[i] = f.array
		if i%64 == 0 || !f.pair.walk().alike(&g.arrays[i-1], &g.arrays[i]) {
			g.parts = append(g.parts, part{first: i})
		}
		g.parts[len(g.parts)-1].n++
	}
	if len(filters) > 0 {
		g.pair, g.kernel = filters[0].pair, filters[0].kernel
	}
	return g, nil
}

// Len returns the number of filters.
func (g *Group) Len() int { return len(g.filters) }

// MayContain sets bit i%64 of hits[i/64] if filter i may hold the key, and clears it if not.
// It writes the first (g.Len()+63)/64 words, with 0 for the bits past the last filter. It
// returns the number of set bits.
//
// It panics if hits has fewer words than it writes.
func (g *Group) MayContain(key []byte, hits []uint64) int {
	h := Hash{}
	if g.pair != 0 {
		h = g.pair.hash().of(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
	return g.MayContainHash(h, hits)
}

// MayContainHash is [Group.MayContain] for a key whose [Hash] is h. It panics if the filters'
// format has another hash.
func (g *Group) MayContainHash(h Hash, hits []uint64) int {
	hits = hits[:len(hits):len(hits)][:(len(g.filters)+63)/64]
	if g.pair == 0 {
		return 0
	}
	if h.kind != g.pair.hash() {
		g.filters[0].otherHash(h)
	}
	word, total := uint64(0), 0
	for _, p := range g.parts {
		word |= g.test(p, h) << (p.first % 64)
		if last := p.first + p.n; last%64 == 0 || last == len(g.filters) {
			hits[p.first/64] = word
			total += bits.OnesCount64(word)
			word = 0
		}
	}
	return total
}

// test sets bit i if filter p.first + i may hold the key of the hash.
func (g *Group) test(p part, h Hash) (word uint64) {
	if raceDetector { // a filter of an AtomicSet needs atomic loads
		for i, f := range g.filters[p.first:][:p.n] {
			if f.testHash(h) {
				word |= 1 << i
			}
		}
		return word
	}
	return g.pair.walk().testArrays(g.kernel, g.arrays[p.first:][:p.n], h)
}

// MayContainBatch tests every key of a column with every filter. The hits of filter i are
// the (keys.Len()+63)/64 words from hits[i*((keys.Len()+63)/64)] on, as
// [Filter.MayContainBatch] writes them. It returns the number of set bits.
//
// It hashes each key once. For more than 1,024 keys that are no hashes yet, it allocates memory
// for the hashes: 4 to 16 bytes a key.
//
// It panics if hits has fewer words than it writes, or if keys are hashes of another kind
// than the filters'.
func (g *Group) MayContainBatch(keys Keys, hits []uint64) int {
	words := (keys.n + 63) / 64
	hits = hits[:len(hits):len(hits)][:words*len(g.filters)]
	if g.pair == 0 || keys.n == 0 {
		return 0
	}
	format := g.filters[0].format
	keys.mustServe(format)
	if keys.n <= keysAcross {
		return g.testAcross(&keys, hits)
	}
	if keys.hashed != noHash {
		return g.testColumn(keys, hits)
	}
	if keys.n <= windowKeys {
		return g.testWindow(&keys, hits)
	}
	return g.testColumn(keys.hashedBy(g.kernel, format), hits)
}

// testColumn is MayContainBatch for a column of hashes, filter by filter.
func (g *Group) testColumn(keys Keys, hits []uint64) (total int) {
	words := (keys.n + 63) / 64
	for i, f := range g.filters {
		total += f.MayContainBatch(keys, hits[i*words:][:words])
	}
	return total
}

// testWindow is MayContainBatch for at most windowKeys keys, whose hashes are on the stack.
func (g *Group) testWindow(keys *Keys, hits []uint64) int {
	kind := g.pair.hash()
	switch hashKinds[kind].words {
	case one32:
		var words [windowKeys]uint32
		keys.hash(kind, g.kernel, &hashes{h32: words[:keys.n]})
		return g.testColumn(keys.asHashes(kind, columnOf(hashes32, words[:keys.n])), hits)
	case one64:
		var words [windowKeys]uint64
		keys.hash(kind, g.kernel, &hashes{h1: words[:keys.n]})
		return g.testColumn(keys.asHashes(kind, columnOf(hashes64, words[:keys.n])), hits)
	default:
		var words [windowKeys]hash128
		keys.hash128(kind, g.kernel, words[:keys.n])
		return g.testColumn(keys.asHashes(kind, columnOf(hashes128, words[:keys.n])), hits)
	}
}

// testAcross is MayContainBatch for at most 64 keys. It tests one key after the other with all
// filters.
func (g *Group) testAcross(keys *Keys, hits []uint64) (total int) {
	clear(hits)
	for i := range keys.n {
		if keys.valid(i, 1) == 0 {
			continue
		}
		h := keys.hashRow(g.pair.hash(), i)
		for _, p := range g.parts {
			for rest := g.test(p, h); rest != 0; rest &= rest - 1 {
				hits[p.first+bits.TrailingZeros64(rest)] |= 1 << i
				total++
			}
		}
	}
	return total
}

// WithKernel returns a group of the same filters that runs on kernel k, or [ErrKernel] if k is
// not one of [Kernels]. Every kernel gives the same answers.
func (g *Group) WithKernel(k Kernel) (*Group, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	filters := make([]*Filter, len(g.filters))
	for i, f := range g.filters {
		filter := *f
		filter.kernel = k
		filters[i] = &filter
	}
	h := *g
	h.filters, h.kernel = filters, k
	return &h, nil
}

// Kernel returns the kernel that the group runs on.
func (g *Group) Kernel() Kernel { return g.kernel }
