package main

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

var (
	arrowUnits = map[arrow.TimeUnit]bloomparquet.Unit{
		arrow.Second: bloomparquet.Millis, arrow.Millisecond: bloomparquet.Millis, arrow.Microsecond: bloomparquet.Micros, arrow.Nanosecond: bloomparquet.Nanos,
	}
	plainArrow = map[arrow.Type]bloomparquet.Type{
		arrow.STRING: {Physical: bloomparquet.ByteArray, Logical: bloomparquet.String}, arrow.LARGE_STRING: {Physical: bloomparquet.ByteArray, Logical: bloomparquet.String},
		arrow.STRING_VIEW: {Physical: bloomparquet.ByteArray, Logical: bloomparquet.String},
		arrow.BINARY:      {Physical: bloomparquet.ByteArray}, arrow.LARGE_BINARY: {Physical: bloomparquet.ByteArray}, arrow.BINARY_VIEW: {Physical: bloomparquet.ByteArray},
		arrow.BOOL: {Physical: bloomparquet.Boolean}, arrow.DURATION: {Physical: bloomparquet.Int64},
		arrow.INT8: {Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 8}, arrow.UINT8: {Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 8},
		arrow.INT16: {Physical: bloomparquet.Int32, Logical: bloomparquet.Int, Bits: 16}, arrow.UINT16: {Physical: bloomparquet.Int32, Logical: bloomparquet.Uint, Bits: 16},
		arrow.INT32: {Physical: bloomparquet.Int32}, arrow.UINT32: {Physical: bloomparquet.Int32, Logical: bloomparquet.Uint},
		arrow.INT64: {Physical: bloomparquet.Int64}, arrow.UINT64: {Physical: bloomparquet.Int64, Logical: bloomparquet.Uint},
		arrow.FLOAT32: {Physical: bloomparquet.Float}, arrow.FLOAT64: {Physical: bloomparquet.Double},
		arrow.FLOAT16: {Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.Float16, Width: 2},
		arrow.DATE32:  {Physical: bloomparquet.Int32, Logical: bloomparquet.Date}, arrow.DATE64: {Physical: bloomparquet.Int32, Logical: bloomparquet.Date},
	}
)

// kindOfArrow returns the kind of the keys of an Arrow type. It is not known for those that have none.
// Parquet has no durations: equal integers of other units are not equal durations.
func kindOfArrow(t arrow.DataType) bloom.KeyKind {
	parquet, err := typeOfArrow(t)
	if err != nil {
		return bloom.KeysUnknown
	}
	if duration, ok := storageOf(t).(*arrow.DurationType); ok {
		unit := arrowUnits[duration.Unit].String()
		if duration.Unit == arrow.Second {
			unit = "SECONDS"
		}
		return bloom.KeyKind(fmt.Sprintf("%v (DURATION %s)", parquet.Physical, unit))
	}
	return parquet.KeyKind()
}

// columnType is the type of a column of keys. Durations of Arrow have the type of integers, and keys of another kind.
type columnType struct {
	bloomparquet.Type
	kind bloom.KeyKind
}

// typeOfParquet returns the type of a column of Parquet.
func typeOfParquet(t bloomparquet.Type) columnType { return columnType{t, t.KeyKind()} }

func (t columnType) isDuration() bool { return t.kind != t.KeyKind() }

// storageOf returns the type of the values of dictionaries, runs and extensions. A UUID stays one.
func storageOf(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return storageOf(t.ValueType)
	case *arrow.RunEndEncodedType:
		return storageOf(t.Encoded())
	case *extensions.UUIDType:
		return t
	case arrow.ExtensionType:
		return storageOf(t.StorageType())
	}
	return t
}

// typeOfArrow returns the type of Parquet whose keys the values of an Arrow type have: what package
// bloomarrow says of keys.
func typeOfArrow(t arrow.DataType) (bloomparquet.Type, error) {
	switch t := storageOf(t).(type) {
	case *extensions.UUIDType:
		return bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.UUID, Width: 16}, nil
	case *arrow.FixedSizeBinaryType:
		return bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: t.ByteWidth}, nil
	case *arrow.Time32Type:
		return bloomparquet.Type{Physical: bloomparquet.Int32, Logical: bloomparquet.Time, Unit: arrowUnits[t.Unit]}, nil
	case *arrow.Time64Type:
		return bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Time, Unit: arrowUnits[t.Unit]}, nil
	case *arrow.TimestampType:
		return bloomparquet.Type{Physical: bloomparquet.Int64, Logical: bloomparquet.Timestamp, Unit: arrowUnits[t.Unit], UTC: t.TimeZone != ""}, nil
	case arrow.DecimalType:
		width := int(math.Ceil((float64(t.GetPrecision())*math.Log2(10) + 1) / 8))
		return bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.Decimal, Width: width, Precision: int(t.GetPrecision()), Scale: int(t.GetScale())}, nil
	}
	if plain, ok := plainArrow[storageOf(t).ID()]; ok {
		return plain, nil
	}
	return bloomparquet.Type{}, fmt.Errorf("values of the Arrow type %v have no keys", t)
}
