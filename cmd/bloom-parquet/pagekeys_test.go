package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
)

// TestHashesOf finds every value of the columns of random tables among the hashes of its row group, and no
// value that no row of it has.
func TestHashesOf(t *testing.T) {
	dictionaries, plain := 0, 0
	for seed := range uint64(20) {
		name := filepath.Join(t.TempDir(), "a.parquet")
		writeTable(t, name, rand.New(rand.NewPCG(61, seed)))
		for _, column := range []string{"text", "number"} {
			file, err := openFile(name, column)
			if err != nil {
				t.Fatal(err)
			}
			for group := range file.RowGroups() {
				scanned, err := chunkValues(file.RowGroups()[group].ColumnChunks()[file.leaf])
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]bool{}
				for _, v := range scanned {
					if !v.IsNull() {
						want[string(v.AppendBytes(nil))] = true
					}
				}
				hashes, err := file.hashesOf(bloom.Parquet, file.column.Type(), file.leaf, group)
				if values := file.valuesOf(file.leaf, group); err != nil || values != int64(len(scanned)) {
					t.Fatalf("%d values, want %d, %v", values, len(scanned), err)
				}
				checkHashes(t, fmt.Sprintf("table %d, row group %d of %s", seed, group, column), hashes, want)
				for _, keys := range hashes {
					if keys.Len() > len(want) {
						plain++
					} else {
						dictionaries++
					}
				}
			}
			file.close()
		}
	}
	if dictionaries == 0 || plain == 0 {
		t.Errorf("%d columns of different values, and %d others", dictionaries, plain)
	}
}

// checkHashes wants a large filter of hashes to have some keys, and no other number or text.
func checkHashes(t *testing.T, what string, hashes []bloom.Keys, want map[string]bool) {
	t.Helper()
	set, err := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 256}.NewSet(2000)
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range hashes {
		set.AddBatch(keys)
	}
	for key := range want {
		if !set.MayContain([]byte(key)) {
			t.Errorf("%s: the key %q is lost", what, key)
		}
	}
	builder := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 8}.NewBuilder()
	for _, keys := range hashes {
		builder.AddBatch(keys)
	}
	if n := builder.Len(); n < len(want) {
		t.Errorf("%s: %d keys, want %d", what, n, len(want))
	}
}

// TestUnusedKeys wants no key of a dictionary that no row of the pages has.
func TestUnusedKeys(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.parquet")
	type row struct {
		K string `parquet:"k,dict"`
	}
	writeRows(t, name, []row{{"a"}, {"b"}, {"a"}, {"c"}, {"b"}}, 10)
	file, err := openFile(name, "k")
	if err != nil {
		t.Fatal(err)
	}
	defer file.close()
	pages := file.RowGroups()[0].ColumnChunks()[0].Pages()
	defer pages.Close()
	page, err := pages.ReadPage()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		from, to int64
		want     string
	}{{0, 1, "a"}, {1, 3, "ba"}, {0, 3, "ab"}, {0, 5, "abc"}} {
		reader, h := &keyReader{}, &keyHasher{format: bloom.Parquet}
		var got []byte
		for range 2 { // the second page has nothing new
			keys, err := reader.read(page.Slice(part.from, part.to))
			if err != nil {
				t.Fatal(err)
			}
			if err := h.add(keys); err != nil {
				t.Fatal(err)
			}
			if keys.isNew {
				must(keys.each(make([]bool, 3), func(value []byte) error { got = append(got, value...); return nil }))
			}
		}
		another, err := new(keyReader).read(page.Slice(0, 1)) // of another dictionary
		if err != nil {
			t.Fatal(err)
		}
		must(h.add(another))
		builder := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 8}.NewBuilder()
		for _, keys := range h.all() {
			builder.AddBatch(keys)
		}
		if string(got) != part.want || builder.Len() != len(part.want)+1 {
			t.Errorf("rows %d to %d: %q and %d hashes, want %q", part.from, part.to, got, builder.Len(), part.want)
		}
	}
	parquet.Release(page)
}
