package bloom

import (
	"math/rand/v2"
	"sync"
	"unsafe"
)

// Hash is the hash of a key. You can use it with every filter whose format uses the same hash function, so
// you need to hash a key only once to query many filters. If the hashes of two keys are equal (==), these
// filters cannot distinguish the keys.
type Hash struct {
	// A hash of one or two words has hashMark in h3 and its scheme in h4, and 0 in h2 if it has one word. There is
	// no field for the scheme: the compiler keeps a struct of more than four fields or 32 bytes on the stack, and
	// then the queries of every format take up to 2.9 times as long.
	h1, h2, h3, h4 uint64
}

// hashMark tells hashes of one or two words from those of four. Nobody can choose a key whose third word is this
// one, because each process has another.
var hashMark = rand.Uint64() | 1

// shortHash returns a hash of one or two words.
func shortHash(h1, h2 uint64, s scheme) Hash { return Hash{h1, h2, hashMark, uint64(s)} }

func (s scheme) twoWords(h1, h2 uint64) Hash { return shortHash(h1, h2, s) }

func fourWords(h1, h2, h3, h4 uint64) Hash { return Hash{h1, h2, h3, h4} }

// hash128 is the two words of a hash.
type hash128 struct{ h1, h2 uint64 }

// scheme returns whose hash it is: noScheme for the zero Hash.
func (h Hash) scheme() scheme {
	switch {
	case h.h3 == hashMark && h.h4 < uint64(len(schemes)):
		return scheme(h.h4)
	case h == Hash{}:
		return noScheme
	}
	return schemeBitsAndBlooms // the only one of four words
}

// made reports whether a hash is of the scheme. One of four words passes for a shorter one if its last word
// is the number of that scheme, which is a chance of 2^-64.
func (s scheme) made(h Hash) bool {
	if s == schemeBitsAndBlooms {
		return h.scheme() == schemeBitsAndBlooms
	}
	return h.h4 == uint64(s)
}

// Words returns the words of the hash, in order. Unused words are 0. A 32-bit hash is a single word.
func (h Hash) Words() [4]uint64 {
	if schemes[h.scheme()].words == four64 {
		return [4]uint64{h.h1, h.h2, h.h3, h.h4}
	}
	return [4]uint64{h.h1, h.h2}
}

// hashes are the hashes of some keys, in slices for their words: h32, or h1,
// or h1 and h2, or h1 to h4. It is passed by reference, because a copy for each step would cost small
// batches as much as the rest does.
type hashes struct {
	h32            []uint32
	h1, h2, h3, h4 []uint64
}

// window has room for the hashes of a window of keys, and for the numbers of their bits. A buffer on the stack
// would be cleared for each column, which takes as long as to test a hundred keys. Go's allocator puts an object
// of this size at the start of a cache line: a vector that crosses the end of a line takes twice as long to store.
type window struct {
	memory [4 * windowKeys]uint64
	places [windowPlaces]uint32
}

var windows = sync.Pool{New: func() any { return new(window) }}

// takeWindow returns a window, with whatever its last user wrote to it. Whoever is done with it calls giveBack,
// but not after a panic: then nobody has it.
func takeWindow() *window { return windows.Get().(*window) }

func (w *window) giveBack() { windows.Put(w) }

// hashes returns room for the hashes of n keys, or of a window of them.
func (w *window) hashes(words hashWords, n int) hashes {
	n = min(n, windowKeys)
	switch words {
	case one32:
		return hashes{h32: unsafe.Slice((*uint32)(unsafe.Pointer(&w.memory)), windowKeys)[:n]}
	case one64:
		return hashes{h1: w.memory[:n]}
	case two64:
		n = min(n, windowKeys128)
		return hashes{h1: w.memory[:n], h2: w.memory[windowKeys128:][:n]}
	case four64:
		n = min(n, windowKeys128)
		return hashes{
			h1: w.memory[:n], h2: w.memory[windowKeys128:][:n],
			h3: w.memory[windowKeys:][:n], h4: w.memory[windowKeys+windowKeys128:][:n],
		}
	}
	panic("bloom: no such hash")
}

func (h *hashes) len() int { return len(h.h32) + len(h.h1) }

// slice returns hashes i to j-1.
func (h *hashes) slice(i, j int) (s hashes) {
	if h.h32 != nil {
		return hashes{h32: h.h32[i:j]}
	}
	s.h1 = h.h1[i:j]
	if h.h2 != nil {
		s.h2 = h.h2[i:j]
	}
	if h.h3 != nil {
		s.h3, s.h4 = h.h3[i:j], h.h4[i:j]
	}
	return s
}

// resize makes h the hashes of n keys, for which there must be room.
func (h *hashes) resize(n int) {
	if h.h32 != nil {
		h.h32 = h.h32[:n]
		return
	}
	h.h1 = h.h1[:n]
	if h.h2 != nil {
		h.h2 = h.h2[:n]
	}
	if h.h3 != nil {
		h.h3, h.h4 = h.h3[:n], h.h4[:n]
	}
}

// at returns hash i, which is of the given scheme.
func (h *hashes) at(i int, s scheme) Hash {
	switch schemes[s].words {
	case one32:
		return shortHash(uint64(h.h32[i]), 0, s)
	case one64:
		return shortHash(h.h1[i], 0, s)
	case four64:
		return h.at256(i)
	}
	return shortHash(h.h1[i], h.h2[i], s)
}

// set writes hash i.
func (h *hashes) set(i int, hash Hash) {
	if h.h32 != nil {
		h.h32[i] = uint32(hash.h1)
		return
	}
	h.h1[i] = hash.h1
	if h.h2 != nil {
		h.h2[i] = hash.h2
	}
	if h.h3 != nil {
		h.h3[i], h.h4[i] = hash.h3, hash.h4
	}
}

// at256 and set256 are at and set for hashes of four words.

func (h *hashes) at256(i int) Hash { return Hash{h.h1[i], h.h2[i], h.h3[i], h.h4[i]} }

func (h *hashes) set256(i int, hash Hash) {
	h.h1[i], h.h2[i], h.h3[i], h.h4[i] = hash.h1, hash.h2, hash.h3, hash.h4
}
