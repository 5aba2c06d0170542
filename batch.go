package bloom

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
	"github.com/lanebloom/bloom/internal/probes"
)

// MayContainBatch tests every key of a column and returns the number of hits. It sets bit i%64 of hits[i/64]
// if key i may be in the filter, and clears it otherwise. This is the bit order of Arrow's bitmaps.
// MayContainBatch writes the first (keys.Len()+63)/64 words of hits, and clears the bits past the last key. A
// null row is not a hit.
//
// For about 8 strings or more, or 16 integers or more, MayContainBatch is faster than a separate call of
// MayContain for each key. For fewer keys, it takes as long as the separate calls, so you can use
// MayContainBatch for any number of keys.
//
// MayContainBatch panics if hits is too short, or if keys is a column of hashes that were not computed with
// the filter's hash function.
//
//gcassert:inline
//gcassert:noescape
func (v *view) MayContainBatch(keys Keys, hits []uint64) int { return v.probeColumn(&keys, hits) }

// probeColumn is MayContainBatch. It takes a pointer, because a copy of the column would cost a single key as much
// as its test. Few keys without null rows, in the layouts of most columns, are tested one by one.
func (v *view) probeColumn(keys *Keys, hits []uint64) int {
	if uint(keys.n-1) >= keysAcross || keys.validity != nil || len(hits) == 0 || detect.Races && v.atomic {
		return v.probeBatch(keys, hits)
	}
	word := uint64(0)
	switch keys.layout {
	case uint64s:
		if keys.n > int(v.few.integers) {
			return v.probeBatch(keys, hits)
		}
		for i, key := range elements[uint64](keys, keys.n) {
			word |= probes.OneIf(probeUint64(&v.Base, key)) << (i % 64)
		}
	case byteSlices, strs:
		if keys.n > int(v.few.others) {
			return v.probeBatch(keys, hits)
		}
		size := elementSize[keys.layout]
		for i := range keys.n {
			p, n := keyAt(unsafe.Add(keys.column, uintptr(i)*size))
			word |= probes.OneIf(v.oneKey.ofKey(&v.prober, uintptr(p), n)) << (i % 64)
		}
	default:
		return v.probeBatch(keys, hits)
	}
	hits[0] = word
	return bits.OnesCount64(word)
}

// probeBatch is MayContainBatch.
func (v *view) probeBatch(keys *Keys, hits []uint64) int {
	hits = keys.wordsOf(hits)
	if v.scheme == 0 { // the zero Filter
		clear(hits)
		return 0
	}
	keys.mustServe(v.format)
	if keys.n <= keysAcross && keys.n <= v.few.of(keys) || detect.Races && v.atomic {
		return v.probeRows(keys, hits)
	}
	if keys.n <= smallBatch {
		switch words := schemes[v.scheme].words; {
		case keys.n <= vectorKeys && words > one32:
			return v.inVector(keys, hits, false)
		case words <= one64:
			return v.inSmallWindow(keys, hits, false)
		}
	}
	w := takeWindow()
	h := w.hashes(schemes[v.scheme].words, keys.n)
	n := v.probeWindows(keys, &h, hits)
	w.giveBack()
	return n
}

// of returns the number for a column. Keys that are gathered first take longer to hash together.
func (f few) of(keys *Keys) int {
	switch {
	case keys.layout == uint64s || keys.layout == uint32s:
		return int(f.integers)
	case keys.isGathered():
		return max(int(f.others), vectorKeys-1)
	}
	return int(f.others)
}

// wordsOf returns the words for the bits of the keys. It panics if there are fewer.
func (k *Keys) wordsOf(hits []uint64) []uint64 {
	words := (k.n + 63) / 64
	if len(hits) < words {
		panic(fmt.Sprintf("bloom: %d words for the bits of %d keys, which need %d: (keys.Len()+63)/64", len(hits), k.n, words))
	}
	return hits[:words]
}

// probeRows is probeBatch key by key.
func (v *view) probeRows(keys *Keys, hits []uint64) (total int) {
	for i := range hits {
		word := uint64(0)
		for j := range min(64, keys.n-64*i) {
			if row := 64*i + j; (keys.validity == nil || keys.valid(row, 1) != 0) && v.probeHash(keys.hashRow(v.scheme, row)) {
				word |= 1 << j
			}
		}
		hits[i] = word
		total += bits.OnesCount64(word)
	}
	return total
}

