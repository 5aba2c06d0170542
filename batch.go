package bloom

import (
	"math"
	"math/bits"
)

// window is how many keys are hashed, and then probed, at a time: few enough
// that their hashes stay in the first-level cache, on the stack.
const window = 512

// MayContainBatch tests every key of a column. It sets bit i%64 of hits[i/64]
// if key i may be in the filter and clears it if not, Arrow's order. It writes
// every word up to the one of the last key, with the bits past the last key
// zero, and returns the number of bits set.
//
// It panics, as an index does, if hits has fewer than (keys.Len()+63)/64 words.
func (v *view) MayContainBatch(keys Keys, hits []uint64) int {
	hits = hits[:(keys.n+63)/64]
	total, dense := 0, false
	var hashes [window]uint32
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		found := v.testWindow(&part, &hashes, hits[i/64:], dense)
		dense = isDense(found, part.n)
		total += found
	}
	return total
}

// AppendHits appends the positions of the keys that may be in the filter to
// dst, in ascending order, and returns the extended slice.
//
// A position is 32 bits wide: AppendHits panics for a column of more than 2^32
// keys, which [Keys.Slice] can divide.
func (v *view) AppendHits(dst []uint32, keys Keys) []uint32 {
	if uint64(keys.n) > math.MaxUint32+1 {
		panic("bloom: AppendHits of more than 2^32 keys")
	}
	var hashes [window]uint32
	var hits [window / 64]uint64
	dense := false
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		dense = isDense(v.testWindow(&part, &hashes, hits[:], dense), part.n)
		for j := range (part.n + 63) / 64 {
			for rest := hits[j]; rest != 0; rest &= rest - 1 {
				dst = append(dst, uint32(i+64*j+bits.TrailingZeros64(rest)))
			}
		}
	}
	return dst
}

// testWindow is MayContainBatch for at most a window of keys. That the window
// before was dense in hits is a hint.
func (v *view) testWindow(keys *Keys, buffer *[window]uint32, hits []uint64, dense bool) int {
	hashes := buffer[:keys.n]
	keys.hash32(hashes)
	total := v.testGeneric(hashes, hits, dense)
	if keys.validity != nil {
		total = 0
		for i := 0; i < keys.n; i += 64 {
			hits[i/64] &= keys.valid(i, min(64, keys.n-i))
			total += bits.OnesCount64(hits[i/64])
		}
	}
	return total
}
