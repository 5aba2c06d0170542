package bloom_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestTableSavesReads counts the blocks that the example's table reads. It must read one for
// every present key and, at 10 bits per key, one for at most 1.1 % of the absent keys.
func TestTableSavesReads(t *testing.T) {
	t.Parallel()
	const keys = 30_000
	file, err := os.Create(filepath.Join(t.TempDir(), "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := writeTable(file, keys); err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	reader := &countingReader{ReaderAt: file}
	table, err := openTable(reader, info.Size())
	if err != nil {
		t.Fatal(err)
	}

	reader.reads = 0
	for i := range keys {
		value, found, err := table.Get(fmt.Appendf(nil, "key%06d", 2*i))
		if err != nil || !found || string(value) != fmt.Sprintf("value %d", i) {
			t.Fatalf("key %d: %q, %v, %v", 2*i, value, found, err)
		}
	}
	if reader.reads != keys {
		t.Errorf("%d blocks read for %d keys", reader.reads, keys)
	}

	reader.reads = 0
	for i := range keys { // but for the last, between two keys of a block or of two
		if _, found, err := table.Get(fmt.Appendf(nil, "key%06d", 2*i+1)); found || err != nil {
			t.Fatalf("key %d: %v, %v", 2*i+1, found, err)
		}
	}
	if saved := 1 - float64(reader.reads)/(keys-1); saved < 0.989 {
		t.Errorf("%d blocks read for %d absent keys: %.2f %% saved", reader.reads, keys, 100*saved)
	}
}

// TestTableRefusesOthers opens bytes that are no table, and looks up keys in damaged tables.
func TestTableRefusesOthers(t *testing.T) {
	t.Parallel()
	const keys = 300 // two blocks
	var file bytes.Buffer
	if err := writeTable(&file, keys); err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) (*table, error) { return openTable(bytes.NewReader(data), int64(len(data))) }
	whole := file.Bytes()
	if _, err := open(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := open(whole[:n]); !errors.Is(err, errCorrupt) {
			t.Errorf("the first %d of %d bytes: error %v", n, len(whole), err)
		}
	}
	footer := len(whole) - footerSize
	for i := range footerSize {
		damaged := bytes.Clone(whole)
		damaged[footer+i] ^= 0x81
		if _, err := open(damaged); !errors.Is(err, errCorrupt) {
			t.Errorf("byte %d of the footer: error %v", i, err)
		}
	}
	for i := 0; i < footerSize; i += 8 {
		damaged := bytes.Clone(whole)
		clear(damaged[footer+i : footer+i+8])
		if _, err := open(damaged); !errors.Is(err, errCorrupt) {
			t.Errorf("word %d of the footer is 0: error %v", i/8, err)
		}
	}
	filter := int(binary.LittleEndian.Uint64(whole[footer+16:]))
	for i := range 112 { // the header of its file
		damaged := bytes.Clone(whole)
		damaged[filter+i] ^= 0x81
		if _, err := open(damaged); !errors.Is(err, errCorrupt) || !errors.Is(err, bloom.ErrEncoding) {
			t.Errorf("byte %d of the filter: error %v", i, err)
		}
	}
	stride := 1
	if os.Getenv("BLOOM_TEST_WHOLE") == "" {
		stride = 7
	}
	for i := 0; i < filter; i += stride { // data and index: an error, or another value, and no panic
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x81
		table, err := open(damaged)
		for j := 0; j < keys && err == nil; j += 20 {
			_, _, err = table.Get(fmt.Appendf(nil, "key%06d", 2*j))
		}
		if err != nil && !errors.Is(err, errCorrupt) {
			t.Errorf("byte %d: error %v", i, err)
		}
	}
}

// TestTableReadsInside reads spans and entries that claim more bytes than there are.
func TestTableReadsInside(t *testing.T) {
	const end = 10 // of 20 bytes
	for _, s := range []span{{0, 11}, {10, 1}, {11, 0}, {5, math.MaxUint64}, {math.MaxUint64, 2}, {1 << 63, 1}} {
		if _, err := s.read(bytes.NewReader(make([]byte, 2*end)), end); !errors.Is(err, errCorrupt) {
			t.Errorf("%d bytes at %d: error %v", s.size, s.offset, err)
		}
	}
	entry := appendBytes(nil, make([]byte, 200))
	for n := range entry {
		if _, _, err := cutBytes(entry[:n]); !errors.Is(err, errCorrupt) {
			t.Errorf("the first %d of %d bytes: error %v", n, len(entry), err)
		}
	}
}

// TestTableWantsOrder checks that a table refuses keys that do not ascend.
func TestTableWantsOrder(t *testing.T) {
	for _, keys := range [][]string{{"b", "a"}, {"a", "a"}, {"", ""}} {
		w, err := newTableWriter(new(bytes.Buffer), 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add([]byte(keys[0]), nil); err != nil {
			t.Error(err)
		}
		if err := w.Add([]byte(keys[1]), nil); err == nil {
			t.Errorf("%q was added after %q", keys[1], keys[0])
		}
	}
	if _, err := newTableWriter(new(bytes.Buffer), -1); !errors.Is(err, bloom.ErrCapacity) {
		t.Errorf("-1 keys: error %v", err)
	}
}
