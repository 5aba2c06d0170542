package filterfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestLevelDBFilters wants no refusal and no warning for filters that LevelDB writes. None of these
// looks like text; a few others of a dozen keys or fewer do.
func TestLevelDBFilters(t *testing.T) {
	for _, n := range []int{0, 1, 7, 24, 100, 5000} {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = strconv.Itoa(i)
		}
		for bitsPerKey := 1; bitsPerKey <= 60; bitsPerKey++ {
			data := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bitsPerKey}.AppendFilter(nil, bloom.Strings(keys))
			o, err := Recognise(bloom.LevelDB, data)
			if err != nil || o.doubt() != "" {
				t.Errorf("%d keys of %d bits: %v %s", n, bitsPerKey, err, o.doubt())
			}
		}
	}
}

// TestOtherKinds wants files of other kinds to be called what they are, in formats to which any bytes
// are a filter.
func TestOtherKinds(t *testing.T) {
	for words, file := range map[string]string{
		"compressed (gzip)":                                       "\x1f\x8b\x08\x00\x00\x00",
		"like text, not like a filter":                            "apple\npear\n",
		"like a Parquet file, not like a filter":                  "PAR1\x15\x04",
		"like a program (ELF), not like a filter":                 "\x7fELF\x02\x01\x01\x00",
		"like a program (WebAssembly), not like a filter":         "\x00asm\x01\x00\x00\x00",
		"like a SQLite database, not like a filter":               "SQLite format 3\x00\x10",
		"like a PNG picture, not like a filter":                   "\x89PNG\r\n\x1a\n",
		"like a table of LevelDB, not like a filter from a table": "\x00\x01\x02\x57\xfb\x80\x8b\x24\x75\x47\xdb",
		"like a table of RocksDB, not like a filter from a table": "\x00\x01\x02\xf7\xcf\xf4\x85\xb7\x41\xe2\x88",
		"like a table of Pebble, not like a filter from a table":  "\x00\x01\x02🪳🪳",
		"like interleaved filters, not like a filter":             "\x89BLI\r\n\x1a\n\x01\x00\x00\x00",
		"like a window of filters, not like a filter":             "\x89BLW\r\n\x1a\n\x01\x00\x00\x00",
		"like a Redis dump, not like a filter":                    "REDIS0011\xfa",
		"like a serialized Java object, not like a filter":        "\xac\xed\x00\x05sr\x00\x2ecom.google.common.hash.BloomFilter",
		"empty: a file of 0 bytes is not a filter":                "",
	} {
		_, err := Recognise(bloom.LevelDB, []byte(file))
		if strange := (*StrangeError)(nil); !errors.As(err, &strange) || strange.Looks != words {
			t.Errorf("%q: %v, want %q", file, err, words)
		}
		if _, err := OpenBare(bloom.LevelDB, []byte(file)); err != nil {
			t.Errorf("%q is no filter to who insists: %v", file, err)
		}
	}
}

// TestDamagedFiles wants each changed byte of a file to be an error, in every format: the bytes behind the header are a bare
// filter, which may say its format.
func TestDamagedFiles(t *testing.T) {
	for _, format := range bloom.Formats() {
		builder := bloom.Policy{Format: format, BitsPerKey: 10}.NewBuilder()
		builder.AddBatch(keysOf(20))
		file, err := builder.Filter().MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for i := range file {
			for _, change := range []byte{0x01, 0x80, 0xff, file[i]} {
				damaged := bytes.Clone(file)
				damaged[i] ^= change
				if f, err := (Options{}).Open("file", damaged); err == nil && change != 0 {
					t.Errorf("%v: byte %d is %#x: opened as %v", format, i, damaged[i], f.Written())
				}
			}
		}
	}
}

// TestGuava wants the filters of Guava's BloomFilter to be called by that name in every other format, and bytes that are
// nearly one not to be.
func TestGuava(t *testing.T) {
	const helloWorld = "\x01\x07\x00\x00\x00\x01\x80\x10\x04\x50\x49\x04\x30\x44"
	for name, c := range map[string]struct {
		data         string
		looks, reads bool
	}{
		"hello and world":  {helloWorld, true, true},
		"MITZ_32":          {"\x00" + helloWorld[1:], true, false},
		"another strategy": {"\x02" + helloWorld[1:], false, false},
		"no probes":        {"\x01\x00" + helloWorld[2:], false, false},
		"a byte more":      {helloWorld + "\x06", false, true},
		"a byte less":      {helloWorld[:13], false, false},
		"the header alone": {helloWorld[:6], false, false},
		"no words":         {"\x01\x07\x00\x00\x00\x00", false, false},
	} {
		for _, f := range bloom.Formats() {
			_, err := Recognise(f, []byte(c.data))
			strange := (*StrangeError)(nil)
			looks := errors.As(err, &strange) && strange.Looks == "like a filter of Guava's BloomFilter, not of "+f.String()
			if looks != (c.looks && f != bloom.Guava) || f == bloom.Guava && (err == nil) != c.reads {
				t.Errorf("%s, as %v: %v", name, f, err)
			}
		}
	}
}

// TestBitsAndBlooms wants the filters of github.com/bits-and-blooms/bloom to be called by that name in
// every format, and bytes that are nearly one not to be.
func TestBitsAndBlooms(t *testing.T) {
	filter := func(bits, probes, stored uint64, size int) []byte {
		data := make([]byte, 24, 24+size)
		for i, n := range []uint64{bits, probes, stored} {
			binary.BigEndian.PutUint64(data[8*i:], n)
		}
		return append(data, make([]byte, size)...)
	}
	helloWorld := []byte("\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x40\xc4\x20\x14\x24\x00\x00\x04\x14")
	for name, c := range map[string]struct {
		data []byte
		is   bool
	}{
		"hello and world, m 64, k 6":     {helloWorld, true},
		"a last word that is not full":   {filter(95_851, 7, 95_851, 8*1498), true},
		"one bit":                        {filter(1, 1, 1, 8), true},
		"FromWithM of more bits":         {filter(100, 3, 64, 8), true},
		"FromWithM of fewer":             {filter(10, 3, 128, 16), true},
		"a byte more":                    {append(bytes.Clone(helloWorld), 6), false},
		"a word less":                    {filter(95_851, 7, 95_851, 8*1497), false},
		"no probes":                      {filter(64, 0, 64, 8), false},
		"more probes than any rate asks": {filter(64, 2000, 64, 8), false},
		"no bits":                        {filter(0, 6, 0, 0), false},
		"other bits, and no whole words": {filter(95_851, 7, 95_850, 8*1498), false},
		"bits that wrap around":          {filter(math.MaxUint64, 7, math.MaxUint64, 0), false},
		"the header alone":               {helloWorld[:24], false},
		"half a header":                  {helloWorld[:12], false},
	} {
		for _, f := range bloom.Formats() {
			_, err := Recognise(f, c.data)
			strange := (*StrangeError)(nil)
			is := errors.As(err, &strange) && strange.Looks == "like a filter of github.com/bits-and-blooms/bloom, not of "+f.String()
			if is != (c.is && f != bloom.BitsAndBlooms) || c.is && f == bloom.BitsAndBlooms && err != nil {
				t.Errorf("%s, as %v: %v", name, f, err)
			}
		}
	}
}
