package bloom

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// record has every type that is saved inside others: in place, and behind a pointer.
type record struct {
	Name    string
	Policy  Policy
	Filter  Filter
	Pointer *Filter
	Set     Set
	Sets    *Set
	None    *Set
	Atomic  AtomicSet
	Atomics *AtomicSet
}

// codecs are the encodings of the standard library that take any type.
var codecs = []struct {
	name      string
	marshal   func(v any) ([]byte, error)
	unmarshal func(data []byte, v any) error
}{
	{"json", json.Marshal, json.Unmarshal},
	{"xml", xml.Marshal, xml.Unmarshal},
	{"gob",
		func(v any) ([]byte, error) {
			var buffer bytes.Buffer
			err := gob.NewEncoder(&buffer).Encode(v)
			return buffer.Bytes(), err
		},
		func(data []byte, v any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(v) },
	},
}

// TestCodecs saves filters, sets and policies inside other types.
func TestCodecs(t *testing.T) {
	keys := Bytes(golden.Mixed.Range(0, 100))
	eachFormat(t, func(t *testing.T, format Format) {
		builder := Policy{format, 10}.NewBuilder()
		builder.AddBatch(keys)
		s := mustSet(t, Policy{format, 10}, 100)
		s.AddBatch(keys)
		a, err := Policy{format, 10}.NewAtomicSet(100)
		if err != nil {
			t.Fatal(err)
		}
		a.AddBatch(keys)
		for _, c := range codecs {
			for name, want := range map[string]record{
				"full": {"full", Policy{format, 10}, *builder.Filter(), builder.Filter(), *s, s, nil, *a, a},
				"zero": {Name: "zero", Pointer: new(Filter), Sets: new(Set), Atomics: new(AtomicSet)},
			} {
				for how, v := range map[string]any{"value": want, "pointer": &want} {
					data, err := c.marshal(v)
					if err != nil {
						t.Fatalf("%s of a %s, %s: %v", c.name, how, name, err)
					}
					var got record
					if err := c.unmarshal(data, &got); err != nil {
						t.Fatalf("%s of a %s, %s: %v; %.200s", c.name, how, name, err, data)
					}
					checkRecord(t, &got, &want, fmt.Sprintf("%s of a %s: %.200s", c.name, how, data))
				}
			}
		}
	})
}

func checkRecord(t *testing.T, got, want *record, name string) {
	t.Helper()
	if got.Name != want.Name || got.Policy != want.Policy || got.None != nil || got.Pointer == nil || got.Sets == nil || got.Atomics == nil {
		t.Fatalf("%s\nis read as %+v", name, got)
	}
	for i, pair := range [][2]*view{
		{&got.Filter.view, &want.Filter.view}, {&got.Pointer.view, &want.Pointer.view},
		{&got.Set.view, &want.Set.view}, {&got.Sets.view, &want.Sets.view},
		{&got.Atomic.Snapshot().view, &want.Atomic.Snapshot().view}, {&got.Atomics.Snapshot().view, &want.Atomics.Snapshot().view},
	} {
		n, known := pair[0].KeyCount()
		wantN, wantKnown := pair[1].KeyCount()
		if !bytes.Equal(pair[0].data, pair[1].data) || pair[0].format != pair[1].format || n != wantN || known != wantKnown {
			t.Fatalf("%s\n%d is read as %v, want %v", name, i, pair[0], pair[1])
		}
		if pair[0].MayContainString("absent") != pair[1].MayContainString("absent") {
			t.Fatalf("%s\n%d answers wrong", name, i)
		}
	}
}

