package filterfile

import (
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
