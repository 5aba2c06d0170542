package neighbours

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// numbered are keys with a number, as programs write them.
var numbered = []struct {
	name string
	key  func(i int) []byte
}{
	{"big-endian", func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }},
	{"little-endian", func(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)) }},
	{"big-endian after a table", func(i int) []byte { return binary.BigEndian.AppendUint32([]byte("t\x00\x01"), uint32(i)) }},
	{"%08d", func(i int) []byte { return fmt.Appendf(nil, "%08d", i) }},
	{"%016x", func(i int) []byte { return fmt.Appendf(nil, "%016x", i) }},
	{"%010X", func(i int) []byte { return fmt.Appendf(nil, "%010X", i) }},
	{"user-%08d", func(i int) []byte { return fmt.Appendf(nil, "user-%08d", i) }},
	{"order-2026-%09d-EU", func(i int) []byte { return fmt.Appendf(nil, "order-2026-%09d-EU", i) }},
	{"tenant-%02d/%07d", func(i int) []byte { return fmt.Appendf(nil, "tenant-%02d/%07d", i%32, i/32) }},
}

// columnOf returns a column of keys.
func columnOf(keys ...[]byte) column {
	c := column{offsets: []int32{0}}
	for _, key := range keys {
		c.data = append(c.data, key...)
		c.offsets = append(c.offsets, int32(len(c.data)))
	}
	return c
}

// texts is columnOf for text.
func texts(keys ...string) column {
	var all [][]byte
	for _, key := range keys {
		all = append(all, []byte(key))
	}
	return columnOf(all...)
}

// littleEndians is columnOf for integers of 8 bytes.
func littleEndians(keys ...uint64) column {
	var all [][]byte
	for _, key := range keys {
		all = append(all, binary.LittleEndian.AppendUint64(nil, key))
	}
	return columnOf(all...)
}

// filterOf returns the filter of a column.
func filterOf(format bloom.Format, bitsPerKey int, c column) *bloom.Filter {
	return bloom.Policy{Format: format, BitsPerKey: bitsPerKey}.NewFilter(must(bloom.Offsets(c.data, c.offsets)))
}

func eachFormat(t *testing.T, run func(t *testing.T, f bloom.Format)) {
	for _, f := range bloom.Formats() {
		t.Run(f.String(), func(t *testing.T) { run(t, f) })
	}
}

// TestMeasure adds half of the numbers, and compares the rate with that of the other half.
func TestMeasure(t *testing.T) {
	sizes := []int{12, 50, 1000, 20_000}
	if testing.Short() {
		sizes = sizes[:3]
	}
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		for _, kind := range numbered {
			for _, n := range sizes {
				var keys, absent [][]byte
				for i, number := range rand.New(rand.NewPCG(7, uint64(n))).Perm(2 * n) {
					if key := kind.key(number); i < n {
						keys = append(keys, key)
					} else {
						absent = append(absent, key)
					}
				}
				column := columnOf(keys...)
				filter := filterOf(f, 10, column)
				between, after := measure(filter, column)
				hits := filter.MayContainBatch(bloom.Bytes(absent), make([]uint64, (n+63)/64))
				want := float64(hits) / float64(n)
				// Allowed are a tenth of a point, the effect of the ends of the range, and that of a sample.
				off := 0.001 + 4*math.Sqrt(want/float64(n)) + 3/float64(n) + 0.1*want
				if between.asked < n/2 || after.asked < n/2 {
					t.Errorf("%s, %d keys: asked for %d and %d neighbours", kind.name, n, between.asked, after.asked)
				} else if math.Abs(between.rate()-want) > off {
					t.Errorf("%s, %d keys: %.4f of the neighbours between pass, but %.4f of the other half", kind.name, n, between.rate(), want)
				}
			}
		}
	})
}

// TestOneByOne has few enough keys for a list of all neighbours.
func TestOneByOne(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		for _, step := range []int{2, 7} {
			var keys, between, after [][]byte
			hashes := make(map[bloom.Hash]bool)
			for i := range 1000 {
				key := bigEndian(5 + i)
				if i%step != 0 {
					between = append(between, key)
					continue
				}
				keys = append(keys, key)
				hashes[f.Hash(key)] = true
			}
			last := 999 / step * step // of the keys, less 5
			between = slices.DeleteFunc(between, func(key []byte) bool { return binary.BigEndian.Uint64(key) > uint64(5+last) })
			for i := range last + 1 {
				after = append(after, bigEndian(5+last+1+i))
			}
			filter := filterOf(f, 6, columnOf(keys...))
			count := func(neighbours [][]byte) (n counts) {
				for _, key := range neighbours {
					n.asked++
					if bloom.Reference(f, filter.Bytes(), key) {
						n.passed++
						if hashes[f.Hash(key)] {
							n.equalHash++
						}
					}
				}
				return n
			}
			gotBetween, gotAfter := measure(filter, columnOf(keys...))
			if want := count(between); gotBetween != want {
				t.Errorf("step %d: %+v between, want %+v", step, gotBetween, want)
			}
			if want := count(after); gotAfter != want {
				t.Errorf("step %d: %+v after, want %+v", step, gotAfter, want)
			}
		}
	})
}

