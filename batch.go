package bloom

import (
	"math"
	"math/bits"
	"unsafe"
)

// window is how many keys are hashed, and then probed, at a time: few enough
// that their hashes stay in the first-level cache, on the stack, and that a call
// into assembly, which can't be preempted, is short.
const window = 1024

// distant is the size in bytes from which on a filter is so far from the CPU,
// beyond the caches, that half a window takes as long as a window otherwise.
const distant = 32 << 20

// short is a number of keys for which clearing a whole window of hashes would
// cost more than testing them.
const short = 64

// MayContainBatch tests every key of a column. It sets bit i%64 of hits[i/64]
// if key i may be in the filter and clears it if not, Arrow's order. It writes
// every word up to the one of the last key, with the bits past the last key
// zero, and returns the number of bits set.
//
// It panics, as an index does, if hits has fewer than (keys.Len()+63)/64 words.
func (v *view) MayContainBatch(keys Keys, hits []uint64) int {
	hits = hits[:(keys.n+63)/64]
	switch {
	case v.isWide():
		return v.testWide(&keys, hits)
	case keys.n <= short:
		var buffer [short]uint32
		return v.testWindows(&keys, &hashes{narrow: buffer[:keys.n]}, hits)
	default:
		var buffer [window + cacheLine/4]uint32
		return v.testWindows(&keys, &hashes{narrow: align(buffer[:], window)}, hits)
	}
}

const cacheLine = 64 // bytes, on most machines

// align returns n elements of a buffer, from the first at the start of a cache line
// on: there must be a cache line more. Vectors that cross the end of one take twice
// as long to store.
func align[E uint32 | uint64](buffer []E, n int) []E {
	past := uintptr(unsafe.Pointer(unsafe.SliceData(buffer))) % cacheLine
	skip := int((cacheLine - past) % cacheLine / unsafe.Sizeof(buffer[0]))
	return buffer[skip:][:n]
}

// windowWide is the window for 64-bit hashes, which take six times as much of the
// cache, with their remainders.
const windowWide = window / 2

// testWide is MayContainBatch for 64-bit hashes. It is a function of its own since
// they take 12 KiB of stack.
//
//go:noinline
func (v *view) testWide(keys *Keys, hits []uint64) int {
	if keys.n <= short {
		var h1, h2 [short]uint64
		var starts, steps [short]uint32
		return v.testWindows(keys, &hashes{h1: h1[:keys.n], h2: h2[:keys.n], starts: starts[:keys.n], steps: steps[:keys.n]}, hits)
	}
	var h1, h2 [windowWide + cacheLine/8]uint64
	var starts, steps [windowWide + cacheLine/4]uint32
	return v.testWindows(keys, &hashes{
		h1: align(h1[:], windowWide), h2: align(h2[:], windowWide),
		starts: align(starts[:], windowWide), steps: align(steps[:], windowWide),
	}, hits)
}

// testWindows is MayContainBatch with a buffer for the hashes of a window of keys,
// or of all keys. It makes no copy of a column or a buffer that serves as it is: for
// few keys that would cost as much as the rest.
func (v *view) testWindows(keys *Keys, buffer *hashes, hits []uint64) int {
	step := buffer.len()
	if v.length() >= distant {
		step = min(step, window/2)
	}
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
		found := v.testKeys(part, h, hits[i/64:], dense)
		if v.isWide() {
			dense = isDenseWide(found, part.n)
		} else {
			dense = isDense(found, part.n)
		}
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
	var hits [window / 64]uint64
	for i := 0; i < keys.n; i += window {
		part := keys.slice(i, min(i+window, keys.n))
		v.MayContainBatch(part, hits[:])
		for j := range (part.n + 63) / 64 {
			for rest := hits[j]; rest != 0; rest &= rest - 1 {
				dst = append(dst, uint32(i+64*j+bits.TrailingZeros64(rest)))
			}
		}
	}
	return dst
}

// isDense reports whether so many hits among n keys make it likely that most of
// the next keys pass their first probes.
func isDense(hits, n int) bool { return 4*hits >= 3*n }

// isDenseWide is isDense for 64-bit hashes, of which kernels can move those that pass
// at the price of several probes.
func isDenseWide(hits, n int) bool { return 4*hits >= n }

// testKeys is MayContainBatch for a window of keys, or fewer, at least one, of which
// h takes the hashes. That the keys before were dense in hits is a hint.
func (v *view) testKeys(keys *Keys, h *hashes, hits []uint64, dense bool) int {
	keys.hash(v.kernel, h)
	v.testHashes(v.kernel, h, hits, dense)
	total := 0
	for i := 0; i < keys.n; i += 64 {
		if keys.validity != nil {
			hits[i/64] &= keys.valid(i, min(64, keys.n-i))
		}
		total += bits.OnesCount64(hits[i/64])
	}
	return total
}
