package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestWriters asks who fills a filter from pages with a dictionary, and from pages of both kinds.
func TestWriters(t *testing.T) {
	for _, test := range []struct {
		createdBy         string
		dictionary, mixed bool
	}{
		{"", false, false},
		{"program version 1", false, false},
		{"DuckDB version v1.4.3 (build d1dc88f950)", true, true},
		{"parquet-mr version 1.15.0 (build 2)", true, true},
		{"parquet-mr-trino version 1", false, false},
		{"parquet-rs version 57.0.0", true, true},
		{"parquet-go version 18.8.0", true, true},
		{"parquet-go version 18.8.1", true, true},
		{"parquet-go version 18.10.0", true, true},
		{"parquet-go version 19.0.0", true, true},
		{"parquet-go version 18.7.9", false, false},
		{"parquet-go version 18.7.0", false, false},
		{"parquet-go version 18.4.0", false, false},
		{"parquet-go version 17.9.0", false, false},
		{"parquet-go version 18.8.0-SNAPSHOT", false, false},
		{"parquet-go version 18.8", false, false},
		{"parquet-go version ", false, false},
		{"parquet-go version 18.-8.0", false, false},
		{"parquet-cpp-arrow version 24.0.0", true, true},
		{"parquet-cpp-arrow version 25.1.0", true, true},
		{"parquet-cpp-arrow version 23.0.0", false, false},
		{"github.com/parquet-go/parquet-go version 0.32.0(build )", true, false},
		// What parquet.CreatedBy of parquet-go makes of other names.
		{"parquet-go version 18.8.0(build x)", false, false},
		{"parquet-go version (build x)", false, false},
		{"parquet-mr version 1.15.0(build 2)", false, false},
		{"DuckDB version v1.4.3(build d1dc88f950)", false, false},
	} {
		if got := fills(test.createdBy, DictionaryPages); got != test.dictionary {
			t.Errorf("%q, with a dictionary: %v", test.createdBy, got)
		}
		for _, pages := range []Pages{MixedPages, UnknownPages} {
			if got := fills(test.createdBy, pages); got != test.mixed {
				t.Errorf("%q, pages of the kind %d: %v", test.createdBy, pages, got)
			}
		}
		old := strings.HasPrefix(test.createdBy, "parquet-go version ") && !test.mixed
		if got := fills(test.createdBy, PlainPages); got == old {
			t.Errorf("%q, without a dictionary: %v", test.createdBy, got)
		}
	}
}

// TestOrigins asks the programs whose row groups another one copied, with their filters.
func TestOrigins(t *testing.T) {
	const copier, whole, lacking = "parquet-mr version 1.15.0 (build 2)", "DuckDB version v1.4.3 (build d1dc88f950)", "parquet-go version 18.7.0"
	for _, test := range []struct {
		createdBy, origins string
		want               bool
	}{
		{copier, "", true},
		{copier, copier, true},
		{copier, copier + "\n" + whole, true},
		{copier, lacking, false},
		{copier, whole + "\n" + lacking, false},
		{copier, lacking + "\n" + whole, false},
		{lacking, whole, false},
	} {
		f := new(file)
		chunk := f.add(t, bloom.Bytes(texts100()), 16)
		chunk.Rows = 100
		for _, chunk.Pages = range []Pages{UnknownPages, PlainPages, DictionaryPages, MixedPages} {
			c := f.open(t, texts)
			c.meta.CreatedBy, c.meta.Origins = test.createdBy, test.origins
			if _, err := c.Filter(0); errors.Is(err, ErrIncomplete) == test.want || test.want && err != nil {
				t.Errorf("created by %q, copied from %q, pages of the kind %d: error %v", test.createdBy, test.origins, chunk.Pages, err)
			}
		}
	}
}

// texts100 are different texts of different lengths, one of them empty.
func texts100() (values [][]byte) {
	for i := range 100 {
		values = append(values, []byte(strings.Repeat(fmt.Sprintf("-%d", i), i%7)))
	}
	values[0] = []byte{} // and 0, 7, 14 …: all are empty
	return values
}

// addDictionary adds a page with values of texts to the file, in which the chunk says it is.
func (f *file) addDictionary(chunk *Chunk, values [][]byte) {
	var data []byte
	for _, v := range values {
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(v))), v...)
	}
	integer := func(dst []byte, id, last int, n int) []byte {
		return binary.AppendVarint(appendFieldHeader(dst, kindI32, id, last), int64(n))
	}
	head := integer(integer(integer(nil, fieldPageType, 0, typeDictionaryPage), fieldPageSize, fieldPageType, len(data)), fieldPageCompressed, fieldPageSize, len(data))
	head = appendFieldHeader(head, kindStruct, fieldDictionaryHeader, fieldPageCompressed)
	head = append(integer(integer(head, fieldPageValues, 0, len(values)), fieldPageEncoding, fieldPageValues, encodingPlain), kindStop, kindStop)
	chunk.DictionaryOffset = int64(f.Len())
	chunk.Place = Place{Values: 1000, Offset: int64(f.Len() + len(head) + len(data)), Size: int64(len(head)+len(data)) + 50}
	f.Write(append(append(head, data...), make([]byte, 50)...))
}

