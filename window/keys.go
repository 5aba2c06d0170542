package window

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/lanebloom/bloom"
)

// mustHave panics for the zero Window.
func (w *Window) mustHave() *state {
	s := w.state.Load()
	if s == nil {
		panic("window: a key was added to the zero Window; use New, Open or ReadFrom")
	}
	return s
}

// pause is what tests do before isLate looks, if it is not nil.
var pause func()

// isLate reports whether the newest set of s may no longer be the window's newest. It is called after keys were added to that set.
func (w *Window) isLate(s *state) bool {
	if pause != nil {
		pause()
	}
	return w.state.Load() != s
}

// settle is called after keys were added to the newest generation of s. If that may no longer be the window's newest, it adds them
// once more by add.
func (w *Window) settle(s *state, add func(s *state)) {
	if !w.isLate(s) {
		return
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	add(w.state.Load())
}

// Add adds a key.
func (w *Window) Add(key []byte) { w.AddHash(w.mustHave().options.Format.Hash(key)) }

// AddString adds a key.
func (w *Window) AddString(key string) { w.AddHash(w.mustHave().options.Format.HashString(key)) }

// AddUint64 adds the 8 little-endian bytes of key.
func (w *Window) AddUint64(key uint64) { w.AddHash(w.mustHave().options.Format.HashUint64(key)) }

// AddHash adds the key whose [bloom.Hash] is h. It panics if h comes from a format with a different hash
// function.
func (w *Window) AddHash(h bloom.Hash) {
	s := w.mustHave()
	if s.add(h) {
		w.mayLook(s)
	}
	if w.isLate(s) {
		w.addAgain(h)
	}
}

// add adds a key to the newest generation, and reports whether that certainly did not have it.
func (s *state) add(h bloom.Hash) bool {
	if s.own != nil && s.ownHas(h) {
		return false
	}
	return !s.newest.TestAndAddHash(h)
}

// ownHas reports whether one of the several sets of the newest generation may have a key.
func (s *state) ownHas(h bloom.Hash) bool {
	var few [4]uint64 // on the stack
	hits := few[:]
	if s.own.Len() > 64*len(few) {
		hits = make([]uint64, (s.own.Len()+63)/64)
	}
	return s.own.MayContainHash(h, hits) > 0
}

// addAgain adds a key while no Rotate can run.
func (w *Window) addAgain(h bloom.Hash) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	w.state.Load().add(h)
}

// AddBatch adds every key of a column. It panics if keys contains hashes from a format with a different
// hash function.
func (w *Window) AddBatch(keys bloom.Keys) {
	s := w.mustHave()
	s.newest.AddBatch(keys.Slice(0, 0)) // it panics if it has to, for a column without keys, too
	for i := 0; i < keys.Len(); {
		s = w.mustHave()
		part := keys.Slice(i, min(i+s.step(math.MaxInt), keys.Len()))
		s.addBatch(part)
		w.mayLookAfter(s, part.Len())
		w.settle(s, func(s *state) { s.addBatch(part) })
		i += part.Len()
	}
}

// step returns how many keys of a column are added before somebody looks how full the set is: a part of its keys. At most,
// it is a power of two or a multiple of 64.
func (s *state) step(most int) int {
	n := min(s.newest.plan.keys/32, most)
	if n >= 64 {
		return n / 64 * 64
	}
	return 1 << (bits.Len(uint(max(n, 1))) - 1)
}

// addBatch adds a column to the newest generation.
func (s *state) addBatch(keys bloom.Keys) {
	if s.own == nil {
		s.newest.AddBatch(keys)
		return
	}
	var has [chunk / 64]uint64
	for i := 0; i < keys.Len(); i += chunk {
		part := keys.Slice(i, min(i+chunk, keys.Len()))
		s.mayContain(s.own, part, has[:])
		eachRun(has[:], part.Len(), func(i, j int) { s.newest.AddBatch(part.Slice(i, j)) })
	}
}

// eachRun calls run for the rows i to j-1 of n whose bits are clear, one run after the other.
func eachRun(has []uint64, n int, run func(i, j int)) {
	for i := firstBit(has, false, 0, n); i < n; {
		j := firstBit(has, true, i, n)
		run(i, j)
		i = firstBit(has, false, j, n)
	}
}

// firstBit returns the first number from i on whose bit is set, or clear. It returns n if there is none below n.
func firstBit(words []uint64, set bool, i, n int) int {
	for ; i < n; i = (i/64 + 1) * 64 {
		word := words[i/64]
		if !set {
			word = ^word
		}
		if word >>= i % 64; word != 0 {
			return min(i+bits.TrailingZeros64(word), n)
		}
	}
	return n
}

// TestAndAdd adds a key and reports whether the key may have been present before. If it returns false, no
// generation had the key. If several goroutines add the same new key at the same time, at least one of them
// gets false.
func (w *Window) TestAndAdd(key []byte) bool {
	return w.TestAndAddHash(w.mustHave().options.Format.Hash(key))
}

// TestAndAddString is like TestAndAdd for a string.
func (w *Window) TestAndAddString(key string) bool {
	return w.TestAndAddHash(w.mustHave().options.Format.HashString(key))
}

// TestAndAddUint64 is like TestAndAdd for the 8 little-endian bytes of key.
func (w *Window) TestAndAddUint64(key uint64) bool {
	return w.TestAndAddHash(w.mustHave().options.Format.HashUint64(key))
}

// TestAndAddHash is like TestAndAdd for the key whose [bloom.Hash] is h. It panics if h comes from a format
// with a different hash function.
func (w *Window) TestAndAddHash(h bloom.Hash) bool {
	s := w.mustHave()
	was, inNewest := s.query(h)
	if !inNewest {
		if s.newest.TestAndAddHash(h) {
			was = true
		} else {
			w.mayLook(s)
		}
	}
	if w.isLate(s) {
		w.addAgain(h) // what it reports is of no use: this call itself may have added the key to s
	}
	return was
}

