package neighbours

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/lanebloom/bloom"
)

// warningOf returns the warning of a filter of 10 bits per key.
func warningOf(t *testing.T, own *Keys, keys bloom.Keys) string {
	t.Helper()
	policy := bloom.Policy{Format: own.Format, BitsPerKey: 10}
	own.Add(keys.Slice(0, keys.Len()/3))
	var rest [][]byte
	for row := keys.Len() / 3; row < keys.Len(); row++ {
		key, _ := keys.AppendKey(nil, row)
		rest = append(rest, key)
	}
	own.AddSlices(rest)
	return own.Warning(policy.NewFilter(keys), policy.FalsePositiveRate(keys.Len()))
}

// TestWarning wants the rates and the cause for keys of several shapes, from a dozen on.
func TestWarning(t *testing.T) {
	number := `[0-9.]+ %`
	begin := "^" + number + " of absent keys with numbers "
	end := "; if no storage engine reads the filter, take --format rocksdb$"
	similar := " alone" + end
	equal := "gives " + number + " the hash of a key, and a larger filter does not help" + end
	for _, c := range []struct {
		format bloom.Format
		n, by  int
		key    func(i int) []byte
		want   string // "": no warning
	}{
		{bloom.Pebble, 12, 3, text("%08d"), begin + "between those of the keys pass, and " + number + " with numbers after them, where 0.0[0-9]+ % are expected: the format pebble gives neighbours hashes that differ in two bytes" + similar},
		{bloom.Pebble, 50, 2, bigEndian, begin + "between.* pebble .* differ in two bytes" + similar},
		{bloom.LevelDB, 50, 2, bigEndian, begin + "between.* leveldb .* differ in two bytes" + similar},
		{bloom.LevelDB, 50_000, 1, text("order-2026-%09d-EU"), begin + "after those of the keys pass, where .* leveldb " + equal},
		{bloom.LevelDB, 100_000, 3, text("order-2026-%09d-EU"), begin + "between.* leveldb " + equal},
		{bloom.Pebble, 100_000, 3, text("order-2026-%09d-EU"), begin + "between.* pebble " + equal},
		{bloom.LevelDB, 50, 2, littleEndian, ""},
		{bloom.LevelDB, 5_000, 2, text("order-2026-%09d-EU"), ""},
		{bloom.RocksDB, 50, 2, bigEndian, ""},
		{bloom.RocksDB, 100_000, 3, text("order-2026-%09d-EU"), ""},
		{bloom.Pebble, 11, 3, text("%08d"), ""},
		{bloom.Pebble, 1, 1, bigEndian, ""},
		{bloom.Pebble, 0, 1, bigEndian, ""},
		{bloom.Pebble, 1000, 0, text("word"), ""},
	} {
		var keys [][]byte
		for i := range c.n {
			keys = append(keys, c.key(i*c.by))
		}
		got := warningOf(t, &Keys{Format: c.format}, bloom.Bytes(keys))
		if c.want == "" && got != "" || c.want != "" && !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%v, %d keys such as %q: %q, want %q", c.format, c.n, c.key(c.by), got, c.want)
		}
	}
}

// TestPercent wants no exponents.
func TestPercent(t *testing.T) {
	for rate, want := range map[float64]string{0: "0 %", 0.0012345: "0.12 %", 0.0123: "1.2 %", 0.0994: "9.9 %", 0.0996: "10 %", 0.49: "49 %", 0.997: "100 %", 1: "100 %"} {
		if got := percent(rate); got != want {
			t.Errorf("percent(%v) = %q, want %q", rate, got, want)
		}
	}
}

func text(format string) func(int) []byte {
	return func(i int) []byte { return fmt.Appendf(nil, format, i) }
}

func bigEndian(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

func littleEndian(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)) }

// TestNoWarning wants none for random keys, however few: their neighbours are as random as they are.
func TestNoWarning(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		keys := make([]uint64, 12+random.IntN(2000))
		if i%2 == 0 {
			keys = keys[:1+i/2%11]
		}
		for i := range keys {
			keys[i] = random.Uint64()
		}
		for _, format := range []bloom.Format{bloom.LevelDB, bloom.Pebble} {
			if got := warningOf(t, &Keys{Format: format}, bloom.Integers(keys)); got != "" {
				t.Errorf("%v, %d random keys: %s", format, len(keys), got)
			}
		}
	}
}

// TestMost wants no keys in memory if they take more than they may, or if their format needs none.
func TestMost(t *testing.T) {
	var keys [][]byte
	for i := range 50 {
		keys = append(keys, bigEndian(2*i))
	}
	const offset = 4
	took := len(keys)*(8+offset) + offset
	for most, warns := range map[int]bool{took: true, took - 1: false} {
		own := &Keys{Format: bloom.Pebble, Most: most}
		if got := warningOf(t, own, bloom.Bytes(keys)); (got != "") != warns {
			t.Errorf("with %d bytes: %q", most, got)
		}
		if own.data != nil || own.offsets != nil {
			t.Errorf("with %d bytes, keys are kept", most)
		}
	}
	own := &Keys{Format: bloom.RocksDB}
	if own.Add(bloom.Bytes(keys)); own.data != nil {
		t.Error("keys of RocksDB are kept")
	}
}
