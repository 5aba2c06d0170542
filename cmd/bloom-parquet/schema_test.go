package main

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestWrittenSchema writes rows of a file whose footer names the encoding of levels first, as those of
// parquet-java do, and wants them again. FLOAT16 gets a warning.
func TestWrittenSchema(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type group struct {
		Text  *string `parquet:"text,optional"`
		Truth *bool   `parquet:"truth,optional"`
	}
	type row struct {
		Number int64     `parquet:"number"`
		Half   [2]byte   `parquet:"half"`
		Group  *group    `parquet:"group,optional"`
		Many   []float64 `parquet:"many"`
	}
	text, truth := "a text", true
	rows := []row{{1, [2]byte{0, 0x3c}, &group{&text, &truth}, []float64{1, 2}}, {2, [2]byte{}, nil, nil}, {3, [2]byte{}, &group{}, []float64{0}}}
	var written bytes.Buffer
	if err := parquet.Write(&written, rows); err != nil {
		t.Fatal(err)
	}
	for _, first := range []format.Encoding{format.Plain, format.RLE} {
		data := edited(t, written.Bytes(), func(m *format.FileMetaData) {
			for i := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[i].MetaData.Encoding = []format.Encoding{first, format.Plain, format.RLE}
			}
			half := slices.IndexFunc(m.Schema, func(e format.SchemaElement) bool { return e.Name == "half" })
			m.Schema[half].LogicalType.Value = &format.Float16Type{}
		})
		in, out, keys := filepath.Join(t.TempDir(), "in.parquet"), filepath.Join(t.TempDir(), "out.parquet"), filepath.Join(t.TempDir(), "keys")
		write(t, in, data)
		write(t, keys, []byte("1\n3\n"))
		status, copied, messages := runOn(t, 1, "filter", "--column", "number", "--keys", keys, "-o", out, in)
		if want := "bloom-parquet: warning: these columns are written as bytes, without their type: half (FLOAT16)\n"; status != cli.ExitSome || string(messages) != want {
			t.Fatalf("%v first: status %d: %s", first, status, messages)
		}
		got, err := parquet.Read[row](bytes.NewReader(copied), int64(len(copied)))
		if err != nil || len(got) != 2 {
			t.Fatalf("%v first: %d rows, %v", first, len(got), err)
		}
		for i, want := range []row{rows[0], rows[2]} {
			if g := got[i]; g.Number != want.Number || g.Half != want.Half || !slices.Equal(g.Many, want.Many) || (g.Group.Text == nil) != (want.Group.Text == nil) || (g.Group.Truth == nil) != (want.Group.Truth == nil) {
				t.Errorf("%v first: row %+v, want %+v", first, g, want)
			}
		}
	}
}

