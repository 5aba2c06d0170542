package bloomarrow

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// referenceKey returns the key of a row, read by arrow-go's functions for one value, or false
// if it is null.
func referenceKey(a arrow.Array, i int) (key []byte, ok bool) {
	switch a := a.(type) {
	case array.ExtensionArray:
		return referenceKey(a.Storage(), i)
	case *array.RunEndEncoded:
		return referenceKey(a.Values(), a.GetPhysicalIndex(i))
	}
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return nil, false
	}
	le16, le32, le64 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32, binary.LittleEndian.AppendUint64
	switch a := a.(type) {
	case *array.Dictionary:
		return referenceKey(a.Dictionary(), a.GetValueIndex(i))
	case *array.String:
		return []byte(a.Value(i)), true
	case *array.LargeString:
		return []byte(a.Value(i)), true
	case *array.StringView:
		return []byte(a.Value(i)), true
	case *array.Binary:
		return a.Value(i), true
	case *array.LargeBinary:
		return a.Value(i), true
	case *array.BinaryView:
		return a.Value(i), true
	case *array.FixedSizeBinary:
		return a.Value(i), true
	case *array.Int8:
		return le32(nil, uint32(a.Value(i))), true
	case *array.Uint8:
		return le32(nil, uint32(a.Value(i))), true
	case *array.Int16:
		return le32(nil, uint32(a.Value(i))), true
	case *array.Uint16:
		return le32(nil, uint32(a.Value(i))), true
	case *array.Int32:
		return le32(nil, uint32(a.Value(i))), true
	case *array.Uint32:
		return le32(nil, a.Value(i)), true
	case *array.Int64:
		return le64(nil, uint64(a.Value(i))), true
	case *array.Uint64:
		return le64(nil, a.Value(i)), true
	case *array.Float16:
		return le16(nil, a.Value(i).Uint16()), true
	case *array.Float32:
		return le32(nil, math.Float32bits(a.Value(i))), true
	case *array.Float64:
		return le64(nil, math.Float64bits(a.Value(i))), true
	case *array.Date32:
		return le32(nil, uint32(a.Value(i))), true
	case *array.Date64:
		return le32(nil, uint32(int64(a.Value(i))/86_400_000)), true
	case *array.Time32:
		return le32(nil, uint32(int32(a.Value(i))*perUnit[int32](a.DataType().(*arrow.Time32Type).Unit))), true
	case *array.Time64:
		return le64(nil, uint64(a.Value(i))), true
	case *array.Timestamp:
		return le64(nil, uint64(int64(a.Value(i))*perUnit[int64](a.DataType().(*arrow.TimestampType).Unit))), true
	case *array.Duration:
		return le64(nil, uint64(a.Value(i))), true
	case *array.Boolean:
		if a.Value(i) {
			return []byte{1}, true
		}
		return []byte{0}, true
	case *array.Decimal32:
		return referenceDecimal(a.DataType(), big.NewInt(int64(a.Value(i)))), true
	case *array.Decimal64:
		return referenceDecimal(a.DataType(), big.NewInt(int64(a.Value(i)))), true
	case *array.Decimal128:
		return referenceDecimal(a.DataType(), a.Value(i).BigInt()), true
	case *array.Decimal256:
		return referenceDecimal(a.DataType(), a.Value(i).BigInt()), true
	}
	panic(fmt.Sprintf("no reference for %v", a.DataType()))
}

func perUnit[I int32 | int64](unit arrow.TimeUnit) I {
	if unit == arrow.Second {
		return 1000
	}
	return 1
}

// referenceDecimal returns the value in the fewest bytes that hold every value of its precision.
func referenceDecimal(t arrow.DataType, v *big.Int) []byte {
	largest := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.(arrow.DecimalType).GetPrecision())), nil)
	size := (largest.Sub(largest, big.NewInt(1)).BitLen() + 1 + 7) / 8     // with the sign
	v = new(big.Int).Mod(v, new(big.Int).Lsh(big.NewInt(1), uint(8*size))) // two's complement
	return v.FillBytes(make([]byte, size))
}

