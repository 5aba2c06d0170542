package bloom

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kinds has names of all lengths.
var kinds = []KeyKind{KindUnknown, KindText, "k", "INT64 (TIMESTAMP MICROS LOCAL)", KeyKind(strings.Repeat("~", 32))}

// kindFile is a small file of keys of a kind.
func kindFile(t testing.TB, format Format, kind KeyKind) []byte {
	t.Helper()
	builder := Policy{format, 10}.NewBuilder()
	builder.AddBatch(Strings([]string{"hello", "world"}))
	if err := builder.SetKeyKind(kind); err != nil || builder.KeyKind() != kind {
		t.Fatal(builder.KeyKind(), err)
	}
	data, err := builder.Filter().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKeyKind writes filters of keys of a kind in every way, and reads them in every way.
func TestKeyKind(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for _, kind := range kinds {
			f, err := Policy{format, 10}.NewFilter(Strings([]string{"hello", "world"})).WithKeyKind(kind)
			if err != nil {
				t.Fatal(err)
			}
			want := plainFile(t, format, 2, f.AppendFilter(nil))
			copy(want[80:], kind)
			seal(want)
			checkFile(t, f, new(Filter), want, f.AppendFilter(nil))
			if got := kindFile(t, format, kind); !bytes.Equal(got, want) {
				t.Fatalf("a builder's filter of %q has the file\n%x, want\n%x", kind, got, want)
			}
			read, set := new(Filter), new(Set)
			for l, got := range map[loaded]func() KeyKind{read: read.KeyKind, set: set.KeyKind} {
				for _, way := range fileReaders {
					if err := way.read(l, want); err != nil || got() != kind {
						t.Errorf("%s into a %T: %v, of %q, want %q", way.name, l, err, got(), kind)
					}
				}
			}
			if f, err := OpenBinary(want); err != nil || f.KeyKind() != kind {
				t.Errorf("OpenBinary: %v", err)
			}
		}
	})
	zero, err := new(Filter).WithKeyKind(KindText)
	if err != nil {
		t.Fatal(err)
	}
	file, err := zero.MarshalBinary()
	var s Set
	if err := errors.Join(err, s.UnmarshalBinary(file)); err != nil || s.KeyKind() != KindText || s.scheme != 0 {
		t.Errorf("the zero Filter of text is read as the set %v: %v", &s, err)
	}
}

// TestKeyKindDamaged damages the kind in a file.
func TestKeyKindDamaged(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		for _, kind := range kinds[1:] {
			for at := fileKind; at < fileFields; at++ {
				for _, b := range []byte{0, 1, ' ', 'x', 0xff} {
					if data := kindFile(t, format, kind); data[at] != b {
						data[at] = b
						checkRefused(t, data, ErrEncoding)
					}
				}
			}
		}
	})
}

// TestKeyKindOfSets merges sets of keys of all kinds.
func TestKeyKindOfSets(t *testing.T) {
	for _, kind := range kinds {
		for _, other := range kinds {
			var s, o Set
			if err := errors.Join(s.UnmarshalBinary(kindFile(t, Default, kind)), o.UnmarshalBinary(kindFile(t, Default, other))); err != nil {
				t.Fatal(err)
			}
			s.Clear()
			before := s.Clone()
			both := s.Clone()
			err := s.Merge(&o)
			if got := both.Intersect(&o); (got == nil) != (err == nil) || both.Filter().KeyKind() != s.Filter().KeyKind() {
				t.Errorf("%q and %q: Intersect: %v, of %q", kind, other, got, both.Filter().KeyKind())
			}
			switch {
			case kind == KindUnknown || other == KindUnknown:
				if err != nil || s.Filter().KeyKind() != KindUnknown || !s.Equal(&o) {
					t.Errorf("%q and %q: %v, of %q", kind, other, err, s.Filter().KeyKind())
				}
			case kind == other:
				if err != nil || s.Filter().KeyKind() != kind || !s.Equal(&o) {
					t.Errorf("%q: %v, of %q", kind, err, s.Filter().KeyKind())
				}
			default:
				if !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), string(kind)+" and "+string(other)) || s.Filter().KeyKind() != kind || !s.Equal(before) {
					t.Errorf("%q and %q: %v, of %q", kind, other, err, s.Filter().KeyKind())
				}
			}
		}
	}
}

// TestKeyKindNames has names that a file cannot hold.
func TestKeyKindNames(t *testing.T) {
	for _, kind := range []KeyKind{KeyKind(strings.Repeat("k", 33)), "a\x00b", "\n", "é", "\xff", KeyKind(strings.Repeat("k", 1<<20))} {
		if f, err := new(Filter).WithKeyKind(kind); !errors.Is(err, ErrKind) || f != nil || len(err.Error()) > 300 {
			t.Errorf("WithKeyKind: %v", err)
		}
		b := Policy{}.NewBuilder()
		if err := b.SetKeyKind(kind); !errors.Is(err, ErrKind) || b.Filter().KeyKind() != KindUnknown {
			t.Errorf("SetKeyKind: %v", err)
		}
	}
}

// TestKeyKindGolden pins the file of a filter of text.
func TestKeyKindGolden(t *testing.T) {
	name, got := filepath.Join("testdata", "file", "text.bloom"), kindFile(t, LevelDB, KindText)
	if *updateFiles {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is\n%x, want\n%x: %v", got, want, err)
	}
}
