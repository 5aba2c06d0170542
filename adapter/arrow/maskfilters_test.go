package bloomarrow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/lanebloom/bloom"
)

// binaryAppender is a builder of byte strings.
type binaryAppender interface {
	array.Builder
	Append([]byte)
}

// TestMaskFilters asks columns of filters for keys, and compares the masks with the answer of each row. Some rows are
// null, and some are no filters.
func TestMaskFilters(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for _, format := range bloom.Formats() {
		for _, dtype := range []arrow.DataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView} {
			builder, rows := array.NewBuilder(mem, dtype).(binaryAppender), make([][]byte, 200)
			for i := range rows {
				switch {
				case i%11 == 5:
					builder.AppendNull()
				case i%7 == 3:
					rows[i] = []byte("abc")[:i%4]
					builder.Append(rows[i])
				default:
					keys := []string{fmt.Sprint(i % 50), "other"}[:1+i%2]
					rows[i] = bloom.Policy{Format: format, BitsPerKey: 10}.AppendFilter(nil, bloom.Strings(keys))
					builder.Append(rows[i])
				}
			}
			filters := builder.NewArray()
			part := array.NewSlice(filters, 3, 190)
			for _, key := range []string{"7", "other", "absent"} {
				h, passed := format.Hash([]byte(key)), 0
				mask, err := MaskFilters(mem, format, h, part)
				if err != nil {
					t.Fatal(err)
				}
				for i := range part.Len() {
					row := rows[3+i]
					want := part.IsValid(i) && format.MayContainHash(row, h)
					if mask.Value(i) != want || mask.IsNull(i) {
						t.Fatalf("%v in %v: row %d is %v", format, dtype, i, mask.Value(i))
					}
					if want && (len(row) > 3 || format == bloom.LevelDB) {
						passed++
					}
				}
				if found := map[string]int{"7": 3, "other": 70, "absent": 0}[key]; passed < found || passed > found+40 {
					t.Errorf("%v in %v: %d filters may have %q", format, dtype, passed, key)
				}
				mask.Release()
			}
			part.Release()
			filters.Release()
			builder.Release()
		}
	}
}

// TestMaskFiltersWithoutBytes masks rows of width 0, and wants the panic for another hash also of no rows.
func TestMaskFiltersWithoutBytes(t *testing.T) {
	none := &arrow.FixedSizeBinaryType{ByteWidth: 0}
	for _, format := range bloom.Formats() {
		data := array.NewData(none, 3, []*memory.Buffer{nil, nil}, nil, 0, 0)
		h := format.Hash(nil)
		mask, err := MaskFilters(memory.DefaultAllocator, format, h, array.NewFixedSizeBinaryData(data))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if want := format.MayContainHash(nil, h); mask.Value(i) != want {
				t.Errorf("%v: row %d is %v", format, i, !want)
			}
		}
		empty := array.NewFixedSizeBinaryData(array.NewData(none, 0, []*memory.Buffer{nil, nil}, nil, 0, 0))
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic for another hash", format)
				}
			}()
			_, _ = MaskFilters(memory.DefaultAllocator, format, bloom.Hash{}, empty)
		}()
	}
}

// TestMaskFiltersOfTypes takes arrays of all types, encoded ones too: what their rows hold is asked as if it were filters.
func TestMaskFiltersOfTypes(t *testing.T) {
	masked := map[arrow.Type]bool{}
	eachArray(t, func(t *testing.T, mem memory.Allocator, _ *rand.Rand, a arrow.Array) {
		for _, format := range bloom.Formats() {
			h := format.Hash([]byte("key"))
			mask, err := MaskFilters(mem, format, h, a)
			if !isBinary(valueType(a.DataType())) {
				if !errors.Is(err, ErrType) {
					t.Fatalf("%v: %v", a.DataType(), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			masked[a.DataType().ID()] = true
			for i := range a.Len() {
				key, ok := referenceKey(a, i)
				if want := ok && format.MayContainHash(key, h); mask.Value(i) != want {
					t.Fatalf("%v in %v: row %d, %x, is %v", format, a.DataType(), i, key, mask.Value(i))
				}
			}
			mask.Release()
		}
	})
	for _, id := range []arrow.Type{
		arrow.BINARY, arrow.STRING, arrow.LARGE_BINARY, arrow.LARGE_STRING, arrow.BINARY_VIEW, arrow.STRING_VIEW,
		arrow.FIXED_SIZE_BINARY, arrow.DICTIONARY, arrow.RUN_END_ENCODED,
	} {
		if !masked[id] {
			t.Errorf("no array of the type %v was asked", id)
		}
	}
}
