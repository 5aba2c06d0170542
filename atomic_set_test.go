package bloom

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// TestAtomicMerge merges sets of many sizes, most with an end inside a word of 32 bits, and compares the bytes with those of a Set.
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
// them again. Stats are as of a Set.
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

// liveReaders are ways to get a set's file or its encoded bytes while others add, as a Set reads them.
var liveReaders = map[string]func(s *AtomicSet, f *Filter) (*Set, error){
	"Snapshot":                  func(s *AtomicSet, _ *Filter) (*Set, error) { return s.Snapshot(), nil },
	"AtomicSet.MarshalBinary":   func(s *AtomicSet, _ *Filter) (*Set, error) { return setOfFile(s.MarshalBinary()) },
	"AtomicSet.AppendBinary":    func(s *AtomicSet, _ *Filter) (*Set, error) { return setOfFile(s.AppendBinary(nil)) },
	"AtomicSet.WriteTo":         func(s *AtomicSet, _ *Filter) (*Set, error) { return written(s.WriteTo) },
	"AtomicSet in gob":          func(s *AtomicSet, _ *Filter) (*Set, error) { return throughGob(s) },
	"Filter.AppendFilter":       func(_ *AtomicSet, f *Filter) (*Set, error) { return OpenSet(f.Format(), f.AppendFilter(nil)) },
	"Filter.MarshalBinary":      func(_ *AtomicSet, f *Filter) (*Set, error) { return setOfFile(f.MarshalBinary()) },
	"Filter.AppendBinary":       func(_ *AtomicSet, f *Filter) (*Set, error) { return setOfFile(f.AppendBinary(nil)) },
	"Filter.WriteTo":            func(_ *AtomicSet, f *Filter) (*Set, error) { return written(f.WriteTo) },
	"Filter in gob":             func(_ *AtomicSet, f *Filter) (*Set, error) { return throughGob(f) },
	"Filter in JSON":            func(_ *AtomicSet, f *Filter) (*Set, error) { return throughJSON(f) },
	"Interleaved.Put of Filter": throughInterleaved,
}

func setOfFile(file []byte, _ error) (*Set, error) {
	s := new(Set)
	return s, s.UnmarshalBinary(file)
}

func throughGob(v any) (*Set, error) {
	var buffer bytes.Buffer
	if err := gob.NewEncoder(&buffer).Encode(v); err != nil {
		return nil, err
	}
	s := new(Set)
	return s, gob.NewDecoder(&buffer).Decode(s)
}

func throughJSON(v any) (*Set, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	s := new(Set)
	return s, json.Unmarshal(text, s)
}

func throughInterleaved(_ *AtomicSet, f *Filter) (*Set, error) {
	x, err := NewInterleaved(f, 1)
	if err != nil {
		return nil, err
	}
	if err := x.Put(0, f); err != nil {
		return nil, err
	}
	return OpenSet(f.Format(), x.Filter(0).AppendFilter(nil))
}

// TestAtomicFiles reads sets in all ways while others add. What is read is no torn file: it has every key whose addition returned
// before, and no bit of no key. It is for the race detector as well.
func TestAtomicFiles(t *testing.T) {
	keys := golden.Mixed.Range(0, 2000)
	eachFormat(t, func(t *testing.T, format Format) {
		for name, read := range liveReaders {
			s, want := mustAtomicSet(t, Policy{format, 10}, len(keys)), mustSet(t, Policy{format, 10}, len(keys))
			want.AddBatch(Bytes(keys))
			f := s.Filter()
			var added atomic.Int64 // keys, from the first on
			var group waitGroup
			group.Go(func() {
				for i, key := range keys {
					s.Add(key)
					added.Store(int64(i + 1))
				}
			})
			for done := false; !done; {
				done = added.Load() == int64(len(keys))
				n := int(added.Load())
				got, err := read(s, f)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if hits := got.MayContainBatch(Bytes(keys[:n]), make([]uint64, n/64+1)); hits != n {
					t.Fatalf("%s: %d of %d keys", name, hits, n)
				}
				if !isSubset(got, want) {
					t.Fatalf("%s: a bit of no key", name)
				}
				if _, known := got.KeyCount(); known {
					t.Fatalf("%s: the number of keys is known", name)
				}
			}
			group.Wait()
			if got, err := read(s, f); err != nil || !got.Equal(want) {
				t.Errorf("%s: %v, or it is not equal to a Set", name, err)
			}
		}
	})
}

