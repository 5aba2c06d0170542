package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// shape is keys as programs have them: key i is appended to b.
type shape struct {
	name string
	key  func(b []byte, i int) []byte
	even bool // only those of even numbers are added
}

var shapes = []shape{
	{name: "UUIDs", key: uuid},
	{name: "integers, little-endian", key: func(b []byte, i int) []byte { return binary.LittleEndian.AppendUint64(b, uint64(i)) }},
	{name: "integers, big-endian", key: bigEndian},
	{name: "even integers, big-endian", key: bigEndian, even: true},
	printed("%08d"),
	printed("user%08d"),
	printed("user-%08d"),
	printed("key%06d"),
	printed("%016x"),
	printed("order-2026-%09d-EU"),
	printed("https://example.com/items/%d?ref=mail"),
}

func shapeOf(name string) shape {
	return shapes[slices.IndexFunc(shapes, func(s shape) bool { return s.name == name })]
}

func printed(format string) shape {
	return shape{name: "`" + format + "`", key: func(b []byte, i int) []byte { return fmt.Appendf(b, format, i) }}
}

func bigEndian(b []byte, i int) []byte { return binary.BigEndian.AppendUint64(b, uint64(i)) }

func uuid(b []byte, i int) []byte {
	random := rand.NewPCG(uint64(i), 2)
	x, y := random.Uint64(), random.Uint64()
	return fmt.Appendf(b, "%08x-%04x-4%03x-%04x-%012x", x>>32, x>>16&0xffff, x&0xfff, 0x8000|y>>48&0x3fff, y&(1<<48-1))
}

// between returns the keys of 2n numbers, from first on: n of the keys are for a filter, and n lie between
// them and are absent.
func (s shape) between(first, n int) (added, absent bloom.Keys) {
	numbers := rand.New(rand.NewPCG(3, uint64(first))).Perm(2 * n)
	if s.even {
		for i := range n {
			numbers[i], numbers[n+i] = 2*i, 2*i+1
		}
	}
	return s.halves(func(i int) int { return first + numbers[i] }, n)
}

// after returns n keys for a filter, and the n keys that follow them and are absent.
func (s shape) after(first, n int) (added, absent bloom.Keys) {
	if s.even {
		return s.halves(func(i int) int { return 2 * (first + i) }, n)
	}
	return s.halves(func(i int) int { return first + i }, n)
}

func (s shape) halves(number func(i int) int, n int) (first, second bloom.Keys) {
	keys := column(s.key, number, 2*n)
	return keys.Slice(0, n), keys.Slice(n, 2*n)
}

// column returns the keys of n numbers.
func column(key func(b []byte, i int) []byte, number func(i int) int, n int) bloom.Keys {
	var data []byte
	offsets := make([]int64, 1, n+1)
	for i := range n {
		data = key(data, number(i))
		offsets = append(offsets, int64(len(data)))
	}
	keys, err := bloom.Offsets(data, offsets)
	if err != nil {
		panic(err) // the offsets are ours
	}
	return keys
}

// share returns the share, 0 to 1, of absent keys that pass a filter.
func share(f *bloom.Filter, absent bloom.Keys) float64 {
	return float64(f.MayContainBatch(absent, make([]uint64, (absent.Len()+63)/64))) / float64(absent.Len())
}

// rates are the shares of absent keys that pass.
type rates struct{ between, after float64 }

// rates returns the rates of filters of n keys, by format: means over the ranges of the numbers from 0 on.
func (s shape) rates(formats []bloom.Format, n, bitsPerKey int) map[bloom.Format]rates {
	means := map[bloom.Format]rates{}
	ranges := max(1, 100_000/n)
	for r := range ranges {
		added, absent := s.between(2*n*r, n)
		lower, upper := s.after(2*n*r, n)
		for _, f := range formats {
			p, mean := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}, means[f]
			mean.between += share(p.NewFilter(added), absent) / float64(ranges)
			mean.after += share(p.NewFilter(lower), upper) / float64(ranges)
			means[f] = mean
		}
	}
	return means
}

// keys prints the rates of keys of every shape at 10 bits per key: a table for each format whose hash has 32
// bits, and one for the others. A last one has more bits per key.
func keys(w io.Writer) error {
	numbers := []int{40, 200, 1000, 20_000, 50_000, 1_000_000}
	narrow, wide := []bloom.Format{bloom.LevelDB, bloom.Pebble}, []bloom.Format{bloom.RocksDB, bloom.Parquet, bloom.Nori}
	measured := make([][]map[bloom.Format]rates, len(numbers)) // by number and shape
	for i, n := range numbers {
		for _, s := range shapes {
			measured[i] = append(measured[i], s.rates(slices.Concat(narrow, wide), n, 10))
		}
	}
	tableOf := func(head string, rows func(t *race.Table)) {
		heads := []string{head}
		for _, n := range numbers {
			heads = append(heads, race.Thousands(n))
		}
		t := race.NewTable(heads...)
		rows(t)
		fmt.Fprintln(w, t)
	}
	for _, f := range narrow {
		tableOf("`"+f.String()+"`, number of keys:", func(t *race.Table) {
			for i, s := range shapes {
				row := []string{s.name}
				for _, ofShapes := range measured {
					row = append(row, percent(ofShapes[i][f].between)+"; "+percent(ofShapes[i][f].after))
				}
				t.Row(row...)
			}
		})
	}
	tableOf("all these keys", func(t *race.Table) {
		for _, f := range wide {
			row := []string{"`" + f.String() + "`"}
			for _, ofShapes := range measured {
				row = append(row, spread(ofShapes, f))
			}
			t.Row(row...)
		}
	})
	moreBits(w)
	return nil
}

