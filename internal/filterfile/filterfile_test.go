package filterfile

import (
	"errors"
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
			data := bloom.Policy{BitsPerKey: bitsPerKey}.AppendFilter(nil, bloom.Strings(keys))
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
		"compressed (gzip)":                                 "\x1f\x8b\x08\x00\x00\x00",
		"like text, not like a filter":                      "apple\npear\n",
		"like a Parquet file, not like a filter":            "PAR1\x15\x04",
		"like a program (ELF), not like a filter":           "\x7fELF\x02\x01\x01\x00",
		"like a program (WebAssembly), not like a filter":   "\x00asm\x01\x00\x00\x00",
		"like a database of SQLite, not like a filter":      "SQLite format 3\x00\x10",
		"like a PNG picture, not like a filter":             "\x89PNG\r\n\x1a\n",
		"like a table of LevelDB, not like a filter of one": "\x00\x01\x02\x57\xfb\x80\x8b\x24\x75\x47\xdb",
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
