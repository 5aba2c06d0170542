package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/bits-and-blooms/bitset"

	lanebloom "github.com/lanebloom/bloom"
)

// BloomFilter is a Bloom filter of m bits and k probes. Create one with [New], [NewWithEstimates], [From] or
// [FromWithM]. The zero BloomFilter contains no keys. You can read an encoded filter into it.
type BloomFilter struct {
	m, k   uint
	length uint             // how many bits are stored: m but in filters of FromWithM
	filter lanebloom.Filter // what is asked
	set    *lanebloom.Set   // the same bits, to add to: nil if there are fewer than m, or no probes
	shared []uint64         // the slice of From, in which every bit is set, too
}

// New returns an empty filter of m bits and k probes, at least one of each.
func New(m, k uint) *BloomFilter {
	m, k = max(1, m), max(1, k)
	set, err := lanebloom.BitsAndBlooms.NewSet(uint64(m), int(min(k, math.MaxInt)))
	if err != nil {
		panic(err)
	}
	return &BloomFilter{m: m, k: k, length: m, filter: *set.Filter(), set: set}
}

// NewWithEstimates returns an empty filter for n keys with a false-positive rate of about fp.
// [EstimateParameters] determines its m and k.
func NewWithEstimates(n uint, fp float64) *BloomFilter { return New(EstimateParameters(n, fp)) }

// From returns a filter of k probes with the bits of data, like [FromWithM] with m = 64*len(data).
func From(data []uint64, k uint) *BloomFilter { return FromWithM(data, uint(64*len(data)), k) }

// FromWithM returns a filter of m bits and k probes with the bits of data. FromWithM copies data, so writing
// to data does not change the filter. Bits that the filter sets later are also set in data, until the filter
// grows: if data has fewer than m bits, the first addition gives the filter m bits of its own.
func FromWithM(data []uint64, m, k uint) *BloomFilter {
	f := must(m, k, uint(64*len(data)), data)
	f.shared = data[:f.length/64] // none if m is 0
	return f
}

// must returns the filter with the bits of some words, or one that stores no bits yet.
func must(m, k, length uint, words []uint64) *BloomFilter {
	f := new(BloomFilter)
	if err := f.make(m, k, length, words); err != nil {
		panic(fmt.Errorf("bloom: a filter of %d bits and %d probes: %w", m, k, err))
	}
	return f
}

// Cap returns m, the number of bits.
func (f *BloomFilter) Cap() uint { return f.m }

// K returns k, the number of probes.
func (f *BloomFilter) K() uint { return f.k }

// BitSet returns a copy of the bits.
func (f *BloomFilter) BitSet() *bitset.BitSet {
	words := make([]uint64, len(f.bits())/8)
	f.copyTo(words)
	return bitset.FromWithLength(f.length, words)
}

// copyTo copies the bits to as many words.
func (f *BloomFilter) copyTo(words []uint64) {
	for i, bits := 0, f.bits(); i < len(words); i++ {
		words[i] = binary.BigEndian.Uint64(bits[8*i:])
	}
}

// Filter returns a view of f as a Filter of github.com/lanebloom/bloom, for example for use in a group. The
// view also contains keys that are added to f later, until f grows or another filter is read into f.
func (f *BloomFilter) Filter() *lanebloom.Filter {
	filter := f.filter
	return &filter
}

// Test reports whether the key may have been added. If Test returns false, the key was certainly not added.
func (f *BloomFilter) Test(data []byte) bool { return f.filter.MayContain(data) }

// TestString is [BloomFilter.Test] for a string.
func (f *BloomFilter) TestString(data string) bool { return f.filter.MayContainString(data) }

// TestBatch tests every key of a column. It sets bit i%64 of hits[i/64] if key i may have been added, and
// clears the bit otherwise. It returns the number of hits. TestBatch panics if hits has fewer than
// (keys.Len()+63)/64 words.
func (f *BloomFilter) TestBatch(keys Keys, hits []uint64) int {
	return f.filter.MayContainBatch(keys, hits)
}

// Add adds a key and returns the filter.
func (f *BloomFilter) Add(data []byte) *BloomFilter {
	f.TestAndAdd(data)
	return f
}

// AddString is [BloomFilter.Add] for a string.
func (f *BloomFilter) AddString(data string) *BloomFilter {
	f.TestAndAddString(data)
	return f
}

// AddBatch adds every key of a column and returns the filter.
func (f *BloomFilter) AddBatch(keys Keys) *BloomFilter {
	if f.grown() {
		f.set.AddBatch(keys)
		f.shareBatch(keys)
	}
	return f
}

// TestAndAdd adds a key, and reports whether the key may have been present before.
func (f *BloomFilter) TestAndAdd(data []byte) bool {
	if !f.grown() {
		return true
	}
	if f.shared != nil {
		return f.shareAndAdd(data)
	}
	return f.set.TestAndAdd(data)
}

// TestAndAddString is [BloomFilter.TestAndAdd] for a string.
func (f *BloomFilter) TestAndAddString(data string) bool {
	if !f.grown() {
		return true
	}
	if f.shared != nil {
		return f.shareAndAdd([]byte(data))
	}
	return f.set.TestAndAddString(data)
}