// TestDictionaryProves uses the filter of an unknown program if all values of the dictionary are in it, reads the
// dictionary only if the filter says no, and takes a damaged one for none.
func TestDictionaryProves(t *testing.T) {
	values := texts100()
	some := [][]byte{[]byte("absent")}
	for _, test := range []struct {
		name   string
		filter [][]byte
		change func(f *file, chunk *Chunk)
		want   error
	}{
		{"whole", values, nil, nil},
		{"without the place of the dictionary", values, func(_ *file, c *Chunk) {
			c.Place.Offset, c.DictionaryOffset = c.DictionaryOffset, 0
		}, nil},
		{"one value missing", values[:99], nil, ErrIncomplete},
		{"empty", nil, nil, ErrIncomplete},
		{"another page", values, func(_ *file, c *Chunk) { c.DictionaryOffset++ }, ErrIncomplete},
		{"beyond the file", values, func(f *file, c *Chunk) { c.DictionaryOffset, c.Place.Offset = int64(f.Len()), int64(f.Len())+1 }, ErrIncomplete},
		{"compressed, and nothing decompresses", values, func(_ *file, c *Chunk) { c.Codec = 6 }, ErrIncomplete},
		{"pages of both kinds", values, func(_ *file, c *Chunk) { c.Pages = MixedPages }, ErrIncomplete},
		{"pages of an unknown kind", values, func(_ *file, c *Chunk) { c.Pages = UnknownPages }, ErrIncomplete},
	} {
		f := new(file)
		chunk := f.add(t, bloom.Bytes(test.filter), 16)
		chunk.Rows, chunk.Pages = 1000, DictionaryPages
		f.addDictionary(chunk, values)
		if test.change != nil {
			test.change(f, chunk)
		}
		c := f.open(t, texts)
		if _, err := c.Filter(0); !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v", test.name, err)
		}
		for _, loaded := range []bool{false, true} {
			if loaded {
				c.Load()
			}
			for _, keys := range [][][]byte{values, some, append(some, values...)} {
				group := pruneOne(t, c, keys)
				for i, key := range keys {
					if string(key) != "absent" && !mayContain(group, i) {
						t.Errorf("%s: the value %q is lost", test.name, key)
					}
				}
				if len(keys) == 1 && (group.Count == 0) != (test.want == nil) {
					t.Errorf("%s: an absent key: %d hits, error %v", test.name, group.Count, group.Err)
				}
			}
		}
	}
	// Not read: the filter says that all keys may be there.
	f := new(file)
	chunk := f.add(t, bloom.Bytes(values), 16)
	chunk.Rows, chunk.Pages = 1000, DictionaryPages
	f.addDictionary(chunk, values)
	from := chunk.DictionaryOffset
	reads := 0
	c := f.openWith(t, texts, readerAt(func(p []byte, at int64) (int, error) {
		if at >= from {
			reads++
		}
		return bytes.NewReader(f.Bytes()).ReadAt(p, at)
	}))
	for keys, want := range map[*[][]byte]int{&values: 0, &some: 2} {
		if reads = 0; pruneOne(t, c, *keys).Err != nil || reads != want {
			t.Errorf("%d keys: %d reads of the dictionary", len(*keys), reads)
		}
	}
	if c.meta.CreatedBy = "DuckDB version v1"; pruneOne(t, c, some).Count != 0 || reads > 2 {
		t.Errorf("by a program that is known: %d reads", reads)
	}
}

type readerAt func(p []byte, at int64) (int, error)

func (r readerAt) ReadAt(p []byte, at int64) (int, error) { return r(p, at) }

// pruneOne tests keys against the only row group of a column.
func pruneOne(t testing.TB, c *Column, values [][]byte) RowGroup {
	t.Helper()
	keys, err := KeysOf(c.Type(), values)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rowGroups(keys, c)
	if err != nil || len(m) != 1 {
		t.Fatalf("%d row groups, error %v", len(m), err)
	}
	return m[0]
}

// TestEmptyFilter believes a filter without a set bit only if there are no values, whoever wrote it.
func TestEmptyFilter(t *testing.T) {
	for _, test := range []struct {
		name string
		Chunk
		want error
	}{
		{"values", Chunk{Rows: 5, Pages: PlainPages}, ErrIncomplete},
		{"values of a dictionary", Chunk{Rows: 5, Pages: DictionaryPages}, ErrIncomplete},
		{"no rows", Chunk{Rows: 0, Pages: PlainPages}, nil},
		{"nulls", Chunk{Rows: 5, Null: true, Pages: PlainPages}, nil},
	} {
		f := new(file)
		chunk := f.add(t, bloom.Bytes([][]byte(nil)), 10)
		chunk.Rows, chunk.Null, chunk.Pages = test.Rows, test.Null, test.Pages
		c := f.open(t, texts)
		c.meta.CreatedBy = "DuckDB version v1.4.3 (build d1dc88f950)"
		if _, err := c.Filter(0); !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v", test.name, err)
		}
		if group := pruneOne(t, c, [][]byte{[]byte("a")}); group.Count == 0 != (test.want == nil) {
			t.Errorf("%s: %d hits, error %v", test.name, group.Count, group.Err)
		}
	}
}

