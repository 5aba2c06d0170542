// Command arrowcolumns filters columns of Arrow with this library, with arrow-go's filter and
// with parquet-go's. docs/arrow.md has its figures.
//
//	go run ./arrowcolumns    (in compare/)
//
// All paths run in turn in one process, as many rounds as -rounds says. Times are CPU time.
package main

import (
	"context"
	"flag"
	"log"
	"math/rand/v2"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	parquetgo "github.com/parquet-go/parquet-go/bloom"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// The filter has 2 MiB: arrow-go makes filters of a power of two.
const (
	batchRows  = 64 << 10
	knownKeys  = 1 << 20
	bitsPerKey = 16
)

var (
	rows   = flag.Int("rows", 10_000_000, "rows of a column")
	rounds = flag.Int("rounds", 11, "rounds")
	mem    = memory.DefaultAllocator
)

// figures are what the program prints.
var figures race.Figures

func main() {
	flag.Parse()
	compareAll()
	race.Exit(figures, nil)
}

func compareAll() {
	random := rand.New(rand.NewPCG(1, 2))
	known := make([]parquet.ByteArray, knownKeys)
	for i := range known {
		known[i] = randomKey(random)
	}
	filter := bloom.Policy{Format: bloom.Parquet, BitsPerKey: bitsPerKey}.NewFilter(bloom.Bytes(known))
	arrowGo, parquetGo := testStrings(arrowGoFilter(known, filter), parquetgo.MakeSplitBlockFilter(filter.Bytes()))
	compareColumn("strings", filter, column(arrow.BinaryTypes.String, func(b array.Builder) {
		b.(*array.StringBuilder).Append(string(oneOf(random, known, randomKey)))
	}), arrowGo, parquetGo)

	ints := make([]int64, knownKeys)
	for i := range ints {
		ints[i] = random.Int64()
	}
	filter = bloom.Policy{Format: bloom.Parquet, BitsPerKey: bitsPerKey}.NewFilter(bloom.Integers(ints))
	arrowGo, parquetGo = testIntegers(arrowGoFilter(ints, filter), parquetgo.MakeSplitBlockFilter(filter.Bytes()))
	compareColumn("int64", filter, column(arrow.PrimitiveTypes.Int64, func(b array.Builder) {
		b.(*array.Int64Builder).Append(oneOf(random, ints, (*rand.Rand).Int64))
	}), arrowGo, parquetGo)
}

// arrowGoFilter returns arrow-go's filter of the keys of a filter.
func arrowGoFilter[K parquet.ByteArray | int64](keys []K, like *bloom.Filter) bulk {
	size := uint32(len(like.Bytes()))
	b := metadata.NewBloomFilter(size, size, mem)
	switch keys := any(keys).(type) {
	case []parquet.ByteArray:
		metadata.InsertHashes(b, keys)
	case []int64:
		metadata.InsertHashes(b, keys)
	}
	return b.(bulk)
}

func randomKey(random *rand.Rand) parquet.ByteArray {
	key := make([]byte, 8+random.IntN(25))
	for i := range key {
		key[i] = byte(random.Uint32())
	}
	return key
}

// oneOf returns a known key in one of ten cases, and else another.
func oneOf[K any](random *rand.Rand, known []K, other func(*rand.Rand) K) K {
	if random.IntN(10) == 0 {
		return known[random.IntN(len(known))]
	}
	return other(random)
}

// column returns the rows in arrays of batchRows.
func column(t arrow.DataType, add func(b array.Builder)) (batches []arrow.RecordBatch) {
	b := array.NewBuilder(mem, t)
	for n := *rows; n > 0; n -= batchRows {
		for range min(n, batchRows) {
			add(b)
		}
		batches = append(batches, batchOf(b.NewArray()))
	}
	return batches
}

func batchOf(a arrow.Array) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: a.DataType(), Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{a}, int64(a.Len()))
}

// path is a way to test or to filter a batch.
type path struct {
	name string
	run  func(b arrow.RecordBatch)
}

// tester returns which rows may be in the filter.
type tester func(a arrow.Array) []bool

