// Package oracle compares the answers of package parquet with those of the libraries that wrote the
// files. It is for the tests of arrowgo and parquetgo.
package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// Null reports whether the files have a null instead of value i of a row group, if their column is
// optional.
func Null(i int) bool { return i%7 == 6 }

// Values returns the sorted values of some row groups as PLAIN bytes, and keys to ask for: some of these
// values, and others.
func Values(of bloomparquet.Type) (groups [][][]byte, keys [][]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	groups = make([][][]byte, 5)
	for g := range groups {
		for range 1 + random.IntN(300) {
			groups[g] = append(groups[g], value(random, of))
		}
		slices.SortFunc(groups[g], slices.Compare)
		keys = append(keys, groups[g][:len(groups[g])/2]...)
	}
	for range 500 {
		keys = append(keys, value(random, of))
	}
	return groups, keys
}

func value(random *rand.Rand, t bloomparquet.Type) []byte {
	width := map[bloomparquet.Physical]int{bloomparquet.Int32: 4, bloomparquet.Float: 4, bloomparquet.Int64: 8, bloomparquet.Double: 8, bloomparquet.Int96: 12, bloomparquet.FixedLenByteArray: t.Width}[t.Physical]
	if width == 0 {
		return fmt.Appendf(nil, "value-%d", random.IntN(1000))
	}
	b := make([]byte, width)
	for i := range b {
		b[i] = [...]byte{0, 0xff, byte(random.Uint32()), byte(random.Uint32())}[random.IntN(4)]
	}
	if bits := t.Bits; bits > 0 && bits < 32 { // narrow integers are stored as wider ones
		x := binary.LittleEndian.Uint32(b) << (32 - bits)
		if t.Logical == bloomparquet.Int {
			x = uint32(int32(x) >> (32 - bits))
		} else {
			x >>= 32 - bits
		}
		binary.LittleEndian.PutUint32(b, x)
	}
	return b
}

// Library is what a library says of the row groups of a column.
type Library struct {
	Rows  []int64                                        // of each row group
	Check func(group int) (func(key []byte) bool, error) // of a row group's filter
}

// Compare compares the answers of a column with what the library says: without bounds it is equal
// for every key and row group; with bounds, no key of a row group is missing.
func Compare(t *testing.T, c *bloomparquet.Column, groups [][][]byte, keys [][]byte, optional bool, library Library) {
	t.Helper()
	k, err := bloomparquet.KeysOf(c.Type(), keys)
	if err != nil {
		t.Fatal(err)
	}
	m, err := RowGroups(k, withoutBounds(t, c))
	if err != nil {
		t.Fatal(err)
	}
	if len(m) != len(library.Rows) {
		t.Fatalf("%d row groups, want %d", len(m), len(library.Rows))
	}
	for g, group := range m {
		if group.Err != nil || group.Rows != library.Rows[g] {
			t.Fatalf("row group %d of %d rows: %v", g, group.Rows, group.Err)
		}
		check, err := library.Check(g)
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range keys {
			if got, want := MayContain(group, i), check(key); got != want && !unsure(c.Type(), key) {
				t.Fatalf("row group %d, key %x: %v, and the library says %v", g, key, got, want)
			}
		}
	}
	checkBounds(t, c, k, groups, keys, optional)
}

// withoutBounds returns the same column without minima and maxima.
func withoutBounds(t *testing.T, c *bloomparquet.Column) *bloomparquet.Column {
	t.Helper()
	return without(t, c, func(chunk *bloomparquet.Chunk) { chunk.Min, chunk.Max = nil, nil })
}

// without returns the same column without what a function takes away from each row group.
func without(t *testing.T, c *bloomparquet.Column, takeAway func(*bloomparquet.Chunk)) *bloomparquet.Column {
	t.Helper()
	m := c.Meta()
	m.Chunks = slices.Clone(m.Chunks)
	for i := range m.Chunks {
		takeAway(&m.Chunks[i])
	}
	c, err := bloomparquet.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// unsure reports whether a key is a zero or NaN.
func unsure(t bloomparquet.Type, key []byte) bool {
	x := 1.0
	switch {
	case t.Physical == bloomparquet.Float:
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(key)))
	case t.Physical == bloomparquet.Double:
		x = math.Float64frombits(binary.LittleEndian.Uint64(key))
	case t.Logical == bloomparquet.Float16:
		return key[0] == 0 && key[1]&0x7f == 0 || key[1]&0x7c == 0x7c
	}
	return x == 0 || math.IsNaN(x)
}

// checkBounds wants all keys where they are.
func checkBounds(t *testing.T, c *bloomparquet.Column, k *bloomparquet.Keys, groups [][][]byte, keys [][]byte, optional bool) {
	t.Helper()
	m, err := RowGroups(k, c)
	if err != nil {
		t.Fatal(err)
	}
	for g, values := range groups {
		held := map[string]bool{}
		for i, value := range values {
			if !optional || !Null(i) {
				held[string(value)] = true
			}
		}
		for i, key := range keys {
			if held[string(key)] && !MayContain(m[g], i) {
				t.Fatalf("row group %d has the key %x, between %x and %x", g, key, c.Meta().Chunks[g].Min, c.Meta().Chunks[g].Max)
			}
		}
	}
}

// Customers returns the sorted texts of row groups that do not overlap.
func Customers() [][][]byte {
	groups := make([][][]byte, 10)
	for g := range groups {
		for i := range 50 {
			groups[g] = append(groups[g], fmt.Appendf(nil, "customer-%03d%02d", g, i))
		}
	}
	return groups
}

// CheckCustomers finds the row groups of [Customers], which have no filters, by their bounds alone.
func CheckCustomers(t *testing.T, c *bloomparquet.Column) {
	t.Helper()
	var keys []string
	for g := range Customers() {
		keys = append(keys, fmt.Sprintf("customer-%03d25", g))
	}
	k, err := bloomparquet.KeysOf(c.Type(), keys)
	if err != nil {
		t.Fatal(err)
	}
	m, err := RowGroups(k, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(m) != len(keys) {
		t.Fatalf("%d row groups, want %d", len(m), len(keys))
	}
	for g, group := range m {
		if group.Count != 1 || !MayContain(group, g) || !errors.Is(group.Err, bloomparquet.ErrNoFilter) {
			t.Errorf("row group %d: %d keys, %v", g, group.Count, group.Err)
		}
	}
}

// RowGroups returns what Prune yields, with hits of its own for each row group.
func RowGroups(k *bloomparquet.Keys, columns ...*bloomparquet.Column) (all []bloomparquet.RowGroup, err error) {
	groups, err := k.Prune(columns...)
	if err != nil {
		return nil, err
	}
	for group := range groups {
		group.Hits = slices.Clone(group.Hits)
		all = append(all, group)
	}
	return all, nil
}

// MayContain reports whether a key may be in a row group.
func MayContain(group bloomparquet.RowGroup, key int) bool {
	return group.Hits[key/64]>>(key%64)&1 != 0
}