// TestAtomicFilter asks the Filter of a set in all ways while others add: alone, and in a Group with one at rest. It is for the
// race detector as well.
func TestAtomicFilter(t *testing.T) {
	keys := golden.Mixed.Range(0, 1000)
	integers := make([]uint64, 1000)
	for i := range integers {
		integers[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 12}
		s, rest := mustAtomicSet(t, p, 2*len(keys)+1), p.NewFilter(Bytes(keys[:10]))
		f := s.Filter()
		group, err := NewGroup([]*Filter{rest, f, onKernel(t, f, Generic)})
		if err != nil {
			t.Fatal(err)
		}
		var added atomic.Int64
		var goroutines waitGroup
		goroutines.Go(func() {
			for i := range keys {
				s.Add(keys[i])
				s.AddUint64(integers[i])
				added.Store(int64(i + 1))
			}
		})
		for g := range 2 {
			goroutines.Go(func() {
				for n := 0; n < len(keys); {
					n = int(added.Load())
					askLive(t, s, f, group, keys[:n], integers[:n], g)
				}
			})
		}
		goroutines.Wait()
	})
}

// askLive wants all keys to be found in all ways: one by one, and in columns of some sizes, one that depends on g.
func askLive(t *testing.T, s *AtomicSet, f *Filter, group *Group, keys [][]byte, integers []uint64, g int) {
	n := len(keys)
	if n == 0 {
		return
	}
	hits := make([]uint64, 3*(n/64+1))
	last, h := keys[n-1], f.Format().Hash(keys[n-1])
	if !f.MayContain(last) || !f.MayContainString(string(last)) || !f.MayContainHash(h) || !f.MayContainUint64(integers[n-1]) {
		t.Errorf("key %x is missing", last)
	}
	for _, few := range []int{1, 2 + g, 9, 20, n} {
		few = min(few, n)
		column, numbers := Bytes(keys[n-few:]), Integers(integers[n-few:])
		if f.MayContainBatch(column, hits) != few || f.MayContainBatch(numbers, hits) != few || len(f.AppendHits(nil, column)) != few {
			t.Errorf("%d keys: some are missing", few)
		}
		rows := 0
		for range f.Hits(column) {
			rows++
		}
		if group.MayContainBatch(column, hits) < 2*few || rows != few {
			t.Errorf("%d keys: some are missing in a group or in Hits", few)
		}
	}
	if group.MayContain(last, hits) < 2 || hits[0]&6 != 6 || group.MayContainHash(h, hits) < 2 {
		t.Errorf("key %x is missing in a group", last)
	}
	if stats := f.Stats(); stats.SetBits == 0 || stats.SetBits > stats.Bits || stats.FalsePositiveRate > 0.2 {
		t.Errorf("Stats() = %+v", stats)
	}
	positions := f.Explain(last).Positions
	if len(positions) != f.Stats().Probes || f.String() != s.String() {
		t.Errorf("%v, with %d positions", f, len(positions))
	}
	if from, to := f.BitRange(); to-from > len(f.Bytes()) || from < 0 {
		t.Errorf("BitRange() = %d, %d", from, to)
	}
}

// TestAtomicRead wants from OpenAtomicSet, UnmarshalBinary and ReadFrom what they get for a Set: its bits, or its error. Keys
// can then be added, and the caller's bytes do not change.
func TestAtomicRead(t *testing.T) {
	keys := golden.Mixed.Range(0, 300)
	eachFormat(t, func(t *testing.T, format Format) {
		for _, n := range []int{1, 10, 77, 300} { // the last words of bits have bytes of a trailer or none
			set := mustSet(t, Policy{format, 9}, n)
			set.AddBatch(Bytes(keys[:n]))
			encoded, file := set.AppendFilter(nil), marshaled(t, set)
			bare, whole := slices.Clone(encoded), slices.Clone(file)
			for name, read := range map[string]func() (*AtomicSet, error){
				"OpenAtomicSet":   func() (*AtomicSet, error) { return OpenAtomicSet(format, bare) },
				"UnmarshalBinary": func() (*AtomicSet, error) { s := new(AtomicSet); return s, s.UnmarshalBinary(whole) },
				"ReadFrom": func() (*AtomicSet, error) {
					s := new(AtomicSet)
					if n, err := s.ReadFrom(bytes.NewReader(append(slices.Clone(whole), 1, 2, 3))); n != int64(len(whole)) {
						return nil, err
					}
					return s, nil
				},
			} {
				s, err := read()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := s.Snapshot(); !got.Equal(set) || !bytes.Equal(got.data, encoded) {
					t.Errorf("%s: other bits", name)
				}
				more := set.Clone()
				more.AddString("another")
				if s.AddString("another"); !s.Snapshot().Equal(more) || !s.MayContainString("another") {
					t.Errorf("%s: a key is lost", name)
				}
			}
			if !bytes.Equal(bare, encoded) || !bytes.Equal(whole, file) {
				t.Error("the caller's bytes have changed")
			}
			_, shape := set.encoded()
			s, err := format.NewAtomicSet(shape.Bits, shape.Probes)
			if err != nil {
				t.Fatal(err)
			}
			if s.AddBatch(Bytes(keys[:n])); !s.Snapshot().Equal(set) {
				t.Error("NewAtomicSet: other bits")
			}
		}
	})
}