// TestWrittenBounds wants no bounds of decimals and floats in a file of rows, but those of other columns, and
// no bounds of pages.
func TestWrittenBounds(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type row struct {
		Number int64   `parquet:"number"`
		Amount [8]byte `parquet:"amount,decimal(2:18)"`
		Float  float64 `parquet:"float,dict"`
	}
	rows := []row{{1, [8]byte{7: 1}, 1}, {2, [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, math.NaN()}, {3, [8]byte{}, 2}}
	for name, filters := range map[string][]parquet.WriterOption{"no filters": nil, "filters": {parquet.BloomFilters(parquet.SplitBlockFilter(10, "amount"))}} {
		in, out, none := filepath.Join(t.TempDir(), "in.parquet"), "out.parquet", filepath.Join(t.TempDir(), "none")
		var written bytes.Buffer
		if err := parquet.Write(&written, rows, filters...); err != nil {
			t.Fatal(err)
		}
		write(t, in, written.Bytes())
		write(t, none, nil)
		status, copied, messages := runOn(t, 1, "filter", "--column", "number", "--keys", none, "-v", "-o", out, in)
		got, err := parquet.Read[row](bytes.NewReader(copied), int64(len(copied)))
		if status != cli.ExitSome || err != nil || len(got) != len(rows) {
			t.Fatalf("%s: status %d, %d rows, %v: %s", name, status, len(got), err, messages)
		}
		file, err := parquet.OpenFile(bytes.NewReader(copied), int64(len(copied)))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range file.Metadata().RowGroups[0].Columns {
			column, s := c.MetaData.PathInSchema[0], c.MetaData.Statistics
			bounds := len(s.MinValue)+len(s.MaxValue)+len(s.Min)+len(s.Max) > 0
			if isNumber := column == "number"; bounds != isNumber || c.ColumnIndexOffset != 0 || c.OffsetIndexOffset == 0 {
				t.Errorf("%s: column %d, %s: bounds %x to %x, column index at %d", name, i, column, s.MinValue, s.MaxValue, c.ColumnIndexOffset)
			}
		}
	}
}

// TestOptionalColumns writes the rows of files that say REQUIRED and OPTIONAL for the same columns, also
// nested ones, as Parquet and as JSON, whichever file is the first.
func TestOptionalColumns(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type required struct {
		Key   int64 `parquet:"key"`
		Group struct {
			Text  string  `parquet:"text"`
			Many  []int32 `parquet:"many"`
			Maybe *int32  `parquet:"maybe,optional"`
		} `parquet:"group"`
	}
	type group struct {
		Text  *string `parquet:"text,optional"`
		Many  []int32 `parquet:"many"`
		Maybe int32   `parquet:"maybe"`
	}
	type optional struct {
		Key   *int64 `parquet:"key,optional"`
		Group *group `parquet:"group,optional"`
	}
	type both struct {
		Key   *int64 `parquet:"key,optional"`
		Group *struct {
			Text  *string `parquet:"text,optional"`
			Many  []int32 `parquet:"many"`
			Maybe *int32  `parquet:"maybe,optional"`
		} `parquet:"group,optional"`
	}
	seven, key := int32(7), func(k int64) *int64 { return &k }
	first := make([]required, 3)
	for i := range first {
		first[i].Key, first[i].Group.Text, first[i].Group.Many = int64(i+1), "a text", []int32{1, 2}[:i]
	}
	first[1].Group.Maybe = &seven
	text := "other"
	second := []optional{{key(2), &group{&text, []int32{3}, 4}}, {key(3), nil}, {nil, nil}, {key(3), &group{nil, nil, 5}}}
	folder := t.TempDir()
	a, b, keys := filepath.Join(folder, "a.parquet"), filepath.Join(folder, "b.parquet"), filepath.Join(folder, "keys")
	if err := parquet.WriteFile(a, first); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(b, second); err != nil {
		t.Fatal(err)
	}
	write(t, keys, []byte("2\n3\n"))
	ofA := `{"key":2,"group":{"text":"a text","many":[1],"maybe":7}}
{"key":3,"group":{"text":"a text","many":[1,2],"maybe":null}}
`
	ofB := `{"key":2,"group":{"text":"other","many":[3],"maybe":4}}
{"key":3,"group":null}
{"key":3,"group":{"text":null,"many":[],"maybe":5}}
`
	for _, test := range []struct {
		files []string
		want  string
	}{{[]string{a, b}, ofA + ofB}, {[]string{b, a}, ofB + ofA}, {[]string{a, a}, ofA + ofA}} {
		args := append([]string{"filter", "--column", "key", "--keys", keys}, test.files...)
		if status, lines, messages := runOn(t, 1, append(args, "--as", "jsonl")...); status != cli.ExitSome || string(lines) != test.want {
			t.Errorf("%v: status %d, %s, want %s: %s", test.files, status, lines, test.want, messages)
		}
		out := filepath.Join(folder, "out.parquet")
		status, data, messages := runOn(t, 1, append(args, "-o", out)...)
		if status != cli.ExitSome {
			t.Errorf("%v: status %d: %s", test.files, status, messages)
			continue
		}
		write(t, out, data)
		if status, lines, messages := runOn(t, 1, "filter", "--column", "key", "--keys", keys, "--as", "jsonl", out); string(lines) != test.want {
			t.Errorf("%v, of what was written: status %d, %s, want %s: %s", test.files, status, lines, test.want, messages)
		}
		if test.files[0] == test.files[1] {
			continue
		}
		file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil || !parquet.EqualNodes(file.Schema(), parquet.SchemaOf(both{})) {
			t.Errorf("%v: the schema is %v, %v", test.files, file.Schema(), err)
		}
	}
}

// TestOtherColumns wants errors that name the column that differs, and both types.
func TestOtherColumns(t *testing.T) {
	t.Setenv(apartVariable, "1")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	plain := parquet.Leaf(parquet.Int64Type)
	for name, fields := range map[string]parquet.Group{
		"a":      {"key": plain, "x": parquet.String(), "group": parquet.Group{"y": plain}},
		"type":   {"key": plain, "x": plain, "group": parquet.Group{"y": plain}},
		"int":    {"key": parquet.Int(64), "x": parquet.String(), "group": parquet.Group{"y": parquet.Int(64)}},
		"uint":   {"key": plain, "x": parquet.String(), "group": parquet.Group{"y": parquet.Uint(64)}},
		"list":   {"key": plain, "x": parquet.Repeated(parquet.String()), "group": parquet.Group{"y": plain}},
		"fewer":  {"key": plain, "group": parquet.Group{"y": plain}},
		"more":   {"key": plain, "x": parquet.String(), "group": parquet.Group{"y": plain, "z": parquet.Leaf(parquet.FixedLenByteArrayType(3))}},
		"leaf":   {"key": plain, "x": parquet.String(), "group": plain},
		"nested": {"key": plain, "x": parquet.String(), "group": parquet.Group{"z": plain}},
	} {
		var data bytes.Buffer
		w := parquet.NewGenericWriter[any](&data, parquet.NewSchema("root", fields))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		write(t, in(name), data.Bytes())
	}
	write(t, in("keys"), []byte("1\n"))
	for other, want := range map[string]string{
		"int":    "",
		"type":   "column x is INT64, but in A it is BYTE_ARRAY (STRING)",
		"uint":   "column group.y is INT64 (INT(64,false)), but in A it is INT64",
		"list":   "column x is REPEATED BYTE_ARRAY (STRING), but in A it is BYTE_ARRAY (STRING)",
		"fewer":  "column x is missing, but in A it is BYTE_ARRAY (STRING)",
		"more":   "it has a column group.z, FIXED_LEN_BYTE_ARRAY[3], but A has no such column",
		"leaf":   "column group is INT64, but in A it is a group",
		"nested": "column group.y is missing, but in A it is INT64",
	} {
		status, _, messages := runOn(t, 1, "filter", "--column", "key", "--keys", in("keys"), "--as", "jsonl", in("a"), in(other))
		wantStatus := exitApart
		if want == "" {
			wantStatus = cli.ExitNone
		} else {
			want = "bloom-parquet: " + in(other) + ": " + strings.ReplaceAll(want, " A ", " "+in("a")+" ") + "\n"
		}
		if status != wantStatus || want != "" && string(messages) != want {
			t.Errorf("%s: status %d, %s, want %s", other, status, messages, want)
		}
	}
}

// TestNullColumn writes the rows of a file with a column of the type NULL, as Arrow has, which may have any
// physical type.
func TestNullColumn(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type row struct {
		Key  int64  `parquet:"key"`
		Null *int32 `parquet:"null,optional"`
	}
	var written bytes.Buffer
	if err := parquet.Write(&written, []row{{Key: 1}, {Key: 2}}); err != nil {
		t.Fatal(err)
	}
	in, keys := filepath.Join(t.TempDir(), "in.parquet"), filepath.Join(t.TempDir(), "keys")
	write(t, keys, []byte("2\n"))
	write(t, in, edited(t, written.Bytes(), func(m *format.FileMetaData) {
		i := slices.IndexFunc(m.Schema, func(e format.SchemaElement) bool { return e.Name == "null" })
		m.Schema[i].LogicalType.Value = &format.NullType{}
	}))
	status, out, messages := runOn(t, 1, "filter", "--column", "key", "--keys", keys, "--as", "jsonl", in)
	if want := "{\"key\":2,\"null\":null}\n"; status != cli.ExitSome || string(out) != want {
		t.Errorf("status %d, %q: %s", status, out, messages)
	}
	status, out, messages = runOn(t, 1, "filter", "--column", "key", "--keys", keys, "-o", "out", in)
	got, err := parquet.Read[row](bytes.NewReader(out), int64(len(out)))
	if status != cli.ExitSome || err != nil || len(got) != 1 || got[0] != (row{Key: 2}) {
		t.Errorf("status %d, %v, %v: %s", status, got, err, messages)
	}
}
