package compare

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	multi "github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/zeebo/xxh3"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// hashColumn is the same keys for all ways to hash a column.
type hashColumn struct {
	name  string
	texts []string
	rows  bloom.Keys

	integers []uint64   // or nil
	uuids    [][16]byte // or nil
}

// hashKeys is how many keys a column has: strings of them fit the caches, as a page of a Parquet file does.
const hashKeys = 10_000

// hashColumns returns integers, and random keys of 16 bytes in a []string and side by side, of 8 to 32, of 36, of 64 and of 200 bytes.
func hashColumns(tb testing.TB) (columns []hashColumn) {
	random := rand.New(rand.NewPCG(91, 92))
	texts := func(least, most int) []string {
		list := make([]string, hashKeys)
		for i := range list {
			key := make([]byte, least+random.IntN(most-least+1))
			for j := range key {
				key[j] = byte(random.Uint32())
			}
			list[i] = string(key)
		}
		return list
	}
	integers, column := make([]uint64, hashKeys), texts(8, 8)
	for i := range integers {
		integers[i] = binary.LittleEndian.Uint64([]byte(column[i]))
	}
	columns = append(columns, hashColumn{name: "integers", texts: column, rows: bloom.Integers(integers), integers: integers})

	uuids, column := make([][16]byte, hashKeys), texts(16, 16)
	var beside []byte
	for i, text := range column {
		copy(uuids[i][:], text)
		beside = append(beside, text...)
	}
	rows, err := bloom.FixedWidth(beside, 16)
	if err != nil {
		tb.Fatal(err)
	}
	columns = append(columns,
		hashColumn{name: "UUIDs-side-by-side", texts: column, rows: rows, uuids: uuids},
		hashColumn{name: "UUIDs", texts: column, rows: bloom.Strings(column)})
	for _, c := range []struct {
		name        string
		least, most int
	}{{"8-32", 8, 32}, {"36", 36, 36}, {"64", 64, 64}, {"200", 200, 200}} {
		column := texts(c.least, c.most)
		columns = append(columns, hashColumn{name: c.name, texts: column, rows: bloom.Strings(column)})
	}
	return columns
}

// TestHashes wants the hashes of other packages from AppendHashes64, and of an arrow-go or parquet-go that hashes so.
func TestHashes(t *testing.T) {
	for _, c := range hashColumns(t) {
		got := bloom.Parquet.AppendHashes64(nil, c.rows)
		for i, text := range c.texts {
			if want := xxhash.Sum64String(text); got[i] != want {
				t.Fatalf("%s: %x is hashed to %x, want %x", c.name, text, got[i], want)
			}
		}
		others := make([]uint64, hashKeys)
		switch {
		case c.integers != nil:
			multi.MultiSum64Uint64(others, c.integers)
		case c.uuids != nil:
			multi.MultiSum64Uint128(others, c.uuids)
		default:
			continue
		}
		if !slices.Equal(got, others) {
			t.Errorf("%s: parquet-go has other hashes", c.name)
		}
	}
}

// BenchmarkHashes hashes columns of 10,000 keys by AppendHashes64, beside cespare/xxhash and zeebo/xxh3 in a loop, and by
// parquet-go's functions for whole columns. The ways take turns, and the metrics are the medians over the rounds.
func BenchmarkHashes(b *testing.B) {
	for _, c := range hashColumns(b) {
		b.Run(fmt.Sprintf("keys=%s", c.name), func(b *testing.B) {
			hashes := make([]uint64, hashKeys)
			ways := []*race.Way{
				hashWay("XXH64", func() { bloom.Parquet.AppendHashes64(hashes[:0], c.rows) }),
				hashWay("XXPH3", func() { bloom.RocksDB.AppendHashes64(hashes[:0], c.rows) }),
				hashWay("cespare", func() { loopXXHash(hashes, &c) }),
				hashWay("zeebo", func() { loopXXH3(hashes, &c) }),
			}
			switch {
			case c.integers != nil:
				ways = append(ways, hashWay("parquet-go", func() { multi.MultiSum64Uint64(hashes, c.integers) }))
			case c.uuids != nil:
				ways = append(ways, hashWay("parquet-go", func() { multi.MultiSum64Uint128(hashes, c.uuids) }))
			}
			oneRound(b, hashKeys, ways)
			for _, way := range ways {
				b.ReportMetric(way.Figure("").Ns, way.Name+"-ns/key")
			}
		})
	}
}

func hashWay(name string, run func()) *race.Way {
	return &race.Way{Name: name, Run: func(int) (int, error) {
		run()
		return 0, nil
	}}
}

// loopXXHash hashes keys one by one with the package that parquet-go, arrow-go and others use.
func loopXXHash(hashes []uint64, c *hashColumn) {
	switch {
	case c.integers != nil:
		var key [8]byte
		for i, v := range c.integers {
			binary.LittleEndian.PutUint64(key[:], v)
			hashes[i] = xxhash.Sum64(key[:])
		}
	case c.uuids != nil:
		for i := range c.uuids {
			hashes[i] = xxhash.Sum64(c.uuids[i][:])
		}
	default:
		for i, text := range c.texts {
			hashes[i] = xxhash.Sum64String(text)
		}
	}
}

// loopXXH3 hashes keys one by one with XXH3.
func loopXXH3(hashes []uint64, c *hashColumn) {
	switch {
	case c.integers != nil:
		var key [8]byte
		for i, v := range c.integers {
			binary.LittleEndian.PutUint64(key[:], v)
			hashes[i] = xxh3.Hash(key[:])
		}
	case c.uuids != nil:
		for i := range c.uuids {
			hashes[i] = xxh3.Hash(c.uuids[i][:])
		}
	default:
		for i, text := range c.texts {
			hashes[i] = xxh3.HashString(text)
		}
	}
}
