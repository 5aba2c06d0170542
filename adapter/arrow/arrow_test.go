package bloomarrow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// dirty returns memory that is not clear, as that of C is not.
type dirty struct{ memory.Allocator }

func (d dirty) Allocate(size int) []byte {
	b := d.Allocator.Allocate(size)
	for i := range b {
		b[i] = 0xa5
	}
	return b
}

// eachArray runs a subtest for every type in every encoding, with several arrays, whole and
// sliced. All memory must be released.
func eachArray(t *testing.T, run func(t *testing.T, mem memory.Allocator, random *rand.Rand, a arrow.Array)) {
	for i, test := range typeTests {
		for j, encoding := range encodings {
			if test.dtype == arrow.Null && encoding.name == "extension" {
				continue // arrow-go 18.8.0 panics in NullN of its slices
			}
			t.Run(fmt.Sprintf("%v/%s", test.dtype, encoding.name), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				for _, n := range []int{0, 1, 65, 400} {
					for _, nulls := range []float64{0, 0.1, 1} {
						mem := memory.NewCheckedAllocator(dirty{memory.DefaultAllocator})
						a := encoding.wrap(t, mem, random, test, n, nulls)
						run(t, mem, random, a)
						for range 2 {
							from := random.IntN(a.Len() + 1)
							slice := array.NewSlice(a, int64(from), int64(from+random.IntN(a.Len()-from+1)))
							run(t, mem, random, slice)
							slice.Release()
						}
						a.Release()
						mem.AssertSize(t, 0)
					}
				}
			})
		}
	}
}

// someKeys returns the keys of an array, and a filter of every second one.
func someKeys(a arrow.Array) (keys [][]byte, filter *bloom.Filter) {
	builder := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 12}.NewBuilder()
	keys = make([][]byte, a.Len())
	for i := range keys {
		if key, ok := referenceKey(a, i); ok {
			keys[i] = append([]byte{}, key...) // not nil
			if i%2 == 0 {
				builder.Add(key)
			}
		}
	}
	return keys, builder.Filter()
}

// TestMask compares masks, positions and columns with the reference.
func TestMask(t *testing.T) {
	eachArray(t, func(t *testing.T, mem memory.Allocator, _ *rand.Rand, a arrow.Array) {
		keys, filter := someKeys(a)
		mask, err := Mask(mem, filter, a)
		if err != nil {
			t.Fatal(err)
		}
		defer mask.Release()
		positions, err := Positions(mem, filter, a)
		if err != nil {
			t.Fatal(err)
		}
		defer positions.Release()
		if mask.Len() != a.Len() || mask.NullN() != 0 {
			t.Fatalf("a mask of %d rows and %d nulls for %d rows", mask.Len(), mask.NullN(), a.Len())
		}
		var hits []uint32
		for i, key := range keys {
			want := key != nil && filter.MayContain(key)
			if mask.Value(i) != want {
				t.Fatalf("row %d of %d, key %x: %v", i, len(keys), key, mask.Value(i))
			}
			if want {
				hits = append(hits, uint32(i))
			}
		}
		if !slices.Equal(positions.Uint32Values(), hits) {
			t.Fatalf("positions %v, want %v", positions, hits)
		}
	})
}

// TestKeys compares columns with the reference, and what builders make of them.
func TestKeys(t *testing.T) {
	eachArray(t, func(t *testing.T, _ memory.Allocator, _ *rand.Rand, a arrow.Array) {
		keys, filter := someKeys(a)
		column, err := Keys(a)
		if err != nil {
			if encoded(a.DataType()) {
				return
			}
			t.Fatal(err)
		}
		var want []uint32
		for i, key := range keys {
			if key != nil && filter.MayContain(key) {
				want = append(want, uint32(i))
			}
		}
		if got := filter.AppendHits(nil, column); column.Len() != a.Len() || !slices.Equal(got, want) {
			t.Fatalf("hits %v of %d rows, want %v of %d", got, column.Len(), want, a.Len())
		}
	})
}