// TestAtomicReadErrors wants the errors of a Set, and no change of the set.
func TestAtomicReadErrors(t *testing.T) {
	s := mustAtomicSet(t, Policy{BitsPerKey: 10}, 100)
	s.AddString("key")
	before := s.Snapshot()
	file := marshaled(t, s)
	file[len(file)-1] ^= 1
	for name, read := range map[string]func() error{
		"damaged file":         func() error { return s.UnmarshalBinary(file) },
		"half a file":          func() error { _, err := s.ReadFrom(bytes.NewReader(file[:200])); return err },
		"filter without bits":  func() error { _, err := OpenAtomicSet(LevelDB, nil); return err },
		"malformed filter":     func() error { _, err := OpenAtomicSet(Nori, []byte("no filter")); return err },
		"file without bits":    func() error { return s.UnmarshalBinary(marshaled(t, mustOpen(t, LevelDB, []byte{1}))) },
		"unknown format":       func() error { _, err := OpenAtomicSet(99, nil); return err },
		"shape of no filter":   func() error { _, err := Parquet.NewAtomicSet(100, 8); return err },
		"shape without memory": func() error { _, err := LevelDB.NewAtomicSet(1<<62, 8); return err },
	} {
		want := ErrEncoding
		switch name {
		case "unknown format":
			want = ErrFormat
		case "shape of no filter":
			want = ErrShape
		case "shape without memory":
			want = ErrCapacity
		}
		if err := read(); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !s.Snapshot().Equal(before) {
		t.Error("the set has changed")
	}
	none := marshaled(t, new(AtomicSet))
	if err := s.UnmarshalBinary(none); err != nil || s.MayContainString("key") || s.Stats() != (Stats{}) {
		t.Errorf("the file of the zero set: %v", err)
	}
}

// TestAtomicKind wants the kind of the keys as in a Set: from a file to the next, and lost when keys of no known kind are merged.
func TestAtomicKind(t *testing.T) {
	text, err := Policy{BitsPerKey: 10}.NewFilter(Strings([]string{"a", "b"})).WithKeyKind(KindText)
	if err != nil {
		t.Fatal(err)
	}
	var s AtomicSet
	if err := s.UnmarshalBinary(marshaled(t, text)); err != nil {
		t.Fatal(err)
	}
	kinds := func() [3]KeyKind {
		written, err := OpenBinary(marshaled(t, &s))
		if err != nil || s.KeyKind() != written.KeyKind() {
			t.Fatal(s.KeyKind(), err)
		}
		return [3]KeyKind{s.Filter().KeyKind(), s.Snapshot().kind, written.KeyKind()}
	}
	if got := kinds(); got != [3]KeyKind{KindText, KindText, KindText} {
		t.Errorf("kinds %q after a file", got)
	}
	other := s.Snapshot()
	if other.kind = "INT64"; !errors.Is(s.Merge(other), ErrKind) {
		t.Error("text and numbers are merged")
	}
	if other.kind = KindText; s.Merge(other) != nil || kinds()[1] != KindText {
		t.Errorf("kinds %q after text", kinds())
	}
	before := s.Filter()
	if other.kind = ""; s.Merge(other) != nil || kinds() != [3]KeyKind{} || before.KeyKind() != KindText {
		t.Errorf("kinds %q after keys of no known kind", kinds())
	}
}

// marshaled returns the file of a filter.
func marshaled(t *testing.T, m interface{ MarshalBinary() ([]byte, error) }) []byte {
	t.Helper()
	file, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// written returns the set in what write writes.
func written(write func(w io.Writer) (int64, error)) (*Set, error) {
	var buffer bytes.Buffer
	if _, err := write(&buffer); err != nil {
		return nil, err
	}
	s := new(Set)
	_, err := s.ReadFrom(&buffer)
	return s, err
}