// TestAndAddBatch adds every key of a column, and reports which keys may have been present before, as
// [BloomFilter.TestBatch] does. If a key occurs several times in the column, every occurrence except the
// first is a hit.
func (f *BloomFilter) TestAndAddBatch(keys Keys, hits []uint64) int {
	if !f.grown() {
		return f.TestBatch(keys, hits)
	}
	n := f.set.TestAndAddBatch(keys, hits)
	f.shareBatch(keys)
	return n
}

// TestOrAdd does the same as [BloomFilter.TestAndAdd]. If the key may be present, neither method sets a bit.
func (f *BloomFilter) TestOrAdd(data []byte) bool { return f.TestAndAdd(data) }

// TestOrAddString does the same as [BloomFilter.TestAndAddString].
func (f *BloomFilter) TestOrAddString(data string) bool { return f.TestAndAddString(data) }

// share sets the bits of a key in the slice of From.
func (f *BloomFilter) share(h lanebloom.Hash) {
	words := h.Words()
	for i := range f.k {
		at := location(&words, i) % uint64(f.m)
		f.shared[at/64] |= 1 << (at % 64)
	}
}

// shareAndAdd is [BloomFilter.TestAndAdd] of a filter that has the slice of From.
func (f *BloomFilter) shareAndAdd(key []byte) bool {
	h := lanebloom.BitsAndBlooms.Hash(key)
	f.share(h)
	return f.set.TestAndAddHash(h)
}

// shareBatch is called after a column was added. If there is a slice of From, it sets the same bits there: those of each key, or
// for a long column all bits of the filter.
func (f *BloomFilter) shareBatch(keys Keys) {
	if uint(keys.Len()) >= uint(len(f.shared))/f.k || !f.shareRows(keys) {
		f.copyTo(f.shared)
	}
}

// shareRows sets the bits of each key of a column in the slice of From. It returns false if no row is a key: the column may be one
// of hashes.
func (f *BloomFilter) shareRows(keys Keys) (some bool) {
	var memory [64]byte
	key := memory[:0]
	for row := range keys.Len() {
		ok := false
		if key, ok = keys.AppendKey(key[:0], row); ok {
			some = true
			f.share(lanebloom.BitsAndBlooms.Hash(key))
		}
	}
	return some
}

// grown gives the filter all m bits. It reports whether keys set bits: in a filter without probes they do not.
func (f *BloomFilter) grown() bool {
	if f.set == nil && f.k > 0 {
		if f.m == 0 {
			panic("bloom: cannot add keys to a filter without bits")
		}
		f.remake(f.m, f.BitSet().Words())
	}
	return f.set != nil
}

// remake gives the filter other bits. It makes the slice of From equal to them, or forgets it if their number differs.
func (f *BloomFilter) remake(length uint, words []uint64) {
	shared := f.shared
	if length != f.length {
		shared = nil
	}
	*f = *must(f.m, f.k, length, words)
	f.shared = shared
	f.copyTo(shared)
}

// isUsual reports whether the filter stores m bits. A filter of FromWithM may store fewer or more.
func (f *BloomFilter) isUsual() bool { return f.set != nil && f.length == f.m }

// ClearAll removes all keys and returns the filter.
func (f *BloomFilter) ClearAll() *BloomFilter {
	if f.isUsual() {
		f.set.Clear()
		clear(f.shared)
	} else {
		f.remake(f.length, nil)
	}
	return f
}

// Merge adds all keys of g. It returns an error if g has a different m or k.
func (f *BloomFilter) Merge(g *BloomFilter) error {
	if f.m != g.m {
		return fmt.Errorf("bloom: m's don't match: %d != %d", f.m, g.m)
	}
	if f.k != g.k {
		return fmt.Errorf("bloom: k's don't match: %d != %d", f.k, g.k)
	}
	if f.isUsual() && g.isUsual() {
		err := f.set.Merge(g.set)
		f.copyTo(f.shared)
		return err
	}
	union := f.BitSet()
	union.InPlaceUnion(g.BitSet())
	f.remake(union.Len(), union.Words())
	return nil
}

// Copy returns a copy of f. Later changes to f do not affect the copy.
func (f *BloomFilter) Copy() *BloomFilter {
	return must(f.m, f.k, f.length, f.BitSet().Words())
}

// Equal reports whether both filters have the same m, k and bits.
func (f *BloomFilter) Equal(g *BloomFilter) bool {
	return f.m == g.m && f.k == g.k && f.length == g.length && bytes.Equal(f.bits(), g.bits())
}

// ApproximatedSize estimates the number of different keys from the number of set bits.
func (f *BloomFilter) ApproximatedSize() uint32 {
	set := 0
	for b := f.bits(); len(b) > 0; b = b[8:] {
		set += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	size := -1 * float64(f.m) / float64(f.k) * math.Log(1-float64(set)/float64(f.m)) / math.Log(math.E)
	return uint32(min(toUint(math.Floor(size+0.5)), math.MaxUint32))
}