// spread writes the lowest and the highest rate of a format.
func spread(ofShapes []map[bloom.Format]rates, f bloom.Format) string {
	low, high := 1.0, 0.0
	for _, r := range ofShapes {
		low, high = min(low, r[f].between, r[f].after), max(high, r[f].between, r[f].after)
	}
	if percent(low) == percent(high) {
		return percent(low)
	}
	return percent(low) + "–" + percent(high)
}

// percent writes a share in percent, without a sign: from 10 to 99 % without decimals, else with one.
func percent(share float64) string {
	if share >= 0.0995 && share < 0.985 {
		return fmt.Sprintf("%.0f", 100*share)
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// moreBits prints what more bits per key change: the rates of absent keys between the others, and the share of
// them that have the hash of a key.
func moreBits(w io.Writer) {
	t := race.NewTable("format", "<keys", "number", "10 bits per key", "20 bits per key", "40 bits per key", "have the hash of a key")
	for _, row := range []struct {
		format bloom.Format
		shape  string
		n      int
	}{
		{bloom.LevelDB, "integers, big-endian", 200},
		{bloom.Pebble, "integers, big-endian", 1000},
		{bloom.Pebble, "`%016x`", 20_000},
		{bloom.LevelDB, "`%08d`", 100_000},
		{bloom.Pebble, "`order-2026-%09d-EU`", 100_000},
	} {
		s := shapeOf(row.shape)
		cells := []string{"`" + row.format.String() + "`", s.name, race.Thousands(row.n)}
		for _, b := range []int{10, 20, 40} {
			cells = append(cells, percent(s.rates([]bloom.Format{row.format}, row.n, b)[row.format].between))
		}
		added, absent := s.between(0, row.n)
		t.Row(append(cells, percent(equalHashes(row.format, added, absent)))...)
	}
	fmt.Fprint(w, t)
}

// equalHashes returns the share of absent keys that have the hash of an added one.
func equalHashes(f bloom.Format, added, absent bloom.Keys) float64 {
	known, equal := map[bloom.Hash]bool{}, 0
	for i := range added.Len() {
		key, _ := added.AppendKey(nil, i)
		known[f.Hash(key)] = true
	}
	for i := range absent.Len() {
		if key, _ := absent.AppendKey(nil, i); known[f.Hash(key)] {
			equal++
		}
	}
	return float64(equal) / float64(absent.Len())
}

// collisions finds the pairs of keys among user-00000000 to user-01999999 that have equal
// hashes, and counts by how much each of their digits differs.
func collisions(w io.Writer) error {
	const n = 2_000_000
	byHash := map[bloom.Hash][]int{}
	for i := range n {
		h := bloom.LevelDB.Hash(fmt.Appendf(nil, "user-%08d", i))
		byHash[h] = append(byHash[h], i)
	}
	pairs, withOther, explained := 0, 0, 0
	for _, numbers := range byHash {
		if len(numbers) > 1 {
			withOther += len(numbers)
		}
		for i, a := range numbers {
			for _, b := range numbers[:i] {
				pairs++
				if explain(a, b) {
					explained++
				}
			}
		}
	}
	random := float64(n) * n / 2 / (1 << 32)
	t := race.NewTable("of the keys `user-00000000` to `user-01999999`", "pairs with equal hashes", "keys in them")
	t.Row("LevelDB's hash", race.Thousands(pairs), race.Thousands(withOther))
	t.Row("a random hash", fmt.Sprintf("%.0f", random), fmt.Sprintf("%.0f", 2*random))
	fmt.Fprintf(w, "%s\n%d pairs (%.1f %%) differ in 3 digits only: the 3rd by 7, the 5th, and the 7th by 5 the other way\n",
		t, explained, 100*float64(explained)/float64(pairs))
	return nil
}

// explain reports whether two numbers of 8 digits differ as the arithmetic of the hash
// says.
func explain(a, b int) bool {
	x, y := fmt.Sprintf("%08d", a), fmt.Sprintf("%08d", b)
	var d [8]int
	for i := range d {
		d[i] = int(x[i]) - int(y[i])
	}
	return d[0] == 0 && d[1] == 0 && d[3] == 0 && d[5] == 0 && d[7] == 0 && d[4] != 0 &&
		(d[2] == 7 && d[6] == -5 || d[2] == -7 && d[6] == 5)
}
