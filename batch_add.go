package bloom

import (
	"math/bits"

	"github.com/lanebloom/bloom/internal/detect"
)

// addFound is [Set.TestAndAddBatch].
func (v *view) addFound(keys *Keys, hits []uint64) int {
	hits = keys.wordsOf(hits)
	v.mustHaveBits()
	keys.mustServe(v.format)
	if keys.n <= singleKeys || detect.Races && v.atomic {
		return v.addFoundRows(keys, hits)
	}
	if keys.n <= smallBatch {
		return v.inSmallWindow(keys, hits, true)
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
	keys.hash(v.scheme, v.kernel, h)
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
		added |= oneIf(s.addHash(h.at(from+i, s.scheme))) << (i % 64)
	}
	return added
}