// typeTest is a type that has keys, and how to append a random value.
type typeTest struct {
	dtype  arrow.DataType
	append func(b array.Builder, random *rand.Rand)
}

// appendTo makes a typed function one for any builder.
func appendTo[V any, B interface{ Append(V) }](value func(random *rand.Rand) V) func(array.Builder, *rand.Rand) {
	return func(b array.Builder, random *rand.Rand) { b.(B).Append(value(random)) }
}

func randomBytes(random *rand.Rand) []byte {
	b := make([]byte, random.IntN(31))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func randomOf[I ~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64](random *rand.Rand) I {
	return I(random.Uint64())
}

// typeTests lists every type that has keys in memory. A new one is a line here.
var typeTests = []typeTest{
	{arrow.BinaryTypes.String, appendTo[string, *array.StringBuilder](func(r *rand.Rand) string { return string(randomBytes(r)) })},
	{arrow.BinaryTypes.LargeString, appendTo[string, *array.LargeStringBuilder](func(r *rand.Rand) string { return string(randomBytes(r)) })},
	{arrow.BinaryTypes.StringView, appendTo[string, *array.StringViewBuilder](func(r *rand.Rand) string { return string(randomBytes(r)) })},
	{arrow.BinaryTypes.Binary, appendTo[[]byte, *array.BinaryBuilder](randomBytes)},
	{arrow.BinaryTypes.LargeBinary, appendTo[[]byte, *array.BinaryBuilder](randomBytes)},
	{arrow.BinaryTypes.BinaryView, appendTo[[]byte, *array.BinaryViewBuilder](randomBytes)},
	{&arrow.FixedSizeBinaryType{ByteWidth: 11}, appendTo[[]byte, *array.FixedSizeBinaryBuilder](func(r *rand.Rand) []byte {
		return binary.BigEndian.AppendUint64([]byte("abc"), r.Uint64())
	})},
	{arrow.PrimitiveTypes.Int8, appendTo[int8, *array.Int8Builder](randomOf[int8])},
	{arrow.PrimitiveTypes.Uint8, appendTo[uint8, *array.Uint8Builder](randomOf[uint8])},
	{arrow.PrimitiveTypes.Int16, appendTo[int16, *array.Int16Builder](randomOf[int16])},
	{arrow.PrimitiveTypes.Uint16, appendTo[uint16, *array.Uint16Builder](randomOf[uint16])},
	{arrow.PrimitiveTypes.Int32, appendTo[int32, *array.Int32Builder](randomOf[int32])},
	{arrow.PrimitiveTypes.Uint32, appendTo[uint32, *array.Uint32Builder](randomOf[uint32])},
	{arrow.PrimitiveTypes.Int64, appendTo[int64, *array.Int64Builder](randomOf[int64])},
	{arrow.PrimitiveTypes.Uint64, appendTo[uint64, *array.Uint64Builder](randomOf[uint64])},
	{arrow.FixedWidthTypes.Float16, appendTo[float16.Num, *array.Float16Builder](func(r *rand.Rand) float16.Num { return float16.FromBits(uint16(r.Uint32())) })},
	{arrow.PrimitiveTypes.Float32, appendTo[float32, *array.Float32Builder](func(r *rand.Rand) float32 { return r.Float32() - 0.5 })},
	{arrow.PrimitiveTypes.Float64, appendTo[float64, *array.Float64Builder](func(r *rand.Rand) float64 { return r.Float64() - 0.5 })},
	{arrow.FixedWidthTypes.Date32, appendTo[arrow.Date32, *array.Date32Builder](randomOf[arrow.Date32])},
	{arrow.FixedWidthTypes.Date64, appendTo[arrow.Date64, *array.Date64Builder](func(r *rand.Rand) arrow.Date64 {
		return arrow.Date64(r.Int64N(1<<30)-1<<29) * 86_400_000
	})},
	{arrow.FixedWidthTypes.Time32s, appendTo[arrow.Time32, *array.Time32Builder](func(r *rand.Rand) arrow.Time32 { return arrow.Time32(r.IntN(86_400)) })},
	{arrow.FixedWidthTypes.Time32ms, appendTo[arrow.Time32, *array.Time32Builder](randomOf[arrow.Time32])},
	{arrow.FixedWidthTypes.Time64us, appendTo[arrow.Time64, *array.Time64Builder](randomOf[arrow.Time64])},
	{arrow.FixedWidthTypes.Time64ns, appendTo[arrow.Time64, *array.Time64Builder](randomOf[arrow.Time64])},
	{arrow.FixedWidthTypes.Timestamp_s, appendTo[arrow.Timestamp, *array.TimestampBuilder](func(r *rand.Rand) arrow.Timestamp {
		return arrow.Timestamp(r.Int64() >> 10 * (2*r.Int64N(2) - 1))
	})},
	{arrow.FixedWidthTypes.Timestamp_ms, appendTo[arrow.Timestamp, *array.TimestampBuilder](randomOf[arrow.Timestamp])},
	{arrow.FixedWidthTypes.Timestamp_us, appendTo[arrow.Timestamp, *array.TimestampBuilder](randomOf[arrow.Timestamp])},
	{arrow.FixedWidthTypes.Timestamp_ns, appendTo[arrow.Timestamp, *array.TimestampBuilder](randomOf[arrow.Timestamp])},
	{arrow.FixedWidthTypes.Duration_s, appendTo[arrow.Duration, *array.DurationBuilder](randomOf[arrow.Duration])},
	{&arrow.Decimal32Type{Precision: 7, Scale: 2}, appendTo[decimal.Decimal32, *array.Decimal32Builder](func(r *rand.Rand) decimal.Decimal32 {
		return decimal.Decimal32(r.IntN(20_000_000) - 10_000_000)
	})},
	{&arrow.Decimal64Type{Precision: 16, Scale: 2}, appendTo[decimal.Decimal64, *array.Decimal64Builder](func(r *rand.Rand) decimal.Decimal64 {
		return decimal.Decimal64(r.Int64N(2e16) - 1e16)
	})},
	{&arrow.Decimal128Type{Precision: 38, Scale: 2}, appendTo[decimal128.Num, *array.Decimal128Builder](random128)},
	{&arrow.Decimal128Type{Precision: 4, Scale: 2}, appendTo[decimal128.Num, *array.Decimal128Builder](func(r *rand.Rand) decimal128.Num {
		return decimal128.FromI64(int64(r.IntN(20_000)) - 10_000)
	})},
	{&arrow.Decimal256Type{Precision: 76, Scale: 2}, appendTo[decimal256.Num, *array.Decimal256Builder](func(r *rand.Rand) decimal256.Num {
		return decimal256.New(r.Uint64()-1<<63, r.Uint64(), r.Uint64(), r.Uint64())
	})},
	{&arrow.Decimal256Type{Precision: 45, Scale: 2}, appendTo[decimal256.Num, *array.Decimal256Builder](func(r *rand.Rand) decimal256.Num {
		return decimal256.FromDecimal128(random128(r))
	})},
	{arrow.FixedWidthTypes.Boolean, appendTo[bool, *array.BooleanBuilder](func(r *rand.Rand) bool { return r.IntN(2) == 0 })},
	{arrow.Null, func(b array.Builder, _ *rand.Rand) { b.AppendNull() }},
}

func random128(r *rand.Rand) decimal128.Num { return decimal128.New(int64(r.Uint64())>>3, r.Uint64()) }

// plainArray returns n random values. The given share of them is null.
func (test typeTest) plainArray(mem memory.Allocator, random *rand.Rand, n int, nulls float64) arrow.Array {
	b := array.NewBuilder(mem, test.dtype)
	defer b.Release()
	for range n {
		if random.Float64() < nulls {
			b.AppendNull()
		} else {
			test.append(b, random)
		}
	}
	return b.NewArray()
}

// encodings lists what a type may be wrapped in. Each makes an array of n rows.
var encodings = []struct {
	name string
	wrap func(t testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array
}{
	{"plain", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		return test.plainArray(mem, random, n, nulls)
	}},
	{"dictionary", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		values := test.plainArray(mem, random, 1+random.IntN(100), nulls)
		defer values.Release()
		return dictionaryOver(mem, random, values, n, nulls)
	}},
	{"runs", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		return runsOver(mem, random, n, func(runs int) arrow.Array { return test.plainArray(mem, random, runs, nulls) })
	}},
	{"runs of a dictionary", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		values := test.plainArray(mem, random, 1+random.IntN(100), nulls)
		defer values.Release()
		return runsOver(mem, random, n, func(runs int) arrow.Array { return dictionaryOver(mem, random, values, runs, nulls) })
	}},
	{"dictionary of runs", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		values := runsOver(mem, random, 500, func(runs int) arrow.Array { return test.plainArray(mem, random, runs, nulls) })
		defer values.Release()
		return dictionaryOver(mem, random, values, min(n, 20), nulls) // most runs have no row
	}},
	{"dictionary of a dictionary", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		inner := test.plainArray(mem, random, 100, nulls)
		defer inner.Release()
		values := dictionaryOver(mem, random, inner, 100, nulls)
		defer values.Release()
		return dictionaryOver(mem, random, values, min(n, 20), nulls) // most values have no row
	}},
	{"extension", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		storage := test.plainArray(mem, random, n, nulls)
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(extensions.NewOpaqueType(test.dtype, "any", "test"), storage)
	}},
	{"extension of a dictionary", func(_ testing.TB, mem memory.Allocator, random *rand.Rand, test typeTest, n int, nulls float64) arrow.Array {
		values := test.plainArray(mem, random, 1+random.IntN(100), nulls)
		defer values.Release()
		storage := dictionaryOver(mem, random, values, n, nulls)
		defer storage.Release()
		// NewExtensionArrayWithStorage of arrow-go 18.8.0 drops the dictionary.
		d := storage.Data().(*array.Data)
		data := array.NewDataWithDictionary(extensions.NewOpaqueType(d.DataType(), "any", "test"), n, d.Buffers(), d.NullN(), d.Offset(), d.Dictionary().(*array.Data))
		defer data.Release()
		return array.NewExtensionData(data)
	}},
}