// TestGobOfPolicy wants names and no numbers in gob: a number would be another format if the constants changed.
func TestGobOfPolicy(t *testing.T) {
	gobs := codecs[2]
	eachFormat(t, func(t *testing.T, format Format) {
		data, err := gobs.marshal(format)
		var got Format
		if err != nil || !bytes.Contains(data, []byte(format.String())) || gobs.unmarshal(data, &got) != nil || got != format {
			t.Errorf("%v in gob: %q, %v; it is read as %v", format, data, err, got)
		}
		data, err = gobs.marshal(Policy{format, 10})
		if err != nil || format != Default && !bytes.Contains(data, []byte(format.String())) {
			t.Errorf("a policy of %v in gob: %q, %v", format, data, err)
		}
	})
	if data, err := gobs.marshal(Policy{200, 1}); !errors.Is(err, ErrFormat) {
		t.Errorf("a policy of no format in gob: %q, %v", data, err)
	}
	for name, other := range map[string]any{"a number": struct{ Format uint8 }{1}, "no name": struct{ Format gobName }{"ribbon"}} {
		data, err := gobs.marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		p := Policy{Nori, 7}
		if err := gobs.unmarshal(data, &p); err == nil || p != (Policy{Nori, 7}) {
			t.Errorf("a format that is %s is read from gob as %v, %v", name, p, err)
		}
	}
}

// gobName is a text that gob stores as it stores a Format.
type gobName string

func (n gobName) MarshalBinary() ([]byte, error) { return []byte(n), nil }

// TestJSON pins what JSON looks like, and refuses what is none.
func TestJSON(t *testing.T) {
	data, err := json.Marshal([]Policy{{LevelDB, 10}, {NoriCrate, 7}})
	if want := `[{"Format":"leveldb","BitsPerKey":10},{"Format":"nori-crate","BitsPerKey":7}]`; err != nil || string(data) != want {
		t.Errorf("policies in JSON: %s, %v", data, err)
	}
	if data, err := json.Marshal(Policy{200, 1}); !errors.Is(err, ErrFormat) {
		t.Errorf("a policy of no format in JSON: %s, %v", data, err)
	}
	file := testFile(Nori)
	var f Filter
	if err := f.UnmarshalBinary(file); err != nil {
		t.Fatal(err)
	}
	text, err := f.MarshalText()
	if err != nil || !strings.HasPrefix(string(text), "iUJMTQ0KGgo") {
		t.Errorf("MarshalText: %.20s, %v", text, err)
	}
	damaged := bytes.Clone(file)
	damaged[len(damaged)-1] ^= 1 // of the bits, whose checksum tells it
	wrong := `"` + base64.StdEncoding.EncodeToString(damaged) + `"`
	for _, c := range []struct {
		text string
		into any
		want error
	}{
		{`{"Format":"ribbon"}`, new(Policy), ErrFormat},
		{`{"Format":""}`, new(Policy), ErrFormat},
		{`""`, new(Filter), ErrEncoding},
		{`"?"`, new(Filter), ErrEncoding},
		{`"` + string(text[:len(text)-8]) + `"`, new(Filter), ErrEncoding},
		{wrong, new(Filter), ErrEncoding},
		{wrong, new(Set), ErrEncoding},
		{`"?"`, new(Set), ErrEncoding},
		{`"AAAA"`, new(Set), ErrEncoding},
	} {
		if err := json.Unmarshal([]byte(c.text), c.into); !errors.Is(err, c.want) {
			t.Errorf("%.40s into a %T: %v", c.text, c.into, err)
		}
	}
	if err := json.Unmarshal([]byte(`{}`), new(Filter)); err == nil {
		t.Error("{} is read as a filter")
	}
}

// TestUnstored wants an error of JSON for each type that it would store in part: the types with a field that is not
// exported, but for those that are stored as text.
func TestUnstored(t *testing.T) {
	stored := []any{new(Filter), new(Set), new(AtomicSet)} // TestCodecs has them
	unstored := []any{
		new(Builder), new(Keys), new(Group), new(Hash), new(Interleaved), new(InterleavedBuilder), new(InterleavedFile), new(Labels),
	}
	known := make(map[string]bool)
	for _, v := range slices.Concat(stored, unstored) {
		known[reflect.TypeOf(v).Elem().Name()] = true
	}
	for _, name := range opaqueTypes(t) {
		if !known[name] {
			t.Errorf("%s has fields that are not exported: is it stored or unstored?", name)
		}
	}
	for _, v := range unstored {
		for how, v := range map[string]any{"pointer": v, "value": reflect.ValueOf(v).Elem().Interface()} {
			if data, err := json.Marshal(v); err == nil {
				t.Errorf("%T, a %s, in JSON: %s", v, how, data)
			}
		}
	}
}