// inVector is probeWindows, or addFoundWindows if add is set, for at most vectorKeys keys, with their hashes on the stack: to clear
// the buffers of more would take as long as to test some keys. It is a function of its own, so that other batches need no stack for
// its buffers.
//
//go:noinline
func (v *view) inVector(keys *Keys, hits []uint64, add bool) int {
	n, words := keys.n, schemes[v.scheme].words
	if words == one64 {
		var h [vectorKeys]uint64
		return v.inWindows(keys, &hashes{h1: h[:n]}, hits, add)
	}
	var h1, h2 [vectorKeys]uint64
	if words == four64 {
		var h3, h4 [vectorKeys]uint64
		return v.inWindows(keys, &hashes{h1: h1[:n], h2: h2[:n], h3: h3[:n], h4: h4[:n]}, hits, add)
	}
	return v.inWindows(keys, &hashes{h1: h1[:n], h2: h2[:n]}, hits, add)
}

// inSmallWindow is inVector for at most smallBatch keys and hashes of one word.
//
//go:noinline
func (v *view) inSmallWindow(keys *Keys, hits []uint64, add bool) int {
	n := keys.n
	if schemes[v.scheme].words == one32 {
		var h [smallBatch]uint32
		return v.inWindows(keys, &hashes{h32: h[:n]}, hits, add)
	}
	var h [smallBatch]uint64
	return v.inWindows(keys, &hashes{h1: h[:n]}, hits, add)
}

// inWindows is probeWindows, or addFoundWindows if add is set.
func (v *view) inWindows(keys *Keys, room *hashes, hits []uint64, add bool) int {
	if add {
		return v.addFoundWindows(keys, room, hits)
	}
	return v.probeWindows(keys, room, hits)
}

// probeWindows is probeBatch with a buffer for the hashes of a window of keys, or of
// all keys. It slices the column and the buffer only where it must: for few keys, that costs
// as much as the rest.
func (v *view) probeWindows(keys *Keys, buffer *hashes, hits []uint64) int {
	step := buffer.len()
	total, dense := 0, false
	for i := 0; i < keys.n; i += step {
		part, h := keys, buffer
		if keys.n > step {
			rows := keys.slice(i, min(i+step, keys.n))
			part = &rows
		}
		if part.n < buffer.len() {
			some := buffer.slice(0, part.n)
			h = &some
		}
		if own := part.ownHashes(); own != nil {
			h = &hashes{h1: own}
		} else if part.n >= vectorKeys || !part.hashFew(v.scheme, v.kernel, h, false) {
			part.hash(v.scheme, v.kernel, h)
		}
		found := v.probeHashed(part, h, hits[i/64:], dense)
		dense = v.scheme.isDense(found, part.n)
		total += found
	}
	return total
}

// AppendHits tests every key of a column and appends the positions of the hits to dst, in ascending order. It
// returns the extended slice.
//
// Positions are 32-bit numbers, so AppendHits panics if the column has more than 2^32 keys. Use [Keys.Slice]
// to split such a column. AppendHits also panics if keys is a column of hashes that were not computed with
// the filter's hash function.
//
//gcassert:noescape
func (v *view) AppendHits(dst []uint32, keys Keys) []uint32 {
	v.mustTakeColumn(keys)
	if uint64(keys.n) > math.MaxUint32+1 {
		panic("bloom: AppendHits of more than 2^32 keys")
	}
	var hits [windowKeys / 64]uint64
	for i := 0; i < keys.n; i += windowKeys {
		part := keys.slice(i, min(i+windowKeys, keys.n))
		v.MayContainBatch(part, hits[:])
		for j := range (part.n + 63) / 64 {
			for rest := hits[j]; rest != 0; rest &= rest - 1 {
				dst = append(dst, uint32(i+64*j+bits.TrailingZeros64(rest)))
			}
		}
	}
	return dst
}

// Hits returns an iterator over the positions of the keys that may be in the filter, in ascending order. It
// panics if keys is a column of hashes that were not computed with the filter's hash function.
//
//gcassert:inline
func (v *view) Hits(keys Keys) iter.Seq[int] { // is inlined, so that a loop over it allocates nothing
	v.mustTakeColumn(keys)
	return func(yield func(int) bool) { v.eachHit(keys, yield) }
}

// mustTakeColumn panics if the column has hashes of another kind than the filter's.
//
//go:noinline
func (v *view) mustTakeColumn(keys Keys) {
	if v.scheme != 0 { // the zero Filter has no hash
		keys.mustServe(v.format)
	}
}