// encoded reports whether the rows of a type do not lie in memory as keys.
func encoded(t arrow.DataType) bool {
	id := storage(t).ID()
	return id == arrow.DICTIONARY || id == arrow.RUN_END_ENCODED
}

// TestAdd builds sets of the values of arrays. The bits must be those of the reference's keys.
func TestAdd(t *testing.T) {
	policy := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 12}
	eachArray(t, func(t *testing.T, _ memory.Allocator, _ *rand.Rand, a arrow.Array) {
		set := func() *bloom.Set {
			s, err := policy.NewSet(1000)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		keys, _ := someKeys(a)
		want, got := set(), set()
		for _, key := range keys {
			if key != nil {
				want.Add(key)
			}
		}
		if err := Add(got, a); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.AppendFilter(nil), want.AppendFilter(nil)) {
			t.Fatal("a set has other bits than that of the reference's keys")
		}
		builder := policy.NewBuilder()
		if err := Add(builder, a, a); err != nil {
			t.Fatal(err)
		}
		if n, _ := got.KeyCount(); builder.Len() != 2*int(n) || int(n) > len(keys) {
			t.Fatalf("%d and %d keys of %d rows", n, builder.Len(), len(keys))
		}
	})
}

// TestChunksOfDictionaries masks chunks that share their dictionary only with a neighbour.
func TestChunksOfDictionaries(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var chunks []arrow.Array
	for range 3 {
		values := typeTests[0].plainArray(memory.DefaultAllocator, random, 50, 0.1)
		for range 2 {
			indices := array.NewUint8Builder(memory.DefaultAllocator)
			for range 100 {
				indices.Append(uint8(random.IntN(50)))
			}
			chunks = append(chunks, array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: values.DataType()}, indices.NewArray(), values))
		}
	}
	_, filter := someKeys(chunks[2])
	masks, err := MaskChunked(memory.DefaultAllocator, filter, arrow.NewChunked(chunks[0].DataType(), chunks))
	if err != nil {
		t.Fatal(err)
	}
	for i, chunk := range chunks {
		keys, _ := someKeys(chunk)
		for j, key := range keys {
			if want := key != nil && filter.MayContain(key); masks.Chunk(i).(*array.Boolean).Value(j) != want {
				t.Fatalf("row %d of chunk %d: %v", j, i, !want)
			}
		}
	}
}

// TestChunked masks columns of several chunks. All chunks share a dictionary, if there is one.
func TestChunked(t *testing.T) {
	eachArray(t, func(t *testing.T, mem memory.Allocator, random *rand.Rand, a arrow.Array) {
		var chunks []arrow.Array
		for from := 0; from < a.Len(); {
			to := from + random.IntN(a.Len()-from+1)
			chunks = append(chunks, array.NewSlice(a, int64(from), int64(to)))
			from = to
		}
		column := arrow.NewChunked(a.DataType(), chunks)
		defer column.Release()
		for _, chunk := range chunks {
			chunk.Release()
		}
		keys, filter := someKeys(a)
		masks, err := MaskChunked(mem, filter, column)
		if err != nil {
			t.Fatal(err)
		}
		defer masks.Release()
		row := 0
		for i, mask := range masks.Chunks() {
			if mask.Len() != chunks[i].Len() {
				t.Fatalf("chunk %d has %d rows, its mask %d", i, chunks[i].Len(), mask.Len())
			}
			for j := range mask.Len() {
				if want := keys[row] != nil && filter.MayContain(keys[row]); mask.(*array.Boolean).Value(j) != want {
					t.Fatalf("row %d of chunk %d: %v", j, i, !want)
				}
				row++
			}
		}
		if row != a.Len() || masks.Len() != a.Len() {
			t.Fatalf("%d rows of %d", row, a.Len())
		}
	})
}
