package compare

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/cespare/xxhash/v2"
	"github.com/parquet-go/parquet-go"
	parquetbloom "github.com/parquet-go/parquet-go/bloom"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
	"github.com/lanebloom/bloom/compare/internal/race"
)

const pruneKeys = 10_000

// way is a way to test keys against row groups. It returns the number of hits.
type way struct {
	name  string
	tests int // keys times row groups of a run
	run   func() int
}

// inTurns times the ways in turn, round by round, and reports the shortest time of each: what
// makes it longer on a busy machine is other programs. A way runs once before it is timed, so that its
// filters are in the caches that hold them, whatever ran before. All that test the same must have the
// same hits; a negative number is none.
func inTurns(b *testing.B, ways []way) {
	raced := make([]*race.Way, len(ways))
	for i, w := range ways {
		raced[i] = &race.Way{Name: w.name, Ready: func(int) error { w.run(); return nil }, Run: func(int) (int, error) { return w.run(), nil }}
	}
	oneRound(b, 1, raced)
	for i, w := range ways {
		if got := raced[i].Answer; w.tests == ways[0].tests && got != raced[0].Answer && got >= 0 {
			b.Fatalf("%s finds %d, and %s %d", w.name, got, ways[0].name, raced[0].Answer)
		}
		b.ReportMetric(raced[i].Least()/float64(w.tests), w.name+"-ns/test")
	}
}

