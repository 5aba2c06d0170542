package bloomarrow

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// claimed returns arrays of n rows that have almost no bytes, and how many of them have key 7.
func claimed(n int) map[string]struct {
	arrow.Array
	sevens int64
} {
	half := int32(n / 2)
	runs := func(ends, values *array.Data) arrow.Array {
		return array.MakeFromData(rawRuns(n, 0, ends, values))
	}
	sevenAndZero := raw(arrow.PrimitiveTypes.Int64, 2, 0, nil, append([]byte{7, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 8)...))
	seven := raw(arrow.PrimitiveTypes.Int64, 1, 0, nil, []byte{7, 0, 0, 0, 0, 0, 0, 0})
	return map[string]struct {
		arrow.Array
		sevens int64
	}{
		"null":     {array.NewNull(n), 0},
		"one run":  {runs(ends(int32(n)), seven), int64(n)},
		"two runs": {runs(ends(half, int32(n)), sevenAndZero), int64(half)},
	}
}

// TestClaimedRows has arrays whose few bytes say that there are 2^31 − 1 rows.
func TestClaimedRows(t *testing.T) {
	const n = math.MaxInt32
	filter := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 20}.NewFilter(bloom.Integers([]uint64{7}))
	for name, test := range claimed(n) {
		t.Run(name, func(t *testing.T) {
			batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "k", Type: test.DataType(), Nullable: true}}, nil), []arrow.Array{test.Array}, n)
			for _, invert := range []bool{false, true} {
				f := NewRecordFilter(filter)
				f.Invert = invert
				want := test.sevens
				if invert {
					want = n - want
				}
				allocates(t, 64<<20, func() {
					kept, err := f.FilterRecordBatch(context.Background(), batch, 0)
					if err != nil || kept.NumRows() != want {
						t.Errorf("invert %v: %v, %v, want %d rows", invert, kept, err, want)
					}
				})
			}
			allocates(t, n/8+1<<20, func() {
				if _, err := Mask(memory.DefaultAllocator, filter, test.Array); err != nil {
					t.Error(err)
				}
			})
			allocates(t, 1<<20, func() {
				builder := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.NewBuilder()
				if err := Add(builder, test.Array); err != nil || builder.Len() > 2 {
					t.Errorf("%d keys, %v", builder.Len(), err)
				}
				if _, err := Keys(test.Array); !errors.Is(err, ErrArray) && !errors.Is(err, ErrType) {
					t.Errorf("Keys: %v", err)
				}
			})
		})
	}
}

// allocates fails the test if a call allocates more bytes.
func allocates(t *testing.T, most uint64, call func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%d bytes allocated, at most %d are right", n, most)
	}
}
