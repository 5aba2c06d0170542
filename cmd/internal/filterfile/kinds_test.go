package filterfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// keysOf returns n keys.
func keysOf(n int) bloom.Keys {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i)
	}
	return bloom.Strings(keys)
}

// TestKnown wants every format once in the table of what the commands know.
func TestKnown(t *testing.T) {
	var formats []bloom.Format
	for _, k := range known {
		formats = append(formats, k.format)
	}
	if slices.Sort(formats); !slices.Equal(formats, bloom.Formats()) {
		t.Errorf("known has %v, and the formats are %v", formats, bloom.Formats())
	}
}

// TestUnnamed wants the bare bytes of some formats to be opened without the name of the format, as that format alone,
// and those of the others to be refused.
func TestUnnamed(t *testing.T) {
	says := []bloom.Format{bloom.RocksDB, bloom.Pebble, bloom.Nori, bloom.NoriCrate, bloom.BitsAndBlooms, bloom.Guava}
	for _, format := range bloom.Formats() {
		for _, n := range []int{1, 2, 3, 10, 100, 5000} {
			for bitsPerKey := 1; bitsPerKey <= 40; bitsPerKey++ {
				data := bloom.Policy{Format: format, BitsPerKey: bitsPerKey}.AppendFilter(nil, keysOf(n))
				f, err := Options{}.Open("file", data)
				if !slices.Contains(says, format) {
					if err == nil {
						t.Errorf("%v, %d keys of %d bits: opened as %v", format, n, bitsPerKey, f.Written())
					}
					continue
				}
				if err != nil || f.Written() != format {
					t.Errorf("%v, %d keys of %d bits: %v", format, n, bitsPerKey, err)
				}
				for _, other := range []bloom.Format{bloom.LevelDB, bloom.Parquet} {
					if _, err := Recognise(other, data); !errors.As(err, new(*StrangeError)) {
						t.Errorf("%v, %d keys of %d bits, as %v: %v", format, n, bitsPerKey, other, err)
					}
				}
			}
		}
	}
}

// TestUnnamedRandom wants random bytes of all lengths to be refused, and so is a filter with a byte more or less.
func TestUnnamedRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		data := make([]byte, n%700)
		for i := range data {
			data[i] = byte(random.Uint32() & random.Uint32())
		}
		if f, err := (Options{}).Open("file", data); err == nil {
			t.Errorf("%d bytes are opened as %v", len(data), f.Written())
		}
	}
	for _, format := range bloom.Formats() {
		whole := bloom.Policy{Format: format, BitsPerKey: 10}.AppendFilter(nil, keysOf(100))
		for _, data := range [][]byte{whole[:len(whole)-1], whole[1:], append(bytes.Clone(whole), 0), append([]byte{0}, whole...)} {
			if f, err := (Options{}).Open("file", data); err == nil {
				t.Errorf("%d bytes of %d are opened as %v", len(data), len(whole), f.Written())
			}
		}
	}
}

// TestTrailers wants bytes that are nearly a trailer not to be one.
func TestTrailers(t *testing.T) {
	lines := make([]byte, 128)
	for name, end := range map[string]string{
		"rocksdb, 31 probes": "\xff\x00\x1f\x00\x00", "rocksdb, no probes": "\xff\x00\x00\x00\x00", "rocksdb, another implementation": "\xff\x01\x06\x00\x00",
		"rocksdb, no zeros": "\xff\x00\x06\x01\x00", "a Ribbon filter": "\xfe\x00\x06\x00\x00", "pebble, 31 probes": "\x1f\x02\x00\x00\x00",
		"pebble, no probes": "\x00\x02\x00\x00\x00", "pebble, a line more": "\x06\x03\x00\x00\x00", "pebble, big-endian": "\x06\x00\x00\x00\x02",
	} {
		if formats := formatsOf(append(bytes.Clone(lines), end...)); len(formats) > 0 {
			t.Errorf("%s: %v", name, formats)
		}
	}
}

