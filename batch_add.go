package bloom

import (
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/detect"
)

// A window of TestAndAddBatch is added in one of two ways. If few keys are new, all are tested, and those
// that miss a bit are added: that takes as long as a query. Else all are added without a test, in
// their order: to set the bits of a key that has them changes nothing, and tells as much as a test.

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
	h := w.hashes(hashKinds[v.pair.hash()].words, keys.n)
	n := v.addFoundWindows(keys, &h, hits)
	w.giveBack()
	return n
}

// addFoundRows is addFound key by key.
func (v *view) addFoundRows(keys *Keys, hits []uint64) (total int) {
	for i := range hits {
		word := uint64(0)
		for j := range min(64, keys.n-64*i) {
			if row := 64*i + j; (keys.validity == nil || keys.valid(row, 1) != 0) && !v.addHash(keys.hashRow(v.pair.hash(), row)) {
				word |= 1 << j
			}
		}
		hits[i] = word
		total += bits.OnesCount64(word)
	}
	return total
}

// addFoundWindows is addFound with a buffer for the hashes of a window of keys. It slices the column and the
// buffer where it must, as probeWindows does.
func (v *view) addFoundWindows(keys *Keys, buffer *hashes, hits []uint64) int {
	fresh := v.isFresh(freshBlocks, 16) // where so few new keys make it pay, no test is best at first
	if keys.n <= min(2*sampleKeys, buffer.len()) {
		if keys.n < buffer.len() {
			some := buffer.slice(0, keys.n)
			buffer = &some
		}
		return v.addFoundWindow(keys, buffer, hits, fresh, false)
	}
	total, dense := 0, false
	for i, end := 0, sampleKeys; i < keys.n; i, end = end, min(end+buffer.len(), keys.n) {
		part, h := keys.slice(i, end), buffer.slice(0, end-i)
		n, valid := v.addFoundWindow(&part, &h, hits[i/64:], fresh, dense), part.n-part.nulls()
		dense, fresh = v.isDense(n, valid), v.isFresh(valid-n, valid)
		total += n
	}
	return total
}

// addFoundWindow is TestAndAddBatch for a window of keys. h has room for their hashes. fresh and
// dense are hints: many of the keys before them were new, or were not.
func (v *view) addFoundWindow(keys *Keys, h *hashes, hits []uint64, fresh, dense bool) (total int) {
	keys.hash(v.pair.hash(), v.kernel, h)
	var chosen [windowKeys / 64]uint64
	added := hits[:(keys.n+63)/64] // the keys that were new, until the last loop
	if !fresh {
		v.probeHashes(h, chosen[:], dense)
	}
	left := 0
	for i := range added {
		rows := min(64, keys.n-64*i)
		chosen[i] = ^chosen[i] << (64 - rows) >> (64 - rows)
		if keys.validity != nil {
			chosen[i] &= keys.valid(64*i, rows)
		}
		left += bits.OnesCount64(chosen[i])
	}
	switch {
	case v.atomic || left < v.leastPacked(keys.n):
		v.addChosen(h, chosen[:], added)
	case left == keys.n:
		v.addInOrder(h, added)
	default:
		h.pack(v.kernel, chosen[:])
		packed := h.slice(0, left)
		var outcomes [windowKeys/64 + 1]uint64
		v.addInOrder(&packed, outcomes[:])
		spread(added, chosen[:], outcomes[:])
	}
	total = keys.n - keys.nulls()
	for i, isNew := range added {
		total -= bits.OnesCount64(isNew)
		hits[i] = ^isNew
		if keys.validity != nil {
			hits[i] &= keys.valid(64*i, min(64, keys.n-64*i))
		}
	}
	hits[len(added)-1] &= math.MaxUint64 >> (uint(-keys.n) % 64)
	return total
}

// leastPacked returns the number of keys among n, at least 1, from which on it is likely to be faster to move
// them side by side and add them in their order. Below it, they are added where they are.
func (s *prober) leastPacked(n int) int {
	switch {
	case s.kernel == Generic:
		return max(1, n/packedGeneric)
	case s.pair.walk() == walkDouble32:
		return windowKeys / fewKeys
	}
	return max(singleKeys, n/fewKeys)
}

// isFresh reports whether it is likely to be faster to add the next keys without a test, because
// so many of the last n keys were new.
func (s *prober) isFresh(added, n int) bool {
	switch walk := s.pair.walk(); {
	case s.atomic:
		return false
	case s.kernel == Generic && walk == walkSplit256:
		return 16*added >= freshBlocksGeneric*n
	case s.kernel == Generic:
		return 16*added >= freshGeneric*n
	case walk == walkSplit256:
		return 16*added >= freshBlocks*n
	}
	return 16*added >= fresh*n
}

// addChosen adds the chosen ones of the keys with the given hashes one by one, and tells which were
// new.
func (v *view) addChosen(h *hashes, chosen, added []uint64) {
	for i := range added {
		word := uint64(0)
		for rest := chosen[i]; rest != 0; rest &= rest - 1 {
			j := bits.TrailingZeros64(rest)
			if v.addHash(h.at(64*i+j, v.pair.hash())) {
				word |= 1 << j
			}
		}
		added[i] = word
	}
}

// spread writes the outcomes of the chosen rows, which lie side by side, to the places of these rows. It
// reads one word of outcomes more than there are.
func spread(to, chosen, outcomes []uint64) {
	at := 0
	for i := range to {
		outcome := outcomes[at/64]>>(at%64) | outcomes[at/64+1]<<(63-at%64)<<1
		at += bits.OnesCount64(chosen[i])
		word := uint64(0)
		for rest := chosen[i]; rest != 0; rest &= rest - 1 {
			word |= rest & -rest & -(outcome & 1)
			outcome >>= 1
		}
		to[i] = word
	}
}
