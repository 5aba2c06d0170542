package main

import (
	"bytes"
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