// TestForeign wants the filters of other programs to be called by their names.
func TestForeign(t *testing.T) {
	little, big := binary.LittleEndian, binary.BigEndian
	words := strings.Repeat("\x12\x00\x81\x40\x00\x00\xff\x01", 150)
	fields := func(order binary.AppendByteOrder, all ...any) (data []byte) {
		for _, field := range all {
			data, _ = binary.Append(data, order.(binary.ByteOrder), field)
		}
		return data
	}
	for name, data := range map[string][]byte{
		"github.com/DCSO/bloom":          append(fields(little, uint64(1), uint64(1000), 0.01, uint64(7), uint64(9586), uint64(5)), words...),
		"github.com/holiman/bloomfilter": append([]byte("\x00\x00\x00\x00\x00\x00\x00\x00v02\n"), words...),
		"github.com/greatroar/blobloom":  append([]byte("blobloom\x00\x00\x00\x00"), words...),
		"Apache Spark":                   append(fields(big, uint32(1), uint32(7), uint32(150)), words...),
		"Apache Cassandra":               append(fields(big, uint32(7), uint32(150)), words...),
	} {
		for _, options := range []Options{{}, {Format: bloom.LevelDB, Asked: true}, {Format: bloom.Parquet, Asked: true}} {
			_, err := options.Open("file", data)
			if err == nil || !strings.Contains(err.Error(), "this looks like a filter of "+name+", whose format is not supported: ") {
				t.Errorf("%s, %+v: %v", name, options, err)
			}
		}
	}
}

// TestSmallFilters wants filters of few keys to be taken for filters of their format, and zeros for those of none.
func TestSmallFilters(t *testing.T) {
	for _, format := range bloom.Formats() {
		for i := range 20_000 {
			keys := make([]string, i%50)
			for j := range keys {
				keys[j] = fmt.Sprintf("%d-%d", i, j)
			}
			data := bloom.Policy{Format: format, BitsPerKey: 1 + i%20}.AppendFilter(nil, bloom.Strings(keys))
			if len(data) == 0 || isText(data) { // which some of LevelDB look like
				continue
			}
			if _, err := (Options{Format: format, Asked: true}).Open("file", data); err != nil {
				t.Errorf("%v, %x: %v", format, data, err)
			}
		}
	}
	for n := 1; n < 300; n++ {
		if f, err := (Options{}).Open("file", make([]byte, n)); err == nil {
			t.Errorf("%d zeros are a filter of %v", n, f.Written())
		}
	}
}

// filterBlock returns a block of filters as LevelDB's tables have it.
func filterBlock(filters, keysOfEach int) []byte {
	var block, places []byte
	for range filters {
		places = binary.LittleEndian.AppendUint32(places, uint32(len(block)))
		if keysOfEach > 0 {
			block = bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.AppendFilter(block, keysOf(keysOfEach))
		}
	}
	start := uint32(len(block))
	return append(binary.LittleEndian.AppendUint32(append(block, places...), start), 11)
}

// TestFilterBlock wants a block of filters to be called so, with their number, and no filter of LevelDB to be.
func TestFilterBlock(t *testing.T) {
	for filters, words := range map[int]string{1: "1", 2: "2", 999: "999", 1024: "1,024", 1234567: "1,234,567"} {
		_, err := Options{Format: bloom.LevelDB, Asked: true}.Open("file", filterBlock(filters, 3))
		want := "file: this looks like a filter block of a LevelDB table, with " + words + " filters, not like one filter: use --raw to read it anyway"
		if err == nil || err.Error() != want {
			t.Errorf("%d filters: %v", filters, err)
		}
	}
	for _, data := range [][]byte{nil, {11}, {0, 0, 0, 0, 11}, filterBlock(0, 0), filterBlock(5, 0), filterBlock(7, 3)[1:], append(filterBlock(7, 3), 11),
		[]byte("abcdefgh\x00\x00\x00\x00\x07\x00\x00\x00\x05\x00\x00\x00\x08\x00\x00\x00\x0b"), // places that go back
		[]byte("abcdefgh\x00\x00\x00\x00\x09\x00\x00\x00\x08\x00\x00\x00\x0b"),                 // a place past the filters
		[]byte("abcdefgh\x00\x00\x00\x00\x00\x08\x00\x00\x00\x0b"),                             // a byte more than places
		[]byte("abcdefgh\x01\x00\x00\x00\x08\x00\x00\x00\x0b"),                                 // a first filter that is not first
	} {
		if n, ok := FilterBlock(data); ok {
			t.Errorf("%x is a block of %d filters", data, n)
		}
	}
	for n := range 600 {
		data := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 16}.AppendFilter(nil, keysOf(n)) // 11 probes
		if blocks, ok := FilterBlock(data); ok || data[len(data)-1] != 11 {
			t.Errorf("a filter of %d keys is a block of %d filters", n, blocks)
		}
	}
	for range 200_000 {
		data := filterBlock(3, 3)
		for range 1 + rand.IntN(3) {
			data[rand.IntN(len(data))] = byte(rand.Uint32())
		}
		n, ok := FilterBlock(data)
		if ok && (n < 0 || n > len(data)/4) {
			t.Fatalf("%x is a block of %d filters", data, n)
		}
	}
	if n, ok := FilterBlock(binary.LittleEndian.AppendUint32(nil, math.MaxUint32)); ok {
		t.Errorf("%d filters in four bytes", n)
	}
}
