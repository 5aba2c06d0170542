package bloom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestInterleavedBuilder compares the file of a builder with that of filters in memory, for numbers of filters at the ends of blocks.
func TestInterleavedBuilder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	random := rand.New(rand.NewPCG(93, 94))
	for i, format := range []Format{RocksDB, Nori, Parquet} {
		p := Policy{format, 10}
		filters := filtersOfShape(t, random, p, 40, 1600)
		for j, count := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 1599} {
			if (i+j)%oneOf(3) != 0 {
				continue // each number with one format
			}
			b, err := newInterleavedBuilder(filters[0], 0) // of blocks of 512 filters
			if err != nil {
				t.Fatal(err)
			}
			x, err := NewInterleaved(filters[0], count)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Put(0, filters[:count]...); err != nil {
				t.Fatal(err)
			}
			for i, f := range filters[:count] {
				if i == count/3 { // a file of the filters so far
					if _, err := b.WriteTo(io.Discard); err != nil {
						t.Fatal(err)
					}
				}
				label := fmt.Sprint("label ", i)
				x.SetLabel(i, label)
				if err := b.Add(f, label); err != nil {
					t.Fatal(err)
				}
			}
			x.SetMetadata([]byte("metadata"))
			b.SetMetadata(x.labels.metadata)
			done := int64(0)
			b.Progress = func(written, size int64) {
				if written <= done || written > size || size != int64(len(x.slices)) {
					t.Errorf("%d bytes of %d after %d", written, size, done)
				}
				done = written
			}
			path := filepath.Join(t.TempDir(), "filters")
			if err := b.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, fileOf(t, x)) || b.all.filters != count || done != int64(len(x.slices)) {
				t.Fatalf("%v: another file of %d filters", format, count)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 && runtime.GOOS != "windows" {
				t.Errorf("if the process were killed, %v would stay: %v", left, err)
			}
			var again bytes.Buffer
			b.Progress = nil
			if n, err := b.WriteTo(&again); err != nil || n != int64(len(got)) || !bytes.Equal(again.Bytes(), got) {
				t.Errorf("written again, another file: %v", err)
			}
			if err := errors.Join(b.Add(filters[0], ""), b.Close(), b.Close()); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 && count > 0 && left[0].Name()[:5] == "bloom" {
				t.Errorf("%v stays: %v", left, err)
			}
		}
	}
}

// TestInterleavedBuilderErrors wants errors for what cannot be added or written, and no file.
func TestInterleavedBuilderErrors(t *testing.T) {
	f := Policy{BitsPerKey: 10}.NewFilter(Integers(make([]uint64, 100)))
	b, err := NewInterleavedBuilder(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*Filter{nil, new(Filter), Policy{Parquet, 10}.NewFilter(Keys{}), Policy{BitsPerKey: 10}.NewFilter(Integers([]int{1}))} {
		if err := b.Add(other, "other"); !errors.Is(err, ErrShape) || b.all.filters != 0 {
			t.Errorf("Add: %v", err)
		}
	}
	if _, err := NewInterleavedBuilder(new(Filter)); !errors.Is(err, ErrShape) {
		t.Errorf("the zero Filter: %v", err)
	}
	dir := t.TempDir()
	if err := b.WriteFile(filepath.Join(dir, "none", "filters")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.WriteFile(filepath.Join(dir, "folder")); err == nil {
		t.Error("a folder is replaced")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v stays", left)
	}
}
