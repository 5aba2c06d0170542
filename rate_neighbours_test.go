package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/neighbours"
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

// TestMeasureNeighbours adds half of the numbers, and compares the rate with that of the other half.
func TestMeasureNeighbours(t *testing.T) {
	is(t, portable)
	sizes := []int{12, 50, 1000, 20_000}
	if testing.Short() {
		sizes = sizes[:3]
	}
	eachFormat(t, func(t *testing.T, f Format) {
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
				filter := Policy{Format: f, BitsPerKey: 10}.NewFilter(Bytes(keys))
				between, after := filter.MeasureNeighbours(Bytes(keys))
				want := filter.MeasureRate(Bytes(absent))
				// Allowed are a tenth of a point, the effect of the ends of the range, and that of a sample.
				off := 0.001 + 4*math.Sqrt(want/float64(n)) + 3/float64(n) + 0.1*want
				if between.Asked < n/2 || after.Asked < n/2 {
					t.Errorf("%s, %d keys: asked for %d and %d neighbours", kind.name, n, between.Asked, after.Asked)
				} else if math.Abs(between.Rate()-want) > off {
					t.Errorf("%s, %d keys: %.4f of the neighbours between pass, but %.4f of the other half", kind.name, n, between.Rate(), want)
				}
			}
		}
	})
}

// TestNeighboursOneByOne has few enough keys for a list of all neighbours.
func TestNeighboursOneByOne(t *testing.T) {
	is(t, portable)
	eachFormat(t, func(t *testing.T, f Format) {
		for _, step := range []int{2, 7} {
			var keys, between, after [][]byte
			hashes := make(map[Hash]bool)
			for i := range 1000 {
				key := binary.BigEndian.AppendUint64(nil, uint64(5+i))
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
				after = append(after, binary.BigEndian.AppendUint64(nil, uint64(5+last+1+i)))
			}
			filter := Policy{Format: f, BitsPerKey: 6}.NewFilter(Bytes(keys))
			count := func(neighbours [][]byte) (n Neighbours) {
				for _, key := range neighbours {
					n.Asked++
					if Reference(f, filter.data, key) {
						n.Passed++
						if hashes[f.Hash(key)] {
							n.EqualHash++
						}
					}
				}
				return n
			}
			gotBetween, gotAfter := filter.MeasureNeighbours(Bytes(keys))
			if want := count(between); gotBetween != want {
				t.Errorf("step %d: %+v between, want %+v", step, gotBetween, want)
			}
			if want := count(after); gotAfter != want {
				t.Errorf("step %d: %+v after, want %+v", step, gotAfter, want)
			}
		}
	})
}

// TestNeighboursOfEqualHashes has keys whose numbers collide, and finds the hashes that pass for that.
func TestNeighboursOfEqualHashes(t *testing.T) {
	is(t, portable)
	var keys []string
	for i := range 200_000 {
		keys = append(keys, fmt.Sprintf("order-2026-%09d-EU", 2*i))
	}
	for _, f := range []Format{LevelDB, Pebble, RocksDB} {
		filter := Policy{Format: f, BitsPerKey: 32}.NewFilter(Strings(keys))
		between, _ := filter.MeasureNeighbours(Strings(keys))
		if f == RocksDB {
			if between.EqualHash != 0 || between.Rate() > 0.0001 {
				t.Errorf("%v: %+v", f, between)
			}
		} else if between.Rate() < 0.01 || between.EqualHash < between.Passed*9/10 {
			t.Errorf("%v at 32 bits per key: %+v, want more than 1 %% with equal hashes", f, between)
		}
	}
}

// TestNeighboursOfLayouts wants one answer for one column, whatever its layout and its null rows.
func TestNeighboursOfLayouts(t *testing.T) {
	is(t, portable)
	var rows [][]byte
	var data, nulls []byte
	var texts []string
	var words []uint64
	offsets := []int32{0}
	for i := range uint64(70_000) {
		word := 1000 + 3*i
		key := binary.LittleEndian.AppendUint64(nil, word)
		rows, data, words, texts = append(rows, key), append(data, key...), append(words, word), append(texts, string(key))
		offsets = append(offsets, int32(len(data)))
	}
	wide := must(t)(Offsets(data, offsets))
	filter := Policy{Format: Pebble, BitsPerKey: 8}.NewFilter(wide)
	between, after := filter.MeasureNeighbours(wide)
	if between.Asked < neighbours.Most/4 || after.Asked < neighbours.Most/3 {
		t.Errorf("asked for %d and %d neighbours", between.Asked, after.Asked)
	}
	for name, column := range map[string]Keys{
		"byte slices": Bytes(rows), "strings": Strings(texts), "integers": Integers(words), "fixed width": must(t)(FixedWidth(data, 8)),
	} {
		if b, a := filter.MeasureNeighbours(column); b != between || a != after {
			t.Errorf("%s: %+v and %+v, want %+v and %+v", name, b, a, between, after)
		}
	}
	// Null rows are no keys: their numbers are neighbours.
	nulls = slices.Repeat([]byte{0x55}, (len(rows)+7)/8)
	some := must(t)(must(t)(FixedWidth(data[:8*1000], 8)).WithValidity(nulls, 0))
	filter = Policy{Format: RocksDB, BitsPerKey: 30}.NewFilter(some)
	if b, _ := filter.MeasureNeighbours(some); b.Asked != 998*3+1-500 || b.Passed > 5 {
		t.Errorf("with null rows: %+v", b)
	}
}