// oneRound times a round of the ways for each iteration of a benchmark.
func oneRound(b *testing.B, operations int, ways []*race.Way) {
	for b.Loop() {
		if err := (race.Race{Rounds: 1, Cold: true, Operations: operations, Differ: true, Clean: true}).Run(ways...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPrune tests 10,000 absent keys against the filters of 32 row groups of 50,000 values, 10
// bits each, all in memory: with the keys hashed once, and with all that a program has to do.
func BenchmarkPrune(b *testing.B) {
	type row struct {
		K int64 `parquet:"k"`
	}
	const groups, values = 32, 50_000
	random := rand.New(rand.NewPCG(1, 2))
	var data bytes.Buffer
	w := parquet.NewGenericWriter[row](&data, parquet.MaxRowsPerRowGroup(values), parquet.BloomFilters(parquet.SplitBlockFilter(10, "k")))
	rows := make([]row, values)
	for range groups {
		for i := range rows {
			rows[i].K = int64(random.Uint64())
		}
		if _, err := w.Write(rows); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	theirs, err := parquet.OpenFile(bytes.NewReader(data.Bytes()), int64(data.Len()))
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]int64, pruneKeys)
	hashes := make([]uint64, pruneKeys)
	for i := range keys {
		keys[i] = int64(random.Uint64())
		hashes[i] = parquetbloom.XXH64{}.Sum64Uint64(uint64(keys[i]))
	}
	open := func() *bloomparquet.Column {
		c, err := parquetgo.Open(theirs, "k")
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	hashed := func(c *bloomparquet.Column) *bloomparquet.Keys {
		k, err := bloomparquet.KeysOf(c.Type(), keys)
		if err != nil {
			b.Fatal(err)
		}
		return k
	}
	loaded := open()
	loaded.Load()
	k := hashed(loaded)
	bare := make([]parquetbloom.SplitBlockFilter, groups)
	for i := range bare {
		filter := theirs.RowGroups()[i].ColumnChunks()[0].BloomFilter()
		blocks := make([]byte, filter.Size())
		if _, err := filter.ReadAt(blocks, 0); err != nil {
			b.Fatal(err)
		}
		bare[i] = parquetbloom.MakeSplitBlockFilter(blocks)
	}
	reader, err := file.NewParquetReader(bytes.NewReader(data.Bytes()))
	if err != nil {
		b.Fatal(err)
	}
	defer reader.Close()
	const all, some = groups * pruneKeys, groups * pruneKeys / 100
	inTurns(b, []way{
		{"lanebloom", all, func() int { return candidates(b, k, loaded) }},
		{"lanebloom-opened-read-and-hashed", all, func() int { c := open(); return candidates(b, hashed(c), c) }},
		{"parquet-go-bare", all, func() (n int) {
			for _, filter := range bare {
				for _, h := range hashes {
					if filter.Check(h) {
						n++
					}
				}
			}
			return n
		}},
		{"arrow-go-CheckHash", all, func() (n int) {
			for g := range groups {
				filters, err := reader.GetBloomFilterReader().RowGroup(g)
				if err != nil {
					b.Fatal(err)
				}
				if err := filters.VisitColumnBloomFilter(0, func(f metadata.BloomFilter) error {
					for _, h := range hashes {
						if f.CheckHash(h) {
							n++
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			return n
		}},
		{"parquet-go-Check", some, func() (n int) {
			for g := range groups {
				filter := theirs.RowGroups()[g].ColumnChunks()[0].BloomFilter()
				for _, key := range keys[:pruneKeys/100] {
					yes, err := filter.Check(parquet.Int64Value(key))
					if err != nil {
						b.Fatal(err)
					}
					if yes {
						n++
					}
				}
			}
			return n
		}},
	})
}

// candidates counts the keys and row groups that go together.
func candidates(b *testing.B, k *bloomparquet.Keys, c *bloomparquet.Column) (n int) {
	groups, err := k.Prune(c)
	if err != nil {
		b.Fatal(err)
	}
	for group := range groups {
		if group.Err != nil {
			b.Fatal(group.Err)
		}
		n += group.Count
	}
	return n
}

// BenchmarkPruneLarge tests 10,000 absent keys against 1,000 row groups with filters of 1 MiB, which are
// more than any cache has. The bound is memory: a random load for each key and row group.
func BenchmarkPruneLarge(b *testing.B) {
	const groups, size = 1000, 1 << 20
	random := rand.New(rand.NewPCG(3, 4))
	blocks := make([]byte, size)
	for i := range blocks {
		blocks[i] = byte(random.Uint32() & random.Uint32()) // a quarter of the bits
	}
	opened, err := bloom.Open(bloom.Parquet, blocks)
	if err != nil {
		b.Fatal(err)
	}
	filter, err := bloomparquet.AppendFilter(nil, opened)
	if err != nil {
		b.Fatal(err)
	}
	input := &repeated{filter}
	meta := bloomparquet.Meta{Type: bloomparquet.Type{Physical: bloomparquet.Int64}, Input: input, Size: int64(len(filter)) * (groups + 1)}
	memory := make([][]byte, groups)
	for g := range groups {
		meta.Chunks = append(meta.Chunks, bloomparquet.Chunk{Rows: 1, FilterOffset: int64((g + 1) * len(filter)), FilterLength: int64(len(filter))})
		memory[g] = bytes.Clone(blocks)
	}
	c, err := bloomparquet.Open(meta)
	if err != nil {
		b.Fatal(err)
	}
	c.Load()
	keys, places := make([]int64, pruneKeys), make([]uint32, pruneKeys)
	for i := range keys {
		keys[i] = int64(random.Uint64())
		places[i] = uint32(xxhash.Sum64String(fmt.Sprint(i)) % size)
	}
	k, err := bloomparquet.KeysOf(meta.Type, keys)
	if err != nil {
		b.Fatal(err)
	}
	inTurns(b, []way{
		{"lanebloom", groups * pruneKeys, func() int { return candidates(b, k, c) }},
		{"random-loads", groups * pruneKeys, func() int {
			sum := 0
			for _, data := range memory {
				for _, place := range places {
					sum += int(data[place])
				}
			}
			return -1 - sum&1
		}},
	})
}

// repeated is a file of equal pieces.
type repeated struct{ piece []byte }

func (r *repeated) ReadAt(data []byte, offset int64) (int, error) {
	n := copy(data, r.piece[offset%int64(len(r.piece)):])
	if n < len(data) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}