// compareColumn times what tests the batches of a column, and what filters them.
func compareColumn(name string, filter *bloom.Filter, batches []arrow.RecordBatch, arrowGo, parquetGo tester) {
	for _, b := range batches[:min(len(batches), 2)] {
		compareAnswers(filter, b.Column(0), arrowGo, parquetGo)
	}
	tests := []path{
		{"arrow-go", func(b arrow.RecordBatch) { arrowGo(b.Column(0)) }},
		{"parquet-go", func(b arrow.RecordBatch) { parquetGo(b.Column(0)) }},
	}
	filters := []path{
		{"arrow-go", func(b arrow.RecordBatch) { filterBy(b, arrowGo(b.Column(0))) }},
		{"parquet-go", func(b arrow.RecordBatch) { filterBy(b, parquetGo(b.Column(0))) }},
	}
	for _, k := range bloom.Kernels() {
		f, err := filter.WithKernel(k)
		check(err)
		name := "this library, " + k.String()
		tests = append(tests, path{name, func(b arrow.RecordBatch) { mask(f, b) }})
		filters = append(filters, path{name, func(b arrow.RecordBatch) { filterBatch(f, b) }})
	}
	report("Arrow/column="+name+"/job=tested", tests, batches)
	report("Arrow/column="+name+"/job=filtered", filters, batches)
}

func mask(f bloomarrow.Tester, b arrow.RecordBatch) {
	m, err := bloomarrow.Mask(mem, f, b.Column(0))
	check(err)
	m.Release()
}

func filterBatch(f bloomarrow.Tester, b arrow.RecordBatch) {
	left, err := bloomarrow.FilterRecordBatch(context.Background(), f, b, 0)
	check(err)
	left.Release()
}

// filterBy filters a batch with arrow-go.
func filterBy(b arrow.RecordBatch, hits []bool) {
	builder := array.NewBooleanBuilder(mem)
	defer builder.Release()
	builder.AppendValues(hits, nil)
	m := builder.NewBooleanArray()
	defer m.Release()
	left, err := compute.FilterRecordBatch(context.Background(), b, m, compute.DefaultFilterOptions())
	check(err)
	left.Release()
}

// compareAnswers ends the program if the libraries differ.
func compareAnswers(f bloomarrow.Tester, a arrow.Array, others ...tester) {
	m, err := bloomarrow.Mask(mem, f, a)
	check(err)
	for _, other := range others {
		for i, hit := range other(a) {
			if hit != m.Value(i) {
				log.Fatalf("row %d: the libraries differ", i)
			}
		}
	}
}

// bulk is what arrow-go's filters have, although their interface does not say it.
type bulk interface {
	metadata.BloomFilter
	CheckBulk(hashes []uint64) []bool
}

func testStrings(f bulk, theirs parquetgo.SplitBlockFilter) (arrowGo, parquetGo tester) {
	hits, hashes := make([]bool, batchRows), make([]uint64, batchRows)
	key := func(a *array.String, i int) []byte {
		s := a.Value(i)
		return unsafe.Slice(unsafe.StringData(s), len(s))
	}
	return func(a arrow.Array) []bool {
			s, hasher := a.(*array.String), f.Hasher()
			for i := range s.Len() {
				hashes[i] = hasher.Sum64(key(s, i))
			}
			return f.CheckBulk(hashes[:s.Len()])
		}, func(a arrow.Array) []bool {
			s := a.(*array.String)
			for i := range s.Len() {
				hits[i] = theirs.Check(parquetgo.XXH64{}.Sum64(key(s, i)))
			}
			return hits[:s.Len()]
		}
}

func testIntegers(f bulk, theirs parquetgo.SplitBlockFilter) (arrowGo, parquetGo tester) {
	hits := make([]bool, batchRows)
	return func(a arrow.Array) []bool {
			return f.CheckBulk(metadata.GetHashes(f.Hasher(), a.(*array.Int64).Int64Values()))
		}, func(a arrow.Array) []bool {
			for i, v := range a.(*array.Int64).Int64Values() {
				hits[i] = theirs.Check(parquetgo.XXH64{}.Sum64Uint64(uint64(v)))
			}
			return hits[:a.Len()]
		}
}

// report runs the paths in turn, and compares each with the first.
func report(name string, paths []path, batches []arrow.RecordBatch) {
	var ways []*race.Way
	for _, p := range paths {
		ways = append(ways, &race.Way{Name: p.name, Run: func(int) (int, error) {
			for _, b := range batches {
				p.run(b)
			}
			return 0, nil
		}})
	}
	check(race.Race{Rounds: *rounds, Operations: *rows, Clock: race.CPUTime}.Run(ways...))
	for _, w := range ways {
		figures.Add(w.Beside(name+"/way="+w.Name, ways[0]))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