// TestNeighboursOfOddColumns has columns of which little or nothing can be told.
func TestNeighboursOfOddColumns(t *testing.T) {
	is(t, portable)
	long := strings.Repeat("x", neighbours.Longest)
	signed, full := make([]int16, 0), make([]uint8, 256)
	for i := range 100 {
		signed = append(signed, int16(4*i-200))
	}
	for i := range full {
		full[i] = uint8(i)
	}
	dense := make([]uint64, 1000)
	for i := range dense {
		dense[i] = uint64(i)
	}
	for _, c := range []struct {
		name           string
		keys           Keys
		between, after int
	}{
		{"none", Keys{}, 0, 0},
		{"one", Strings([]string{"key-7"}), 0, 0},
		{"one, many times", Strings([]string{"key-7", "key-7", "key-7"}), 0, 0},
		{"empty keys", Strings([]string{"", ""}), 0, 0},
		{"words", Strings([]string{"pears", "zooms", "views"}), 0, 0},
		{"two numbers", Strings([]string{"key-3", "key-7"}), 3, 2},
		{"no room after", Strings([]string{"key-3", "key-9"}), 5, 0},
		{"two lengths", Strings([]string{"key-9", "key-10", "key-12"}), 1, 3},
		{"upper and lower case", Strings([]string{"x-1a", "x-1e"}), 3, 5},
		{"longest", Strings([]string{long[1:] + "0", long[1:] + "2"}), 1, 3},
		{"too long", Strings([]string{long + "0", long + "2"}), 0, 0},
		{"negative", Integers(signed), 3 * 99, 397},
		{"all bytes", Integers(full), 0, 0},
		{"no gap", Integers(dense), 0, 1000},
		{"half of 64 bits", Integers([]uint64{0, 3 << 60, 1 << 63}), neighbours.Most, neighbours.Most},
		{"ends of 64 bits", Integers([]int64{0, -1, math.MinInt64, math.MaxInt64}), neighbours.Most, 0},
		{"hashes", Integers(dense).Hashed(LevelDB), 0, 0},
		{"nulls", must(t)(Integers(dense).WithValidity(make([]byte, 125), 0)), 0, 0},
	} {
		filter := Policy{Format: LevelDB, BitsPerKey: 10}.NewFilter(c.keys)
		if between, after := filter.MeasureNeighbours(c.keys); between.Asked != c.between || after.Asked != c.after {
			t.Errorf("%s: asked for %d and %d neighbours, want %d and %d", c.name, between.Asked, after.Asked, c.between, c.after)
		}
	}
	if between, after := new(Filter).MeasureNeighbours(Integers(dense)); between.Passed != 0 || after.Passed != 0 {
		t.Errorf("the zero Filter passes %+v and %+v", between, after)
	}
	if m := panicOf(func() { mustOpen(t, RocksDB, nil).MeasureNeighbours(Integers(dense).Hashed(LevelDB)) }); m == "" {
		t.Error("no panic for the hashes of another format")
	}
}

// TestNeighboursMemory wants the memory that the comment says, for the longest keys and for many.
func TestNeighboursMemory(t *testing.T) {
	is(t, portable)
	var long []string
	for i := range 10_000 {
		long = append(long, fmt.Sprintf("%01024d", 1000*i))
	}
	many := make([]uint64, 1<<20)
	for i := range many {
		many[i] = uint64(i) * 1001
	}
	giant := []string{"key-1", "key-3", strings.Repeat("x", 48<<20)}
	for name, keys := range map[string]Keys{"long": Strings(long), "many": Integers(many), "one of 48 MiB": Strings(giant)} {
		filter := Policy{Format: LevelDB, BitsPerKey: 10}.NewFilter(keys)
		if got := allocated(func() { filter.MeasureNeighbours(keys) }); got > 32<<20 {
			t.Errorf("%s: allocated %d bytes", name, got)
		}
	}
}
