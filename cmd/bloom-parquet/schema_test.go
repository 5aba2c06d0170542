package main

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestWrittenSchema writes rows of a file whose footer names the encoding of levels first, as those of parquet-java do, and wants
// them again. FLOAT16 gets a warning.
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
		if want := "bloom-parquet: warning: the type of these columns is not written, only their bytes: half (FLOAT16)\n"; status != cli.ExitSome || string(messages) != want {
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

// TestWrittenBounds wants no bounds of decimals and floats in a file of rows, but those of other columns, and no bounds of pages.
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

// TestNullColumn writes the rows of a file with a column of the type NULL, as Arrow has, which may have any physical type.
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
