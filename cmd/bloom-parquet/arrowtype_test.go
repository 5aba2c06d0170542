package main

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/lanebloom/bloom"
)

// TestKindOfArrow wants another kind for each meaning of equal keys.
func TestKindOfArrow(t *testing.T) {
	dictionary := func(values arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: values}
	}
	seconds := arrow.FixedWidthTypes.Duration_s
	for _, test := range []struct {
		dtype arrow.DataType
		want  bloom.KeyKind
	}{
		{arrow.PrimitiveTypes.Int64, "INT64"},
		{seconds, "INT64 (DURATION SECONDS)"},
		{arrow.FixedWidthTypes.Duration_ms, "INT64 (DURATION MILLIS)"},
		{arrow.FixedWidthTypes.Duration_us, "INT64 (DURATION MICROS)"},
		{arrow.FixedWidthTypes.Duration_ns, "INT64 (DURATION NANOS)"},
		{dictionary(seconds), "INT64 (DURATION SECONDS)"},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, dictionary(seconds)), "INT64 (DURATION SECONDS)"},
		{extensions.NewOpaqueType(seconds, "", ""), "INT64 (DURATION SECONDS)"},
		{extensions.NewUUIDType(), "FIXED[16] (UUID)"},
		{dictionary(extensions.NewUUIDType()), "FIXED[16] (UUID)"},
		{arrow.FixedWidthTypes.Time32s, "INT32 (TIME MILLIS)"},
		{arrow.FixedWidthTypes.Time32ms, "INT32 (TIME MILLIS)"},
		{arrow.FixedWidthTypes.Time64ns, "INT64 (TIME NANOS)"},
		{arrow.FixedWidthTypes.Timestamp_s, "INT64 (TIMESTAMP MILLIS UTC)"},
		{arrow.FixedWidthTypes.Date64, "INT32 (DATE)"},
		{arrow.BinaryTypes.StringView, bloom.KeysText},
		{arrow.ListOf(seconds), bloom.KeysUnknown},
	} {
		if got := kindOfArrow(test.dtype); got != test.want {
			t.Errorf("%v: %q, want %q", test.dtype, got, test.want)
		}
	}
}
