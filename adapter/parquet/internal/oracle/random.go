package oracle

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// Pool returns values of a type, as PLAIN bytes: of a table, so that its values are often equal.
// Many are the special ones of the type: empty, zero, smallest, largest, NaN.
func Pool(random *rand.Rand, of bloomparquet.Type) [][]byte {
	pool := make([][]byte, 1+random.IntN(30))
	for i := range pool {
		switch v := value(random, of); {
		case random.IntN(3) > 0:
			pool[i] = v
		case of.Physical == bloomparquet.ByteArray:
			pool[i] = [][]byte{{}, {0}, {0xff}, []byte("value"), bytes.Repeat([]byte("long"), 1500)}[random.IntN(5)]
		case of.Physical == bloomparquet.Double:
			pool[i] = binary.LittleEndian.AppendUint64(nil, math.Float64bits([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(-1), 1}[random.IntN(5)]))
		case of.Physical == bloomparquet.Float:
			pool[i] = binary.LittleEndian.AppendUint32(nil, math.Float32bits([]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(-1)), 1}[random.IntN(5)]))
		case of.Bits > 0 && of.Bits < 32: // narrow integers have no other special values
			pool[i] = v
		default:
			pool[i] = bytes.Repeat([]byte{[]byte{0, 0xff, 0x7f, 0x80}[random.IntN(4)]}, len(v))
		}
	}
	return pool
}

// Slot is a value of a column or a null, with its levels.
type Slot struct {
	Null     bool
	Rep, Def int
}

// AppendRow appends the slots of a row of a nested column. The shape has a letter for each field
// from the root to the leaf: r is a repeated one, o an optional one, and q a required one.
func AppendRow(slots []Slot, random *rand.Rand, shape string) []Slot {
	return appendField(slots, random, shape, Slot{}, 0)
}

func appendField(slots []Slot, random *rand.Rand, shape string, at Slot, repeated int) []Slot {
	if shape == "" {
		return append(slots, at)
	}
	n := 1
	switch shape[0] {
	case 'r':
		repeated++
		n = []int{0, 0, 1, 1, 2, 5}[random.IntN(6)]
	case 'o':
		n = random.IntN(2)
	}
	if n == 0 {
		at.Null = true
		return append(slots, at)
	}
	if shape[0] != 'q' {
		at.Def++
	}
	for range n {
		slots = appendField(slots, random, shape[1:], at, repeated)
		at.Rep = repeated
	}
	return slots
}

// CheckPrune wants no row group to be pruned that has a key, with its filter and its bounds, and
// with each of them alone. The values that the row groups have are PLAIN bytes. It returns how often
// bounds alone excluded a key.
func CheckPrune(t *testing.T, random *rand.Rand, c *bloomparquet.Column, held []map[string]bool) (excluded int) {
	t.Helper()
	keys := Pool(random, c.Type())
	for _, values := range held {
		for value := range values {
			keys = append(keys, []byte(value))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	if random.IntN(2) == 0 { // neighbours, which have a prefix
		from := random.IntN(len(keys))
		keys = keys[from:min(len(keys), from+1+random.IntN(20))]
	}
	k, err := bloomparquet.KeysOf(c.Type(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for what, column := range map[string]*bloomparquet.Column{
		"bounds and filter": c, "bounds": without(t, c, func(chunk *bloomparquet.Chunk) { chunk.FilterOffset = 0 }), "filter": withoutBounds(t, c),
	} {
		m, err := RowGroups(k, column)
		if err != nil {
			t.Fatal(err)
		}
		if len(m) != len(held) {
			t.Fatalf("%d row groups, want %d", len(m), len(held))
		}
		for g, group := range m {
			for i, key := range keys {
				if held[g][string(key)] && !MayContain(group, i) {
					chunk := c.Meta().Chunks[g]
					t.Errorf("%v %s: row group %d has the key %x, and is pruned by %s: bounds %x to %x",
						c.Type(), c.Meta().Path, g, key, what, chunk.Min, chunk.Max)
				}
			}
			if what == "bounds" {
				excluded += len(keys) - group.Count
			}
		}
	}
	return excluded
}

// CheckUnordered wants bounds without column_orders to have excluded keys only if the values are
// signed integers, which have one order.
func CheckUnordered(t *testing.T, c *bloomparquet.Column, excluded int) {
	t.Helper()
	of := c.Type()
	signed := (of.Physical == bloomparquet.Int32 || of.Physical == bloomparquet.Int64) && of.Logical != bloomparquet.Uint
	if !signed && excluded > 0 {
		t.Errorf("%v: bounds without an order exclude %d keys", of, excluded)
	}
}