// TestEqualHashes has keys whose numbers collide, and finds the hashes that pass for that.
func TestEqualHashes(t *testing.T) {
	var keys []string
	for i := range 200_000 {
		keys = append(keys, fmt.Sprintf("order-2026-%09d-EU", 2*i))
	}
	column := texts(keys...)
	for _, f := range []bloom.Format{bloom.LevelDB, bloom.Pebble, bloom.RocksDB} {
		between, _ := measure(filterOf(f, 32, column), column)
		if f == bloom.RocksDB {
			if between.equalHash != 0 || between.rate() > 0.0001 {
				t.Errorf("%v: %+v", f, between)
			}
		} else if between.rate() < 0.01 || between.equalHash < between.passed*9/10 {
			t.Errorf("%v at 32 bits per key: %+v, want more than 1 %% with equal hashes", f, between)
		}
	}
}

// TestOddColumns has columns of which little or nothing can be told.
func TestOddColumns(t *testing.T) {
	long := strings.Repeat("x", longest)
	var signed, dense []uint64
	for i := range 100 {
		signed = append(signed, uint64(4*i-200))
	}
	for i := range uint64(1000) {
		dense = append(dense, i)
	}
	full := columnOf()
	for i := range 256 {
		full.data, full.offsets = append(full.data, byte(i)), append(full.offsets, int32(i+1))
	}
	for _, c := range []struct {
		name           string
		keys           column
		between, after int
	}{
		{"none", column{}, 0, 0},
		{"one", texts("key-7"), 0, 0},
		{"one, many times", texts("key-7", "key-7", "key-7"), 0, 0},
		{"empty keys", texts("", ""), 0, 0},
		{"words", texts("pears", "zooms", "views"), 0, 0},
		{"two numbers", texts("key-3", "key-7"), 3, 2},
		{"no room after", texts("key-3", "key-9"), 5, 0},
		{"two lengths", texts("key-9", "key-10", "key-12"), 1, 3},
		{"upper and lower case", texts("x-1a", "x-1e"), 3, 5},
		{"longest", texts(long[1:]+"0", long[1:]+"2"), 1, 3},
		{"too long", texts(long+"0", long+"2"), 0, 0},
		{"negative", littleEndians(signed...), 3 * 99, 397},
		{"all bytes", full, 0, 0},
		{"no gap", littleEndians(dense...), 0, 1000},
		{"half of 64 bits", littleEndians(0, 0x30f1e2d3c4b5a697, 0x8f11223344556677), mostNeighbours, mostNeighbours},
		{"ends of 64 bits", littleEndians(0, 1, 2, 3, 4, math.MaxUint64, 1<<63, math.MaxInt64), mostNeighbours, 0},
	} {
		filter := new(bloom.Filter)
		if c.keys.len() > 0 {
			filter = filterOf(bloom.LevelDB, 10, c.keys)
		}
		if between, after := measure(filter, c.keys); between.asked != c.between || after.asked != c.after {
			t.Errorf("%s: asked for %d and %d neighbours, want %d and %d", c.name, between.asked, after.asked, c.between, c.after)
		}
	}
	if between, after := measure(new(bloom.Filter), littleEndians(dense...)); between.passed != 0 || after.passed != 0 {
		t.Errorf("the zero Filter passes %+v and %+v", between, after)
	}
}

// TestMemory wants less than 64 MiB, for the longest keys and for many.
func TestMemory(t *testing.T) {
	var long []string
	for i := range 10_000 {
		long = append(long, fmt.Sprintf("%01024d", 1000*i))
	}
	many := make([]uint64, 1<<20)
	for i := range many {
		many[i] = uint64(i) * 1001
	}
	for name, keys := range map[string]column{"long": texts(long...), "many": littleEndians(many...), "one of 48 MiB": texts("key-1", "key-3", strings.Repeat("x", 48<<20))} {
		filter := filterOf(bloom.LevelDB, 10, keys)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		measure(filter, keys)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
			t.Errorf("%s: allocated %d bytes", name, got)
		}
	}
}
