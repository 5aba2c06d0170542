package bloom

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

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

// askLive wants all keys to be found in all ways: one by one, and in columns of some sizes, of which one depends on g.
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
