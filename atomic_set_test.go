package bloom

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// TestAtomicSet adds keys from many goroutines, in every way, while others query. A key whose
// addition has returned must be found, in every way too, and at the end the bytes must be
// those of a Set. It is for the race detector as well.
func TestAtomicSet(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 100
	keys := golden.Mixed.Range(0, goroutines*each)
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		want := mustSet(t, p, len(keys))
		want.AddBatch(Bytes(keys))
		for _, kernel := range kernels {
			t.Run("kernel="+kernel.String(), func(t *testing.T) {
				s := mustAtomicSet(t, p, len(keys))
				s.view.setKernel(kernel)
				var group waitGroup
				for g := range goroutines {
					own := keys[g*each:][:each]
					group.Go(func() { addAndFind(t, s, own, g) })
				}
				for range 2 {
					group.Go(func() {
						for range 5 {
							s.MayContainBatch(Bytes(keys), make([]uint64, len(keys)/64+1))
							if !isSubset(s.Snapshot(), want) {
								t.Error("a snapshot has a bit of no key")
							}
						}
					})
				}
				group.Wait()
				if got := s.Snapshot(); !got.Equal(want) {
					t.Error("the bytes differ from those of a Set")
				}
			})
		}
	})
}

// addAndFind adds keys in the way of number g, and looks for each in all ways.
func addAndFind(t *testing.T, s *AtomicSet, keys [][]byte, g int) {
	hits := make([]uint64, (len(keys)+63)/64)
	for i := 0; i < len(keys); i += 25 {
		part := keys[i : i+25]
		switch g % 4 {
		case 0:
			s.AddBatch(Bytes(part))
		case 1:
			s.TestAndAddBatch(Bytes(part).Hashed(s.view.format), hits)
		case 2:
			for _, key := range part {
				s.AddHash(s.view.format.Hash(key))
			}
		default:
			for _, key := range part {
				s.TestAndAdd(key)
			}
		}
		for _, key := range part {
			if !s.MayContain(key) || !s.MayContainString(string(key)) || !s.MayContainHash(s.view.format.Hash(key)) {
				t.Errorf("key %x is missing", key)
			}
		}
		column := Bytes(keys[:i+25])
		if n := s.MayContainBatch(column, hits); n != i+25 {
			t.Errorf("%d keys of %d are found", n, i+25)
		}
	}
}

// isSubset reports whether every bit of s is one of t.
func isSubset(s, t *Set) bool {
	ours, _ := s.encoded()
	theirs, _ := t.encoded()
	for i, b := range ours {
		if b&^theirs[i] != 0 {
			return false
		}
	}
	return true
}

// TestAtomicNew adds the same keys from many goroutines at once. At least one of them must
// learn that a key is new, but for keys that are false positives: a Set's.
func TestAtomicNew(t *testing.T) {
	const goroutines, n = 4, 500
	keys := golden.Mixed.Range(0, n)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 100}, n) // hardly a false positive
		var news [n]atomic.Int32
		var group waitGroup
		for g := range goroutines {
			group.Go(func() {
				hits := make([]uint64, 1)
				for i := 0; i < n; i += 25 {
					if g%2 == 0 {
						s.TestAndAddBatch(Bytes(keys[i:i+25]), hits)
						for rest := ^hits[0] & (1<<25 - 1); rest != 0; rest &= rest - 1 {
							news[i+bits.TrailingZeros64(rest)].Add(1)
						}
						continue
					}
					for j := range 25 {
						if !s.TestAndAdd(keys[i+j]) {
							news[i+j].Add(1)
						}
					}
				}
			})
		}
		group.Wait()
		model := mustSet(t, Policy{format, 100}, n)
		for i, key := range keys {
			if old := model.TestAndAdd(key); news[i].Load() == 0 && !old && !otherHas(format, keys, i) {
				t.Errorf("key %d is new to no goroutine", i)
			}
		}
	})
}

// otherHas reports whether the other keys have all bits of key i.
func otherHas(format Format, keys [][]byte, i int) bool {
	f := Policy{format, 100}.NewFilter(Bytes(slices.Delete(slices.Clone(keys), i, i+1)))
	return f.MayContain(keys[i])
}

// TestAtomicQueries compares the queries that replace assembly under the race detector, key by key with atomic
// loads, with the reference. Other builds run them only here.
func TestAtomicQueries(t *testing.T) {
	keys := golden.Mixed.Range(0, 700)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 3}, 350)
		s.AddBatch(Bytes(keys[:350]))
		encoded := s.Snapshot().data
		hits := make([]uint64, len(keys)/64+1)
		column := must(t)(Bytes(keys).WithValidity(slices.Repeat([]byte{0xf7}, 90), 0))
		total := s.view.probeRows(&column, hits)
		for i, key := range keys {
			want := Reference(format, encoded, key)
			if got := s.view.probeHashAtomic(format.Hash(key)); got != want {
				t.Fatalf("key %d: probeHashAtomic = %v", i, got)
			}
			if got := hits[i/64]>>(i%64)&1 != 0; got != (want && i%8 != 3) {
				t.Fatalf("key %d: probeRows = %v", i, got)
			}
			if want && i%8 != 3 {
				total--
			}
		}
		if total != 0 {
			t.Errorf("probeRows returns %d hits too many", total)
		}
	})
}