// eachHit yields the hits. It tests a window of keys when it has yielded those of the window
// before.
func (v *view) eachHit(keys Keys, yield func(int) bool) {
	var hits [windowKeys / 64]uint64
	for i := 0; i < keys.n; i += windowKeys {
		part := keys.slice(i, min(i+windowKeys, keys.n))
		v.MayContainBatch(part, hits[:])
		for j := range (part.n + 63) / 64 {
			for rest := hits[j]; rest != 0; rest &= rest - 1 {
				if !yield(i + 64*j + bits.TrailingZeros64(rest)) {
					return
				}
			}
		}
	}
}

// probeHashed is MayContainBatch for the 1 to windowKeys keys whose hashes are in h. dense is
// a hint: many of the keys before them were hits.
func (v *view) probeHashed(keys *Keys, h *hashes, hits []uint64, dense bool) int {
	v.test(h, hits, dense)
	total := 0
	for i := 0; i < keys.n; i += 64 {
		if keys.validity != nil {
			hits[i/64] &= keys.valid(i, min(64, keys.n-i))
		}
		total += bits.OnesCount64(hits[i/64])
	}
	return total
}

// addFound is [Set.TestAndAddBatch].
func (v *view) addFound(keys *Keys, hits []uint64) int {
	hits = keys.wordsOf(hits)
	v.mustHaveBits()
	keys.mustServe(v.format)
	if keys.n <= leastHashes || detect.Races && v.atomic {
		return v.addFoundRows(keys, hits)
	}
	if keys.n <= smallBatch {
		switch words := schemes[v.scheme].words; {
		case keys.n <= vectorKeys && words > one32:
			return v.inVector(keys, hits, true)
		case words <= one64:
			return v.inSmallWindow(keys, hits, true)
		}
	}
	w := takeWindow()
	h := w.hashes(schemes[v.scheme].words, keys.n)
	n := v.addFoundWindows(keys, &h, hits)
	w.giveBack()
	return n
}

// addFoundRows is addFound key by key.
func (v *view) addFoundRows(keys *Keys, hits []uint64) (total int) {
	for i := range hits {
		word := uint64(0)
		for j := range min(64, keys.n-64*i) {
			if row := 64*i + j; (keys.validity == nil || keys.valid(row, 1) != 0) && !v.addHash(keys.hashRow(v.scheme, row)) {
				word |= 1 << j
			}
		}
		hits[i] = word
		total += bits.OnesCount64(word)
	}
	return total
}

// addFoundWindows is addFound with a buffer for the hashes of a window of keys.
func (v *view) addFoundWindows(keys *Keys, buffer *hashes, hits []uint64) int {
	total, dense := 0, false
	for i, step := 0, buffer.len(); i < keys.n; i += step {
		part := keys.slice(i, min(i+step, keys.n))
		h := buffer.slice(0, part.n)
		n := v.addFoundWindow(&part, &h, hits[i/64:], dense)
		dense = v.scheme.isDense(n, part.n-part.nulls())
		total += n
	}
	return total
}

// addFoundWindow is addFound for a window of keys. h has room for their hashes. dense is a hint: many of the keys before
// them were hits.
//
// It tests all keys and adds those that miss a bit. If many do, a kernel adds all: to set the bits of a key that has
// them changes nothing, and it tells as much as a test.
func (v *view) addFoundWindow(keys *Keys, h *hashes, hits []uint64, dense bool) (total int) {
	if keys.n >= vectorKeys || !keys.hashFew(v.scheme, v.kernel, h, true) {
		keys.hash(v.scheme, v.kernel, h)
	}
	words := (keys.n + 63) / 64
	var added [windowKeys / 64]uint64
	if found := v.probeHashed(keys, h, hits, dense); keys.validity == nil && 2*found <= keys.n && v.addInOrder(h, added[:]) {
		for i, isNew := range added[:words] {
			hits[i] = keys.valid(64*i, min(64, keys.n-64*i)) &^ isNew
			total += bits.OnesCount64(hits[i])
		}
		return total
	}
	for i := range words {
		valid := keys.valid(64*i, min(64, keys.n-64*i))
		hits[i] = valid &^ v.addChosen(h, 64*i, valid&^hits[i])
		total += bits.OnesCount64(hits[i])
	}
	return total
}

// addChosen adds the chosen ones of 64 keys, from the given one on, and returns those that were new.
func (s *prober) addChosen(h *hashes, from int, chosen uint64) (added uint64) {
	for rest := chosen; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		added |= probes.OneIf(s.addHash(h.at(from+i, s.scheme))) << (i % 64)
	}
	return added
}