// query reports whether any generation may have a key, and whether the newest may.
func (s *state) query(h bloom.Hash) (some, inNewest bool) {
	var few [4]uint64 // on the stack
	hits := few[:]
	if s.group.Len() > 64*len(few) {
		hits = make([]uint64, (s.group.Len()+63)/64)
	}
	some = s.group.MayContainHash(h, hits) > 0
	if s.own == nil {
		return some, hits[0]&1 != 0
	}
	for i := range s.own.Len() { // they are the first of the group
		if hits[i/64]>>(i%64)&1 != 0 {
			return some, true
		}
	}
	return some, false
}

// MayContain reports whether a generation may have the key. If it returns false, no generation has the key.
// For an absent key, it returns true with the probability [Stats].FalsePositiveRate.
func (w *Window) MayContain(key []byte) bool {
	s := w.state.Load()
	return s != nil && s.has(s.options.Format.Hash(key))
}

// MayContainString is like MayContain for a string.
func (w *Window) MayContainString(key string) bool {
	s := w.state.Load()
	return s != nil && s.has(s.options.Format.HashString(key))
}

// MayContainUint64 is like MayContain for the 8 little-endian bytes of key.
func (w *Window) MayContainUint64(key uint64) bool {
	s := w.state.Load()
	return s != nil && s.has(s.options.Format.HashUint64(key))
}

// MayContainHash is like MayContain for the key whose [bloom.Hash] is h. It panics if h comes from a format
// with a different hash function.
func (w *Window) MayContainHash(h bloom.Hash) bool {
	s := w.state.Load()
	return s != nil && s.has(h)
}

func (s *state) has(h bloom.Hash) bool {
	some, _ := s.query(h)
	return some
}

// chunk is how many keys of a column are asked at once: a multiple of 64.
const chunk = 1024

// buffers have room for the hits of a chunk in all filters.
var buffers = sync.Pool{New: func() any { return new([]uint64) }}

// mayContain writes which keys, at most chunk, any filter of a group may have.
func (s *state) mayContain(group *bloom.Group, keys bloom.Keys, hits []uint64) {
	words := (keys.Len() + 63) / 64
	buffer := buffers.Get().(*[]uint64)
	defer buffers.Put(buffer)
	if n := words * group.Len(); len(*buffer) < n {
		*buffer = make([]uint64, n)
	}
	all := (*buffer)[:words*group.Len()]
	group.MayContainBatch(keys, all)
	clear(hits[:words])
	for i, word := range all {
		hits[i%words] |= word
	}
}

// checked returns the words for the bits of the keys. It panics if there are fewer.
func checked(keys bloom.Keys, hits []uint64) []uint64 {
	words := (keys.Len() + 63) / 64
	if len(hits) < words {
		panic(fmt.Sprintf("window: hits has %d words, but %d keys need %d: (keys.Len()+63)/64", len(hits), keys.Len(), words))
	}
	return hits[:words]
}

func count(hits []uint64) (n int) {
	for _, word := range hits {
		n += bits.OnesCount64(word)
	}
	return n
}

// MayContainBatch queries every key of a column, as [bloom.Filter.MayContainBatch] does. It sets bit i%64
// of hits[i/64] if a generation may have key i, and clears that bit otherwise. It returns the number of
// hits. It panics if hits has too few words, or if keys contains hashes from a format with a different hash
// function.
func (w *Window) MayContainBatch(keys bloom.Keys, hits []uint64) int {
	hits = checked(keys, hits)
	s := w.state.Load()
	if s == nil {
		clear(hits)
		return 0
	}
	for i := 0; i < keys.Len(); i += chunk {
		s.mayContain(s.group, keys.Slice(i, min(i+chunk, keys.Len())), hits[i/64:])
	}
	return count(hits)
}

// TestAndAddBatch adds every key of a column and reports in hits which keys may have been present before,
// as [bloom.Set.TestAndAddBatch] does. If the column has equal keys, all but the first of them are hits. It
// returns the number of hits.
func (w *Window) TestAndAddBatch(keys bloom.Keys, hits []uint64) int {
	hits = checked(keys, hits)
	clear(hits)
	for i := 0; i < keys.Len(); {
		s := w.mustHave()
		part := keys.Slice(i, min(i+s.step(chunk), keys.Len()))
		s.testAndAddBatch(part, hits, i)
		w.mayLookAfter(s, part.Len())
		w.settle(s, func(s *state) { s.addBatch(part) })
		i += part.Len()
	}
	return count(hits)
}

// testAndAddBatch adds at most chunk keys, and sets the bits of those that were there, from bit at on.
func (s *state) testAndAddBatch(keys bloom.Keys, hits []uint64, at int) {
	var was, own [chunk / 64]uint64
	s.mayContain(s.group, keys, was[:])
	setBits(hits, at, was[:], keys.Len())
	if s.own != nil {
		s.mayContain(s.own, keys, own[:])
	}
	eachRun(own[:], keys.Len(), func(i, j int) {
		s.newest.TestAndAddBatch(keys.Slice(i, j), was[:])
		setBits(hits, at+i, was[:], j-i)
	})
}

// setBits sets those of n bits that are set in words, from bit at on.
func setBits(hits []uint64, at int, words []uint64, n int) {
	for i, word := range words[:(n+63)/64] {
		hits[at/64+i] |= word << (at % 64)
		if rest := word >> (64 - at%64); rest != 0 { // of a shift by 64, nothing is left
			hits[at/64+i+1] |= rest
		}
	}
}