// TestAtomicMerge merges sets of many sizes, of which most end inside a word of 32 bits, and compares the bytes with those of a Set.
func TestAtomicMerge(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for capacity := range 70 {
			p := Policy{format, 9}
			s, want, other := mustAtomicSet(t, p, capacity), mustSet(t, p, capacity), mustSet(t, p, capacity)
			for key := range uint64(20) {
				s.AddUint64(key)
				want.AddUint64(key)
				other.AddUint64(1000 + key)
			}
			if err := errors.Join(s.Merge(other), want.Merge(other)); err != nil {
				t.Fatal(err)
			}
			if got := s.Snapshot().data; !bytes.Equal(got, want.data) {
				t.Fatalf("%d bytes: %x, want %x", len(got), got, want.data)
			}
		}
	})
}

// TestAtomicClear empties sets of all formats, of sizes whose last word has bytes behind the bits, and adds to
// them again. Stats are those of a Set.
func TestAtomicClear(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		for capacity := 1; capacity < 100; capacity += 7 {
			p := Policy{format, 10}
			s, empty := mustAtomicSet(t, p, capacity), mustSet(t, p, capacity)
			s.AddBatch(Bytes(golden.Mixed.Range(0, capacity)))
			if capacity == 8 { // a measurement of a rate takes milliseconds
				if got, want := s.Stats(), s.Snapshot().Stats(); got != want || got.SetBits == 0 {
					t.Errorf("Stats() = %+v, want %+v", got, want)
				}
			}
			s.Clear()
			if got := s.Snapshot(); !bytes.Equal(got.data, empty.data) {
				t.Fatalf("a cleared set for %d keys is %x, want %x", capacity, got.data, empty.data)
			}
			if s.TestAndAddString("key") || !s.TestAndAddHash(format.Hash([]byte("key"))) {
				t.Error("TestAndAdd after Clear is wrong")
			}
		}
	})
}

// TestAtomicRotation clears a set and reads its numbers while others add: what is added later is found, and the
// race detector has nothing to say.
func TestAtomicRotation(t *testing.T) {
	t.Parallel()
	keys := golden.Mixed.Range(0, 200)
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 10}, len(keys))
		var group waitGroup
		for g := range 3 {
			group.Go(func() {
				for i := range keys {
					s.TestAndAddHash(format.Hash(keys[(g*50+i)%len(keys)]))
				}
			})
		}
		group.Go(func() {
			for range 3 {
				s.Clear()
				if stats := s.Stats(); stats.SetBits > stats.Bits {
					t.Errorf("Stats() = %+v", stats)
				}
			}
		})
		group.Wait()
		s.AddBatch(Bytes(keys))
		if n := s.MayContainBatch(Bytes(keys), make([]uint64, len(keys)/64+1)); n != len(keys) {
			t.Errorf("%d keys of %d are found", n, len(keys))
		}
	})
}

// TestAtomicRegions adds a column by workers that set bits region by region, from two
// goroutines at once.
func TestAtomicRegions(t *testing.T) {
	t.Parallel()
	keys := golden.Mixed.Range(0, 3000)
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		s, want := mustAtomicSet(t, p, 1<<18), mustSet(t, p, 1<<18) // several regions
		want.AddBatch(Bytes(keys))
		var group waitGroup
		group.Go(func() { s.view.addByRegion(Bytes(keys), 2) })
		group.Go(func() { s.view.addByRegion(Bytes(keys[:2000]), 2) })
		group.Wait()
		if !s.Snapshot().Equal(want) {
			t.Error("the bytes differ from those of a Set")
		}
	})
}

// TestAtomicText wants a line from String, of a value and of a pointer.
func TestAtomicText(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 10}, 100)
		s.AddString("hello")
		for _, v := range []any{s, *s} {
			if got, want := fmt.Sprint(v), fmt.Sprint(s.Snapshot()); got != want {
				t.Errorf("%T is printed as %.100q, want %q", v, got, want)
			}
		}
	})
}

// TestAtomicAssembly wants no assembly to add keys, because it is not atomic: it would lose
// bits of other goroutines, but too seldom for a test to see.
func TestAtomicAssembly(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustAtomicSet(t, Policy{format, 10}, windowKeys)
		h := new(window).hashes(schemes[format.scheme()].words, windowKeys)
		if s.view.setsLines() || s.view.addInOrder(&h, make([]uint64, windowKeys/64)) {
			t.Error("assembly adds keys")
		}
	})
}
