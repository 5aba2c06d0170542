package bloomarrow

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// plainTypes are the types of Parquet for Arrow types without parameters.
var plainTypes = map[arrow.Type]bloomparquet.Type{
	arrow.STRING:       {Physical: bloomparquet.ByteArray, Logical: bloomparquet.String},
	arrow.LARGE_STRING: {Physical: bloomparquet.ByteArray, Logical: bloomparquet.String},
	arrow.STRING_VIEW:  {Physical: bloomparquet.ByteArray, Logical: bloomparquet.String},
	arrow.BINARY:       {Physical: bloomparquet.ByteArray},
	arrow.LARGE_BINARY: {Physical: bloomparquet.ByteArray},
	arrow.BINARY_VIEW:  {Physical: bloomparquet.ByteArray},
	arrow.BOOL:         {Physical: bloomparquet.Boolean},
	arrow.INT8:         {Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 8},
	arrow.UINT8:        {Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 8},
	arrow.INT16:        {Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 16},
	arrow.UINT16:       {Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 16},
	arrow.INT32:        {Physical: bloomparquet.Int32},
	arrow.UINT32:       {Physical: bloomparquet.Int32, Logical: bloomparquet.Uint},
	arrow.INT64:        {Physical: bloomparquet.Int64},
	arrow.UINT64:       {Physical: bloomparquet.Int64, Logical: bloomparquet.Uint},
	arrow.FLOAT32:      {Physical: bloomparquet.Float},
	arrow.FLOAT64:      {Physical: bloomparquet.Double},
	arrow.FLOAT16:      {Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.Float16, Width: 2},
	arrow.DATE32:       {Physical: bloomparquet.Int32, Logical: bloomparquet.Date},
	arrow.DATE64:       {Physical: bloomparquet.Int32, Logical: bloomparquet.Date},
	arrow.DURATION:     {Physical: bloomparquet.Int64},
}

// units are the units of keys. Seconds count as milliseconds, except in durations.
var units = map[arrow.TimeUnit]bloomparquet.Unit{
	arrow.Second: bloomparquet.Millis, arrow.Millisecond: bloomparquet.Millis, arrow.Microsecond: bloomparquet.Micros, arrow.Nanosecond: bloomparquet.Nanos,
}

// ParquetType returns the type of a Parquet column that has the same keys as the values of an Arrow type.
// Parquet has no type for durations, so their type is INT64. For dictionaries, run-end encoded arrays and
// extensions, ParquetType returns the type of their values. If values of the Arrow type have no keys, the
// error is [ErrType].
func ParquetType(t arrow.DataType) (bloomparquet.Type, error) {
	values := valueType(t)
	switch v := values.(type) {
	case arrow.ExtensionType: // of UUIDs
		return bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.UUID, Width: 16}, nil
	case *arrow.FixedSizeBinaryType:
		return bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: v.ByteWidth}, nil
	case *arrow.Time32Type:
		return bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Time, Unit: units[v.Unit]}, nil
	case *arrow.Time64Type:
		return bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Time, Unit: units[v.Unit]}, nil
	case *arrow.TimestampType:
		return bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Timestamp, Unit: units[v.Unit], UTC: v.TimeZone != ""}, nil
	case arrow.DecimalType:
		precision := int(v.GetPrecision())
		return bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.Decimal, Width: decimalWidth(precision), Precision: precision, Scale: int(v.GetScale())}, nil
	}
	if plain, ok := plainTypes[values.ID()]; ok {
		return plain, nil
	}
	return bloomparquet.Type{}, fmt.Errorf("%w: %v", ErrType, t)
}

// decimalWidth returns the fewest bytes that hold numbers of precision digits.
func decimalWidth(precision int) int {
	return int(math.Ceil((float64(precision)*math.Log2(10) + 1) / 8))
}

// KeyKind returns the kind of the keys of an Arrow type, such as INT64. It is the kind of a Parquet column
// with the same keys, except that durations have their own kinds, such as INT64 (DURATION MILLIS). For a type
// without keys, KeyKind returns [bloom.KindUnknown].
func KeyKind(t arrow.DataType) bloom.KeyKind {
	parquet, err := ParquetType(t)
	if err != nil {
		return bloom.KindUnknown
	}
	if duration, ok := valueType(t).(*arrow.DurationType); ok { // equal integers of other units are not equal durations
		unit := units[duration.Unit].String()
		if duration.Unit == arrow.Second {
			unit = "SECONDS"
		}
		return bloom.KeyKind(fmt.Sprintf("%v (DURATION %s)", parquet.Physical, unit))
	}
	return parquet.KeyKind()
}

// checkKind returns an error if a filter, or what collects keys for one, says that its keys are of another kind than
// those of a type.
func checkKind(of any, t arrow.DataType) error {
	filter, ok := of.(interface{ KeyKind() bloom.KeyKind })
	if !ok {
		return nil
	}
	has := filter.KeyKind()
	if has == bloom.KindUnknown {
		return nil
	}
	if kind := KeyKind(t); kind != bloom.KindUnknown && kind != has {
		return fmt.Errorf("%w: the keys of the filter are of the kind %s, but the keys of type %v are of the kind %s", bloom.ErrKind, has, t, kind)
	}
	return nil
}

// valueType returns the type of the values behind dictionaries, runs and extensions. UUIDs stay an extension.
func valueType(t arrow.DataType) arrow.DataType {
	switch encoded := t.(type) {
	case *arrow.DictionaryType:
		return valueType(encoded.ValueType)
	case *arrow.RunEndEncodedType:
		return valueType(encoded.Encoded())
	case arrow.ExtensionType:
		if storage := valueType(encoded.StorageType()); encoded.ExtensionName() != "arrow.uuid" || storage.ID() != arrow.FIXED_SIZE_BINARY {
			return storage
		}
	}
	return t
}