// TestMark believes the mark of an Embedder for the filter and the chunk that it was made for, and for no others.
func TestMark(t *testing.T) {
	f := new(file)
	place := Place{100, 4, 500}
	chunk := f.add(t, bloom.Bytes(texts100()), 16)
	chunk.Pages, chunk.Place = MixedPages, place
	blocks, err := f.open(t, texts).readBlocks(0, new(buffer))
	if err == nil {
		t.Fatal("a filter is read that no mark can be for")
	}
	chunk.Pages = PlainPages
	if blocks, err = f.open(t, texts).readBlocks(0, new(buffer)); err != nil {
		t.Fatal(err)
	}
	chunk.Pages = MixedPages
	own := place.mark(blocks)
	other := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 16}.NewFilter(bloom.Bytes(texts100()[:99])).Bytes()
	open := func(mark string) error {
		c, err := Open(Meta{Path: "k", Type: texts, Input: bytes.NewReader(f.Bytes()), Size: int64(f.Len()), Chunks: f.chunks, Mark: mark})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Filter(0)
		return err
	}
	whole := appendMark("", []marking{own})
	for name, mark := range map[string]string{
		"alone": whole, "first": appendMark(whole, []marking{{1, 2}}), "last": appendMark(appendMark("", []marking{{1, 2}}), []marking{own}),
		"replaced by itself": appendMark(whole, []marking{own}), "in the place of a damaged one": appendMark("?", []marking{own}),
	} {
		if err := open(mark); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, mark := range map[string]string{
		"none": "", "damaged": whole[:len(whole)-1], "no base64": "?" + whole[1:],
		"another filter": appendMark("", []marking{place.mark(other)}), "replaced": appendMark(whole, []marking{{own.place, 1}}),
		"another number of values": appendMark("", []marking{Place{101, 4, 500}.mark(blocks)}),
		"another place":            appendMark("", []marking{Place{100, 5, 500}.mark(blocks)}),
		"another size":             appendMark("", []marking{Place{100, 4, 501}.mark(blocks)}),
	} {
		if err := open(mark); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// FuzzDictionary reads dictionary pages of any bytes.
func FuzzDictionary(f *testing.F) {
	file := new(file)
	chunk := file.add(f, bloom.Bytes(texts100()), 16)
	file.addDictionary(chunk, texts100())
	f.Add(file.Bytes()[chunk.DictionaryOffset:], uint8(ByteArray), uint8(0))
	f.Add(file.Bytes()[chunk.DictionaryOffset:], uint8(Int64), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, physical, codec uint8) {
		c, err := Open(Meta{
			Path: "k", Type: Type{Physical: Physical(physical % 8), Width: 3}, Input: bytes.NewReader(append([]byte{0}, data...)), Size: int64(len(data)) + 1,
			Chunks:     []Chunk{{Place: Place{1, 1, int64(len(data))}, Codec: int32(codec % 2)}},
			Decompress: func(_ int32, data []byte, _ int) ([]byte, error) { return data, io.ErrUnexpectedEOF },
		})
		if err != nil {
			t.Skip()
		}
		if keys, err := c.dictionary(0); err == nil && keys.Len() > len(data) {
			t.Fatalf("%d values in %d bytes", keys.Len(), len(data))
		}
	})
}

// TestPagesOf wants encodings of levels and of dictionaries not to be taken for those of values.
func TestPagesOf(t *testing.T) {
	const plain, plainDictionary, rle, delta, dictionary = 0, 2, 3, 5, 8
	for _, test := range []struct {
		stats     bool
		encodings []int32
		want      Pages
	}{
		{true, nil, UnknownPages}, {false, nil, UnknownPages},
		{true, []int32{plain}, PlainPages}, {true, []int32{delta, rle}, PlainPages}, {false, []int32{plain, rle}, PlainPages},
		{true, []int32{dictionary}, DictionaryPages}, {true, []int32{plainDictionary, dictionary}, DictionaryPages},
		{true, []int32{dictionary, plain}, MixedPages}, {true, []int32{delta, plainDictionary}, MixedPages},
		{false, []int32{dictionary}, UnknownPages}, {false, []int32{plain, rle, plainDictionary}, UnknownPages},
	} {
		if got := PagesOf(test.stats, test.encodings); got != test.want {
			t.Errorf("%v, statistics %v: %d, want %d", test.encodings, test.stats, got, test.want)
		}
	}
}
