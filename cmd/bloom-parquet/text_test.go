package main

import (
	"testing"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// TestTextOfBytes prints values whose bytes are not the text that they have, or no text at all.
func TestTextOfBytes(t *testing.T) {
	decimal := bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.Decimal, Precision: 9, Scale: 2}
	interval := bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 12, Logical: bloomparquet.Interval}
	unknown := bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 2, Logical: bloomparquet.Other}
	for _, test := range []struct {
		of             bloomparquet.Type
		plain          string
		csv, jsonlines string
	}{
		{decimal, "\xff\x38", "-2.00", "-2.00"}, {decimal, "12", "125.94", "125.94"}, {decimal, "", "0x", `"0x"`},
		{interval, "twelve bytes", "0x7477656c7665206279746573", `"0x7477656c7665206279746573"`},
		{unknown, "a\xff", "a\xff", `"0x61ff"`}, {unknown, "ab", "ab", `"ab"`},
	} {
		for _, w := range []*textWriter{{csv: true}, {}} {
			want := map[bool]string{true: test.csv, false: test.jsonlines}[w.csv]
			if w.value(test.of, []byte(test.plain), false); string(w.line) != want {
				t.Errorf("%v, %x: %s, want %s", test.of, test.plain, w.line, want)
			}
		}
	}
}

// TestExamples parses the example of each type that has one, and wants none of types without text.
func TestExamples(t *testing.T) {
	const int32s, int64s, arrays, fixed = bloomparquet.Int32, bloomparquet.Int64, bloomparquet.ByteArray, bloomparquet.FixedLenByteArray
	for _, test := range []struct {
		of                bloomparquet.Type
		isNumber, hasNone bool
	}{
		{of: bloomparquet.Type{Physical: arrays, Logical: bloomparquet.String}},
		{of: bloomparquet.Type{Physical: arrays, Logical: bloomparquet.JSON}},
		{of: bloomparquet.Type{Physical: fixed, Width: 16, Logical: bloomparquet.UUID}},
		{of: bloomparquet.Type{Physical: int32s, Logical: bloomparquet.Int, Bits: 8}, isNumber: true},
		{of: bloomparquet.Type{Physical: int64s}, isNumber: true},
		{of: bloomparquet.Type{Physical: int64s, Logical: bloomparquet.Uint, Bits: 64}, isNumber: true},
		{of: bloomparquet.Type{Physical: int32s, Logical: bloomparquet.Other}},
		{of: bloomparquet.Type{Physical: bloomparquet.Float}, isNumber: true},
		{of: bloomparquet.Type{Physical: bloomparquet.Double}, isNumber: true},
		{of: bloomparquet.Type{Physical: fixed, Width: 2, Logical: bloomparquet.Float16}, isNumber: true},
		{of: bloomparquet.Type{Physical: int32s, Logical: bloomparquet.Date}},
		{of: bloomparquet.Type{Physical: int32s, Logical: bloomparquet.Time, Unit: bloomparquet.Millis, UTC: true}},
		{of: bloomparquet.Type{Physical: int64s, Logical: bloomparquet.Timestamp, Unit: bloomparquet.Nanos, UTC: true}},
		{of: bloomparquet.Type{Physical: int64s, Logical: bloomparquet.Timestamp, Unit: bloomparquet.Micros}},
		{of: bloomparquet.Type{Physical: int32s, Logical: bloomparquet.Decimal, Precision: 7, Scale: 2}, isNumber: true},
		{of: bloomparquet.Type{Physical: fixed, Width: 9, Logical: bloomparquet.Decimal, Precision: 20, Scale: 5}, isNumber: true},
		{of: bloomparquet.Type{Physical: bloomparquet.Boolean}, hasNone: true},
		{of: bloomparquet.Type{Physical: bloomparquet.Int96}, hasNone: true},
		{of: bloomparquet.Type{Physical: fixed, Width: 3}, hasNone: true},
		{of: bloomparquet.Type{Physical: fixed, Width: 12, Logical: bloomparquet.Interval}, hasNone: true},
		{of: bloomparquet.Type{Physical: arrays, Logical: bloomparquet.Decimal, Precision: 20, Scale: 5}, isNumber: true, hasNone: true},
	} {
		example := exampleOf(test.of)
		if _, err := bloomparquet.ParseKeys(test.of, [][]byte{[]byte(example)}); (example == "") != test.hasNone || err != nil && example != "" {
			t.Errorf("%v: %q: %v", test.of, example, err)
		}
		if isNumber(test.of) != test.isNumber {
			t.Errorf("%v is a number: %v", test.of, isNumber(test.of))
		}
	}
}