// dictionaryOver returns n rows with random values of a dictionary.
func dictionaryOver(mem memory.Allocator, random *rand.Rand, values arrow.Array, n int, nulls float64) arrow.Array {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
	}
	b := array.NewBuilder(mem, types[random.IntN(len(types))])
	defer b.Release()
	for range n {
		if random.Float64() < nulls {
			b.AppendNull()
		} else if err := b.AppendValueFromString(fmt.Sprint(random.IntN(min(values.Len(), 128)))); err != nil {
			panic(err)
		}
	}
	indices := b.NewArray()
	defer indices.Release()
	t := &arrow.DictionaryType{IndexType: indices.DataType(), ValueType: values.DataType()}
	return array.NewDictionaryArray(t, indices, values)
}

// runsOver returns n rows in random runs.
func runsOver(mem memory.Allocator, random *rand.Rand, n int, values func(runs int) arrow.Array) arrow.Array {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}
	b := array.NewBuilder(mem, types[random.IntN(len(types))])
	defer b.Release()
	for end := 0; end < n; {
		end += 1 + random.IntN(100)
		if err := b.AppendValueFromString(fmt.Sprint(end)); err != nil {
			panic(err)
		}
	}
	ends := b.NewArray()
	defer ends.Release()
	v := values(ends.Len())
	defer v.Release()
	return array.NewRunEndEncodedArray(ends, v, n, 0)
}