// opaqueTypes returns the names of this package's exported types that have a field which is not exported.
func opaqueTypes(t *testing.T) (names []string) {
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	hidden := func(f *ast.Field) bool {
		if len(f.Names) == 0 { // embedded
			return !ast.IsExported(types.ExprString(f.Type))
		}
		return slices.ContainsFunc(f.Names, func(name *ast.Ident) bool { return !name.IsExported() })
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if of, ok := n.(*ast.TypeSpec); ok && of.Name.IsExported() {
				if s, ok := of.Type.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, hidden) {
					names = append(names, of.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

func TestFormatText(t *testing.T) {
	if got := Formats(); !slices.Equal(got, []Format{RocksDB, LevelDB, Pebble, Parquet, Nori, NoriCrate, BitsAndBlooms, Guava}) {
		t.Errorf("Formats() = %v", got)
	}
	eachFormat(t, func(t *testing.T, format Format) {
		text, err := format.MarshalText()
		if err != nil || string(text) != format.String() {
			t.Errorf("MarshalText: %q, %v", text, err)
		}
		var got Format
		if err := got.UnmarshalText(text); err != nil || got != format {
			t.Errorf("UnmarshalText(%q): %v, %v", text, got, err)
		}
	})
	got := Nori
	if err := got.UnmarshalText([]byte("LevelDB")); !errors.Is(err, ErrFormat) || got != Nori {
		t.Errorf("UnmarshalText: %v, %v", got, err)
	}
}

// TestStatsJSON has filters with all numbers of keys: none, some, more than can be told. JSON has
// no infinite number.
func TestStatsJSON(t *testing.T) {
	for _, c := range []struct {
		filter, want string
	}{
		{"000000000000000006", `{"Bits":64,"SetBits":0,"Probes":6,"Keys":0,"KeysUnknown":false,"FalsePositiveRate":0}`},
		{"ffffffffffffffff06", `{"Bits":64,"SetBits":64,"Probes":6,"Keys":0,"KeysUnknown":true,"FalsePositiveRate":1}`},
		{"00ff", `{"Bits":8,"SetBits":0,"Probes":0,"Keys":0,"KeysUnknown":true,"FalsePositiveRate":1}`},
	} {
		s := mustOpen(t, LevelDB, fromHex(c.filter)).Stats()
		if s.Keys < 1e-6 {
			s.Keys = 0
		}
		data, err := json.Marshal(s)
		if err != nil || string(data) != c.want {
			t.Errorf("Stats of %s: %s, %v", c.filter, data, err)
		}
		var got Stats
		if err := json.Unmarshal([]byte(c.want), &got); err != nil || got != s {
			t.Errorf("%s is read as %+v, %v", c.want, got, err)
		}
	}
}

// TestOneLine prints filters of many bytes in a line.
func TestOneLine(t *testing.T) {
	s := mustSet(t, Policy{LevelDB, 10}, 100000)
	s.AddString("key")
	opened := mustOpen(t, NoriCrate, fromHex("0700000020000000000000008888a8a2"))
	for _, c := range []struct {
		v    any
		want string
	}{
		{s, "leveldb filter of 1000000 bits and 6 probes for 1 keys"},
		{s.Filter(), "leveldb filter of 1000000 bits and 6 probes for 1 keys"},
		{opened, "nori-crate filter of 32 bits and 7 probes"},
		{new(Filter), "rocksdb filter of 0 bits and 0 probes for 0 keys"},
	} {
		for _, v := range []any{c.v, valueOf(c.v)} {
			for _, verb := range []string{"%v", "%+v", "%s"} {
				if got := fmt.Sprintf(verb, v); got != c.want {
					t.Errorf("%s of a %T: %.200q, want %q", verb, v, got, c.want)
				}
			}
		}
	}
	if got := fmt.Sprint((*Filter)(nil)); got != "<nil>" {
		t.Errorf("no filter is printed as %q", got)
	}
}

// valueOf returns what v points to.
func valueOf(v any) any {
	switch v := v.(type) {
	case *Set:
		return *v
	case *Filter:
		return *v
	}
	return v
}
